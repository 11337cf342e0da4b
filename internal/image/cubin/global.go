package cubin

import (
	"strings"

	"github.com/gocuda/cuda/internal/image/elf64"
)

// Global is a module variable.
type Global struct {
	Name        string
	Size        uint64 // bytes
	Section     string // ".nv.global", ".nv.global.init", ".nv.constant3"; "" if undefined here
	Offset      uint64 // in the section
	Bank        int    // constant bank, -1 for device memory
	Managed     bool
	Visible     bool // not local to the file
	Weak        bool
	Initialised bool // has bytes in the file
}

func (f *File) readGlobals() {
	for i, s := range f.Symbols {
		if i == 0 || s.Name == "" {
			continue
		}
		if s.Section == 0 {
			if s.Bind() != 0 && (s.Type() == symFunc || s.Type() == symObject || s.Type() == 0) &&
				!strings.HasPrefix(s.Name, ".nv.") {
				f.Externs = append(f.Externs, s.Name)
			}
			continue
		}
		if s.Type() != symObject || s.Section < 0 {
			continue
		}
		sec := &f.ELF.Sections[s.Section]
		g := Global{
			Name: s.Name, Size: s.Size, Section: sec.Name, Offset: s.Value, Bank: -1,
			Managed: s.Other&otherManaged != 0, Visible: s.Bind() != 0, Weak: s.Bind() == bindWeak,
			Initialised: sec.Data != nil,
		}
		if f.ELF.Type == elf64.TypeExec && sec.Addr != 0 && g.Offset >= sec.Addr {
			g.Offset -= sec.Addr
		}
		switch {
		case strings.HasPrefix(sec.Name, ".nv.constant"):
			g.Bank = 0
			for _, c := range sec.Name[len(".nv.constant"):] {
				if c < '0' || c > '9' || g.Bank > 99 {
					break
				}
				g.Bank = 10*g.Bank + int(c-'0')
			}
		case strings.HasPrefix(sec.Name, ".nv.global"):
		default:
			continue // shared, local and compiler objects are no module variables
		}
		f.Globals = append(f.Globals, g)
	}
}
