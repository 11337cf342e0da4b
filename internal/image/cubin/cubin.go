// Package cubin reads CUDA ELF images ("cubins") as far as a loader describes them: target, kernels
// with their parameters and resources, variables, debug sections. Machine code is never decoded.
//
// Facts come from public material only: open-source readers, LLVM, measurements on tool output, and
// comparison with what a driver reports for the same images.
package cubin

import (
	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/sm"
)

// The EI_OSABI values that tell the two generations apart. The driver goes by this byte alone:
// it loads files whose EI_ABIVERSION or e_version were overwritten.
const (
	OSABIOld = 0x33 // toolkits up to 12.x for sm_90 and below ("ABI 7")
	OSABINew = 0x41 // 13.x, and 12.8 on for sm_100 and up ("ABI 8")
)

// Bits of e_flags in files of the old generation.
const (
	oldArchSuffix = 0x800 // target with suffix a
)

// File is a parsed cubin.
type File struct {
	ELF         *elf64.File
	Symbols     []elf64.Symbol // entry 0 included: an index used in the file is an index here
	OSABI       byte
	ABIVersion  byte
	Arch        sm.Arch // the processor it runs on
	Virtual     int     // SM number of the compute target it was compiled from
	Relocatable bool    // ET_REL: made for the device linker
	// APIVersion is the CUDA release as 10*major+minor (130 is 13.0), 0 if the file does not say.
	APIVersion int
	Kernels    []Function // in the order in which a driver enumerates them
	Functions  []Function // device functions with code of their own, in the same order
	Globals    []Global   // variables, in symbol order
	Externs    []string   // names of undefined symbols that something refers to
	Info       []Record   // records of the module-wide .nv.info section
	Tool       []Tool     // who made the image
	Debug      Debug
}

// Tool is one toolkit record of .note.nv.tkinfo.
type Tool struct {
	Name    string // "ptxas"
	Version string // "Cuda compilation tools, release 13.0, V13.0.88"
	Build   string
	Options string // its command line
}

// Debug says which debug information is there.
type Debug struct {
	DWARF    bool // .debug_info: compiled with -G
	Lines    bool // .debug_line: -lineinfo or -G
	SASSLine bool // .nv_debug_line_sass
	PTXText  bool // .nv_debug_ptx_txt: the PTX it was made from
}

// Identify reads the target from the ELF header alone. The suffix is known only for files of the old
// generation. Errors are those of Parse that the header decides.
func Identify(data []byte) (sm.Arch, error) {
	h, err := elf64.ParseHeader(data)
	if err != nil {
		return sm.Arch{}, err
	}
	a, _, err := identify(h)
	return a, err
}

func identify(h elf64.Header) (arch sm.Arch, virtual int, err error) {
	const part = "cubin header"
	if h.Machine != elf64.MachineCUDA {
		return arch, 0, fault.New(fault.Format, part, 18, "ELF for machine %d, CUDA is %d", h.Machine,
			elf64.MachineCUDA)
	}
	if h.Class != elf64.Class64 || h.Data != elf64.LittleE {
		return arch, 0, fault.New(fault.Arch, part, 4, "class %d, data encoding %d; need 64-bit little-endian", h.Class,
			h.Data)
	}
	switch h.OSABI {
	case OSABIOld:
		arch.Number = int(h.Flags & 0xff)
		if h.Flags&oldArchSuffix != 0 {
			arch.Suffix = 'a'
		}
	case OSABINew:
		arch.Number = int(h.Flags >> 8 & 0xff)
	default:
		if h.Flags == 0 { // no architecture at all is a complaint of its own (recorded)
			return arch, 0, fault.New(fault.Arch, part, 48, "no architecture")
		}
		return arch, 0, fault.New(fault.Target, part, 7, "OS ABI %#x, known are %#x and %#x", h.OSABI, OSABIOld,
			OSABINew)
	}
	virtual = int(h.Flags >> 16 & 0xff)
	if virtual == 0 {
		virtual = arch.Number
	}
	return arch, virtual, nil
}

// Parse reads a cubin. Errors are *fault.Error: Format (no CUDA ELF), Arch (not 64-bit), Target (a
// generation that no known processor uses), Malformed (everything else).
func Parse(data []byte) (*File, error) {
	h, err := elf64.ParseHeader(data)
	if err != nil {
		return nil, err
	}
	f := &File{OSABI: h.OSABI, ABIVersion: h.ABIVersion, Relocatable: h.Type == elf64.TypeRel}
	if f.Arch, f.Virtual, err = identify(h); err != nil {
		return nil, err
	}
	if f.ELF, err = elf64.Parse(data); err != nil {
		return nil, err
	}
	symtab := f.ELF.Symtab()
	if symtab == nil {
		return nil, fault.New(fault.Malformed, "cubin", 0, "no symbol table")
	}
	if f.Symbols, err = f.ELF.Symbols(symtab); err != nil {
		return nil, err
	}
	if h.OSABI == OSABIOld {
		f.APIVersion = int(h.Version)
	}
	if err := f.readCompat(); err != nil {
		return nil, err
	}
	f.readNotes()
	if err := f.readFunctions(); err != nil {
		return nil, err
	}
	f.readGlobals()
	for i := range f.ELF.Sections {
		switch f.ELF.Sections[i].Name {
		case ".debug_info":
			f.Debug.DWARF = true
		case ".debug_line":
			f.Debug.Lines = true
		case ".nv_debug_line_sass":
			f.Debug.SASSLine = true
		case ".nv_debug_ptx_txt":
			f.Debug.PTXText = true
		}
	}
	return f, nil
}

// CheckDevice gives an error of class Target when the file does not run on a device of compute
// capability device (10*major+minor).
func (f *File) CheckDevice(device int) error {
	if f.Arch.Number == 0 {
		return fault.New(fault.Arch, "cubin", 0, "names no architecture")
	}
	if !f.Arch.CubinRunsOn(device) {
		return fault.New(fault.Target, "cubin", 0, "is for %s, the device is sm_%d", f.Arch, device)
	}
	return nil
}

// DebugPTX gives the PTX text that -G and -lineinfo keep for debuggers, lines separated by NUL; nil
// if there is none. It is the input of ptxas stripped of comments, not a loadable module.
func (f *File) DebugPTX() []byte {
	if s := f.ELF.Section(".nv_debug_ptx_txt"); s != nil {
		return s.Data
	}
	return nil
}

// ConstantSize is the bytes of the module's __constant__ variables.
func (f *File) ConstantSize() uint64 {
	if s := f.ELF.Section(".nv.constant3"); s != nil {
		return s.Size
	}
	return 0
}

// Kernel gives the kernel of that name, or nil.
func (f *File) Kernel(name string) *Function {
	for i := range f.Kernels {
		if f.Kernels[i].Name == name {
			return &f.Kernels[i]
		}
	}
	return nil
}

// Global gives the variable of that name, or nil.
func (f *File) Global(name string) *Global {
	for i := range f.Globals {
		if f.Globals[i].Name == name {
			return &f.Globals[i]
		}
	}
	return nil
}
