package elf64

import "strings"

// stringTable finds NUL-terminated strings in a string section without copying them one by one.
type stringTable struct {
	text string
	// left is how many bytes of names may still be given out. Real tables share tails between names
	// and give short names to many sections; a file whose names add up to far more than its table
	// only wants to cost its reader time and memory.
	left int64
}

func newStrings(data []byte, rows int) *stringTable {
	return &stringTable{text: string(data), left: 16*int64(len(data)) + 64*int64(rows)}
}

// at gives the string that starts at offset; false when it does not end inside the table.
func (t *stringTable) at(offset uint32) (string, bool) {
	if uint64(offset) >= uint64(len(t.text)) {
		return "", false
	}
	n := strings.IndexByte(t.text[offset:], 0)
	if n < 0 {
		return "", false
	}
	if t.left -= int64(n); t.left < 0 {
		return "", false
	}
	return t.text[offset : int(offset)+n], true
}
