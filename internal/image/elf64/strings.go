package elf64

import "sort"

// stringTable finds NUL-terminated strings in a string section without copying or rescanning: many
// rows of a hostile file may point into one long string.
type stringTable struct {
	text string
	ends []uint32 // positions of the NULs that end a non-empty string
	// left is how many bytes of names may still be given out. Real tables share tails between names
	// and give short names to many sections; a file whose names add up to far more than its table
	// only wants to cost its reader time and memory.
	left int64
}

func newStrings(data []byte, rows int) *stringTable {
	t := &stringTable{text: string(data), left: 16*int64(len(data)) + 64*int64(rows)}
	for i := 1; i < len(t.text); i++ {
		if t.text[i] == 0 && t.text[i-1] != 0 {
			t.ends = append(t.ends, uint32(i))
		}
	}
	return t
}

// at gives the string that starts at offset; false when it does not end inside the table.
func (t *stringTable) at(offset uint32) (string, bool) {
	if uint64(offset) >= uint64(len(t.text)) {
		return "", false
	}
	if t.text[offset] == 0 {
		return "", true
	}
	i := sort.Search(len(t.ends), func(i int) bool { return t.ends[i] > offset })
	if i == len(t.ends) {
		return "", false
	}
	s := t.text[offset:t.ends[i]]
	if t.left -= int64(len(s)); t.left < 0 {
		return "", false
	}
	return s, true
}
