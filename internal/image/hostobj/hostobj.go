// Package hostobj finds device code in host files: ELF objects, executables and shared objects,
// COFF objects and programs, and static libraries of such objects.
package hostobj

import (
	"bytes"
	"strings"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
)

// Section names in ELF files. COFF files have their first eight characters.
const (
	sectionWhole    = ".nv_fatbin"       // containers of whole programs
	sectionReloc    = "__nv_relfatbin"   // containers of relocatable device code (-rdc=true)
	sectionWrappers = ".nvFatBinSegment" // wrappers that point at the containers
	sectionModuleID = "__nv_module_id"
)

// Container is a fat binary in a host file.
type Container struct {
	Member      string // file of the archive; "" outside archives
	Section     string // section it lies in
	Offset      uint64 // in the file, or in the archive member
	Relocatable bool   // it lies in the section for relocatable device code
	// Wrapper is the version of the wrapper that points at it (1 or 2), 0 if none is known to: in
	// an object file the pointer may be left to the linker.
	// 1 is ordinary code, 2 the device linker's image.
	Wrapper uint32
	*fatbin.Container
}

// File is a host file taken apart.
type File struct {
	Format     string // "elf", "coff" or "pe"
	Machine    string // "x86-64", "aarch64" or the number
	Type       string // "object", "executable", "shared object"
	ModuleIDs  []string
	Containers []Container
}

// IsHost reports whether data starts like a host file that Parse takes apart.
func IsHost(data []byte) bool {
	if bytes.HasPrefix(data, []byte(elf64.Magic)) {
		h, err := elf64.ParseHeader(data)
		return (err == nil || len(data) >= 20) && h.Machine != elf64.MachineCUDA
	}
	return isCOFF(data) || isPE(data)
}

// Containers gives the fat binaries of an object, executable, shared object or archive in file
// order. A file without device code gives none. Errors are *fault.Error; what was found before the
// damage comes with them. Members of an archive that are no host files are passed over.
func Containers(data []byte) ([]Container, error) {
	if !bytes.HasPrefix(data, []byte(ArchiveMagic)) && !bytes.HasPrefix(data, []byte(thinMagic)) {
		f, err := Parse(data)
		if f == nil {
			return nil, err
		}
		return f.Containers, err
	}
	members, err := Members(data)
	var all []Container
	for _, m := range members {
		if !IsHost(m.Data) {
			continue
		}
		f, merr := Parse(m.Data)
		if f != nil {
			for _, c := range f.Containers {
				c.Member = m.Name
				all = append(all, c)
			}
		}
		if merr != nil && err == nil {
			err = merr
		}
	}
	return all, err
}

// ForLinking gives those containers that the device linker takes: of each file (each member of an
// archive) the relocatable ones where there are any, else all.
func ForLinking(all []Container) []Container {
	reloc := make(map[string]bool)
	for _, c := range all {
		if c.Relocatable {
			reloc[c.Member] = true
		}
	}
	var out []Container
	for _, c := range all {
		if c.Relocatable || !reloc[c.Member] {
			out = append(out, c)
		}
	}
	return out
}

// Parse takes one host file apart. Errors are *fault.Error: Format when it is none, Malformed when
// it is damaged; the containers found before the damage come with the error.
func Parse(data []byte) (*File, error) {
	switch {
	case bytes.HasPrefix(data, []byte(elf64.Magic)):
		return parseELF(data)
	case isCOFF(data), isPE(data):
		return parseCOFF(data)
	}
	return nil, fault.New(fault.Format, "host file", 0, "neither ELF nor COFF")
}

func parseELF(data []byte) (*File, error) {
	e, err := elf64.Parse(data)
	if err != nil {
		return nil, err
	}
	if e.Machine == elf64.MachineCUDA {
		return nil, fault.New(fault.Format, "host file", 18, "is a cubin, not a host file")
	}
	f := &File{Format: "elf", Machine: elfMachine(e.Machine)}
	switch e.Type {
	case elf64.TypeRel:
		f.Type = "object"
	case elf64.TypeExec:
		f.Type = "executable"
	case elf64.TypeDyn:
		f.Type = "shared object"
		if e.Section(".interp") != nil {
			f.Type = "executable"
		}
	default:
		f.Type = "unknown"
	}
	var first error
	for i := range e.Sections {
		s := &e.Sections[i]
		switch s.Name {
		case sectionWhole, sectionReloc:
			first = f.collect(s.Name, s.Offset, s.Data, s.Name == sectionReloc, first)
		case sectionModuleID, sectionModuleID + "s":
			f.moduleIDs(s.Data)
		}
	}
	if e.Type != elf64.TypeRel {
		f.elfWrappers(e)
	}
	return f, first
}

func elfMachine(m uint16) string {
	switch m {
	case elf64.MachineX86:
		return "x86-64"
	case elf64.MachineARM:
		return "aarch64"
	}
	return "machine " + itoa(uint64(m))
}

// collect adds the containers of one section; first is the earlier error, which is kept.
func (f *File) collect(section string, offset uint64, data []byte, reloc bool, first error) error {
	all, err := fatbin.ParseAll(data)
	for _, c := range all {
		f.Containers = append(f.Containers, Container{Section: section, Offset: offset + c.Offset, Relocatable: reloc,
			Container: c})
	}
	if err != nil && first == nil {
		if fe, ok := err.(*fault.Error); ok {
			g := *fe
			g.Part = section
			g.Offset += offset
			g.Class = fault.Malformed
			err = &g
		}
		return err
	}
	return first
}

func (f *File) moduleIDs(data []byte) {
	for _, id := range strings.Split(string(data), "\x00") {
		if id != "" {
			f.ModuleIDs = append(f.ModuleIDs, id)
		}
	}
}

func itoa(v uint64) string {
	if v >= 10 {
		return itoa(v/10) + string(rune('0'+v%10))
	}
	return string(rune('0' + v))
}
