package cubin

import (
	"bytes"
	"encoding/binary"

	"github.com/gocuda/cuda/internal/image/elf64"
)

// Note types of CUDA ELF files (owner "NVIDIA Corp").
const (
	noteCuInfo = 1000
	noteTkInfo = 2000
)

// readNotes takes the toolkit records and the API version from the notes. They are informative: what
// cannot be read is left out.
func (f *File) readNotes() {
	for i := range f.ELF.Sections {
		s := &f.ELF.Sections[i]
		if s.Type != elf64.SHTNote {
			continue
		}
		le := binary.LittleEndian
		for b := s.Data; len(b) >= 12; {
			nameSize, descSize, kind := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
			nameEnd := 12 + (nameSize+3)&^3
			end := nameEnd + (descSize+3)&^3
			if nameEnd+descSize > uint64(len(b)) {
				break
			}
			desc := b[nameEnd : nameEnd+descSize]
			switch kind {
			case noteCuInfo: // u16 version, u16 virtual SM, u32 API version
				if len(desc) >= 8 && f.OSABI == OSABINew {
					f.APIVersion = int(le.Uint32(desc[4:]))
					if v := int(le.Uint16(desc[2:])); v != 0 {
						f.Virtual = v
					}
				}
			case noteTkInfo:
				if t, ok := tool(desc); ok {
					f.Tool = append(f.Tool, t)
				}
			}
			if end >= uint64(len(b)) {
				break
			}
			b = b[end:]
		}
	}
}

// tool decodes a toolkit record: u32 version 2, then offsets of five strings in the table behind:
// the object's own name, tool, release, build, options.
func tool(desc []byte) (Tool, bool) {
	const strings = 24
	le := binary.LittleEndian
	if len(desc) < strings || le.Uint32(desc) != 2 {
		return Tool{}, false
	}
	table := desc[strings:]
	text := func(i int) string {
		off := le.Uint32(desc[4*i:])
		if uint64(off) >= uint64(len(table)) {
			return ""
		}
		s := table[off:]
		if n := bytes.IndexByte(s, 0); n >= 0 {
			s = s[:n]
		}
		return string(s)
	}
	return Tool{Name: text(2), Version: text(3), Build: text(4),
		Options: string(bytes.TrimRight([]byte(text(5)), " "))}, true
}
