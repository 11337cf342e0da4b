package hostobj

import (
	"bytes"
	"encoding/binary"
	"strconv"

	"github.com/gocuda/cuda/internal/image/fault"
)

// Machine types of COFF and PE files (Microsoft PE format specification).
const (
	coffAMD64 = 0x8664
	coffARM64 = 0xaa64
)

const (
	coffHeaderSize  = 20
	coffSectionSize = 40
	coffSymbolSize  = 18
)

// maxOverlap is how often the bytes of a file may be covered by sections, on average; see elf64.
const maxOverlap = 4

func isCOFF(data []byte) bool {
	if len(data) < coffHeaderSize {
		return false
	}
	m := binary.LittleEndian.Uint16(data)
	return m == coffAMD64 || m == coffARM64
}

func isPE(data []byte) bool {
	if len(data) < 64 || data[0] != 'M' || data[1] != 'Z' {
		return false
	}
	at := uint64(binary.LittleEndian.Uint32(data[60:]))
	return at+4+coffHeaderSize <= uint64(len(data)) && string(data[at:at+4]) == "PE\x00\x00"
}

// parseCOFF reads a COFF object or a PE program. Section names of objects longer than eight
// characters come from the string table.
func parseCOFF(data []byte) (*File, error) {
	le := binary.LittleEndian
	f := &File{Format: "coff", Type: "object"}
	at := uint64(0)
	if isPE(data) {
		at = uint64(le.Uint32(data[60:])) + 4
		f.Format, f.Type = "pe", "executable"
		const fileDLL = 0x2000 // IMAGE_FILE_DLL
		if le.Uint16(data[at+18:])&fileDLL != 0 {
			f.Type = "shared object"
		}
	}
	h := data[at:]
	switch m := le.Uint16(h); m {
	case coffAMD64:
		f.Machine = "x86-64"
	case coffARM64:
		f.Machine = "aarch64"
	default:
		f.Machine = "machine " + itoa(uint64(m))
	}
	count := uint64(le.Uint16(h[2:]))
	symbols, symbolCount := uint64(le.Uint32(h[8:])), uint64(le.Uint32(h[12:]))
	table := at + coffHeaderSize + uint64(le.Uint16(h[16:]))
	if table+count*coffSectionSize > uint64(len(data)) {
		return nil, fault.New(fault.Malformed, "COFF header", at+2, "%d sections do not fit into %d bytes", count,
			len(data))
	}
	var strtab []byte
	if s := symbols + symbolCount*coffSymbolSize; symbols != 0 && s < uint64(len(data)) {
		strtab = data[s:]
	}
	var first error
	room := maxOverlap * uint64(len(data))
	for i := uint64(0); i < count; i++ {
		row := data[table+i*coffSectionSize:]
		name := coffName(row[:8], strtab)
		var reloc bool
		switch name {
		case sectionWhole, sectionWhole[:8]:
		case sectionReloc, sectionReloc[:8]:
			reloc = true
		default:
			continue
		}
		size, off := uint64(le.Uint32(row[16:])), uint64(le.Uint32(row[20:]))
		if off+size > uint64(len(data)) || size > room {
			return f, fault.New(fault.Malformed, "COFF section", table+i*coffSectionSize,
				"%s: bytes %#x+%#x leave the %d bytes of the file", name, off, size, len(data))
		}
		room -= size
		body := data[off : off+size]
		// Linkers pad a section of a program to the file alignment; the virtual size tells how much counts.
		if v := uint64(le.Uint32(row[8:])); f.Format == "pe" && v < size {
			body = body[:v]
		}
		first = f.collect(name, off, body, reloc, first)
	}
	return f, first
}

func coffName(field, strtab []byte) string {
	if n := bytes.IndexByte(field, 0); n >= 0 {
		field = field[:n]
	}
	if len(field) < 2 || field[0] != '/' {
		return string(field)
	}
	off, err := strconv.ParseUint(string(field[1:]), 10, 31)
	if err != nil || off >= uint64(len(strtab)) {
		return string(field)
	}
	const longest = 64 // more than any name looked for here
	s := strtab[off:]
	if len(s) > longest {
		s = s[:longest]
	}
	if n := bytes.IndexByte(s, 0); n >= 0 {
		s = s[:n]
	}
	return string(s)
}
