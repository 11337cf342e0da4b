package cubin

import (
	"encoding/binary"
	"sort"
	"strings"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fault"
)

// Param is one kernel parameter.
type Param struct {
	Ordinal int
	Offset  uint32 // bytes from the start of the parameter area, as cuFuncGetParamInfo reports it
	Size    uint32 // bytes
}

// Function is a kernel or a device function that has a code section of its own.
type Function struct {
	Name        string
	Kernel      bool
	SymbolIndex int // in File.Symbols; 0 if no symbol names it
	Section     int // index of its .text section
	CodeSize    uint64
	Weak        bool

	Registers uint32 // per thread
	Barriers  uint32 // named barriers
	FrameSize uint32 // bytes of the function's own stack frame
	// MinStackSize is the bytes of stack with all callees; UnknownStack for recursion or calls
	// through pointers.
	MinStackSize uint32
	MaxStackSize uint32
	StaticShared uint64 // bytes of the kernel's own shared variables
	LocalSection uint64 // bytes of .nv.local.<name>
	ConstBank2   uint64 // bytes of compiler constants, .nv.constant2.<name>

	ParamBase uint32 // offset of the first parameter in constant bank 0
	ParamSize uint32 // bytes of all parameters
	Params    []Param

	MaxThreads        [3]uint32 // .maxntid; zero if absent
	ReqThreads        [3]uint32 // .reqntid; zero if absent
	MaxRegisters      uint16    // limit given to the compiler; 0 is none
	ClusterDim        [3]uint32 // .reqnctapercluster; zero if absent
	ExplicitCluster   bool      // .explicitcluster
	MaxClusterRank    uint32    // .maxclusterrank; 0 if absent
	BlocksAreClusters bool      // .blocksareclusters
	MBarriers         uint16
	ReservedShared    uint32   // bytes of shared memory the system keeps
	Externs           []string // functions it calls that the driver must supply
	APIVersion        uint32
	Info              []Record // all records of its own .nv.info section

	hasMinStack bool
}

// UnknownStack is the MinStackSize of a function whose stack use the compiler could not bound.
const UnknownStack = 1<<32 - 1

// LocalSize is the value of CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: the stack with all callees, 0 when it
// is not bounded.
func (fn *Function) LocalSize() uint32 {
	switch {
	case fn.MinStackSize == UnknownStack:
		return 0
	case fn.hasMinStack:
		return fn.MinStackSize
	}
	return fn.FrameSize
}

// MaxThreadsPerBlock is the value of CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK on a device with that
// many registers and threads in a block: the declared bound, the device's own, or what the registers
// allow. Registers go to warps in units of 256, and warps are placed in fours.
func (fn *Function) MaxThreadsPerBlock(registersPerBlock, threadsPerBlock uint32) uint32 {
	const warp, unit, quad = 32, 256, 4
	n := uint64(threadsPerBlock)
	for _, t := range [][3]uint32{fn.MaxThreads, fn.ReqThreads} {
		if t != ([3]uint32{}) {
			n = min(n, uint64(t[0])*uint64(max(t[1], 1))*uint64(max(t[2], 1)))
		}
	}
	if fn.Registers > 0 {
		each := (uint64(fn.Registers)*warp + unit - 1) / unit * unit
		n = min(n, uint64(registersPerBlock)/each/quad*quad*warp)
	}
	return uint32(n)
}

// systemShared is the shared memory that the system keeps in each block from sm_90 on. A linked
// file counts it into .nv.shared.<name>; CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES does not (measured: every
// kernel of the corpus with such a section).
const systemShared = 1024

// Symbol properties (st_info, st_other) of CUDA ELF files.
const (
	symObject = 1
	symFunc   = 2
	bindWeak  = 2

	otherManaged = 0x04
	otherEntry   = 0x10
)

func (f *File) readFunctions() error {
	const textPrefix = ".text."
	sections := f.ELF.Sections
	// Function symbols by section; only those at the start of a section name it.
	bySection := make(map[int]int)
	for i, s := range f.Symbols {
		if s.Type() == symFunc && s.Section > 0 && s.Value == 0 {
			if _, taken := bySection[s.Section]; !taken || s.Other&otherEntry != 0 {
				bySection[s.Section] = i
			}
		}
	}
	var all []Function
	at := make(map[int]int) // code section to index in all
	byName := make(map[string]int)
	bySymbol := make(map[int]int)
	// The driver enumerates kernels from the last code section to the first, which is the order of
	// the source, and names them after the section: it does so with the symbol names wiped out.
	for i := len(sections) - 1; i > 0; i-- {
		s := &sections[i]
		name, ok := strings.CutPrefix(s.Name, textPrefix)
		if !ok || s.Type != elf64.SHTProgbits {
			continue
		}
		sym, ok := bySection[i]
		fn := Function{Name: name, Section: i, CodeSize: s.Size}
		if ok {
			fn.SymbolIndex = sym
			fn.Kernel = f.Symbols[sym].Other&otherEntry != 0
			fn.Weak = f.Symbols[sym].Bind() == bindWeak
			bySymbol[sym] = len(all)
		}
		if f.OSABI == OSABIOld {
			// Old files keep two counts in the section header; attributes below override them.
			fn.Registers = s.Info >> 24
			fn.Barriers = uint32(s.Flags >> 20 & 0x7f)
		}
		at[i] = len(all)
		byName[name] = len(all)
		all = append(all, fn)
	}

	// owner finds the function a per-function section belongs to: by sh_info, else by its name.
	owner := func(s *elf64.Section, name string) *Function {
		if i, ok := at[int(s.Info)]; ok {
			return &all[i]
		}
		if i, ok := byName[name]; ok {
			return &all[i]
		}
		return nil
	}
	const cudaInfo = 0x70000000
	for i := range sections {
		s := &sections[i]
		if s.Type == cudaInfo && s.Name == ".nv.info" {
			records, err := DecodeInfo(s.Data)
			if err != nil {
				return inSection(err, s.Offset, s.Name)
			}
			f.Info = append(f.Info, records...)
			continue
		}
		if name, ok := strings.CutPrefix(s.Name, ".nv.info."); ok && s.Type == cudaInfo {
			records, err := DecodeInfo(s.Data)
			if err != nil {
				return inSection(err, s.Offset, s.Name)
			}
			if fn := owner(s, name); fn != nil {
				fn.Info = records
				if err := f.describe(fn, records); err != nil {
					return inSection(err, s.Offset, s.Name)
				}
			}
			continue
		}
		if name, ok := strings.CutPrefix(s.Name, ".nv.shared."); ok {
			if fn := owner(s, name); fn != nil {
				fn.StaticShared = s.Size
				if f.Arch.Number >= 90 && !f.Relocatable && s.Size >= systemShared {
					fn.StaticShared -= systemShared
				}
			}
		} else if name, ok := strings.CutPrefix(s.Name, ".nv.local."); ok {
			if fn := owner(s, name); fn != nil {
				fn.LocalSection = s.Size
			}
		} else if name, ok := strings.CutPrefix(s.Name, ".nv.constant2."); ok {
			if fn := owner(s, name); fn != nil {
				fn.ConstBank2 = s.Size
			}
		}
	}
	for _, r := range f.Info {
		if r.ID == AttrCUDAAPIVersion {
			if v, ok := r.Word(0); ok {
				f.APIVersion = int(v)
			}
			continue
		}
		sym, ok1 := r.Word(0)
		v, ok2 := r.Word(1)
		if !ok1 || !ok2 {
			continue
		}
		i, ok := bySymbol[int(sym)]
		if !ok {
			continue
		}
		switch fn := &all[i]; r.ID {
		case AttrRegCount:
			fn.Registers = v
		case AttrFrameSize:
			fn.FrameSize = v
		case AttrMinStackSize:
			fn.MinStackSize, fn.hasMinStack = v, true
		case AttrMaxStackSize:
			fn.MaxStackSize = v
		}
	}
	for _, fn := range all {
		if f.APIVersion == 0 {
			f.APIVersion = int(fn.APIVersion)
		}
		if fn.Kernel {
			f.Kernels = append(f.Kernels, fn)
		} else {
			f.Functions = append(f.Functions, fn)
		}
	}
	return nil
}

// describe fills in what a function's own records say. Offsets in errors count from the section.
func (f *File) describe(fn *Function, records []Record) error {
	triple := func(r Record) (t [3]uint32) {
		for i := range t {
			t[i], _ = r.Word(i)
		}
		return t
	}
	for _, r := range records {
		short := func(need int) error {
			if len(r.Data) < need {
				return fault.New(fault.Malformed, "nv.info", uint64(r.Offset), "%s of %d bytes, need %d", r.ID,
					len(r.Data), need)
			}
			return nil
		}
		switch r.ID {
		case AttrMaxThreads:
			fn.MaxThreads = triple(r)
		case AttrReqNTID:
			fn.ReqThreads = triple(r)
		case AttrCTAPerCluster:
			fn.ClusterDim = triple(r)
		case AttrExplicitCluster:
			fn.ExplicitCluster = true
		case AttrBlocksAreClusters:
			fn.BlocksAreClusters = true
		case AttrMaxClusterRank:
			fn.MaxClusterRank, _ = r.Word(0)
		case AttrReservedSmemSize:
			fn.ReservedShared, _ = r.Word(0)
		case AttrCUDAAPIVersion:
			fn.APIVersion, _ = r.Word(0)
		case AttrNumBarriers:
			fn.Barriers = uint32(r.Value)
		case AttrNumMBarriers:
			fn.MBarriers = r.Value
		case AttrMaxRegCount:
			if r.Value != 0xff {
				fn.MaxRegisters = r.Value
			}
		case AttrCBankParamSize:
			fn.ParamSize = uint32(r.Value)
		case AttrParamCBank:
			if err := short(8); err != nil {
				return err
			}
			fn.ParamBase = uint32(binary.LittleEndian.Uint16(r.Data[4:]))
			if fn.ParamSize == 0 {
				fn.ParamSize = uint32(binary.LittleEndian.Uint16(r.Data[6:]))
			}
		case AttrKParamInfo:
			if err := short(12); err != nil {
				return err
			}
			packed := binary.LittleEndian.Uint32(r.Data[8:])
			fn.Params = append(fn.Params, Param{
				Ordinal: int(binary.LittleEndian.Uint16(r.Data[4:])),
				Offset:  uint32(binary.LittleEndian.Uint16(r.Data[6:])),
				Size:    packed >> 18,
			})
		case AttrKParamInfoV2:
			if err := short(12); err != nil {
				return err
			}
			fn.Params = append(fn.Params, paramV2(r.Data))
		case AttrExterns:
			for i := 0; ; i++ {
				sym, ok := r.Word(i)
				if !ok {
					break
				}
				if int64(sym) < int64(len(f.Symbols)) {
					fn.Externs = append(fn.Externs, f.Symbols[sym].Name)
				}
			}
		}
	}
	sort.SliceStable(fn.Params, func(i, j int) bool { return fn.Params[i].Ordinal < fn.Params[j].Ordinal })
	return nil
}

// paramV2 decodes a parameter record of the second layout, for parameter spaces beyond 4 KiB: where
// the first has a packed word with 14 bits of size, this one has the size (measured: CUDA 12.4 and
// 13.0 output against the driver's cuFuncGetParamInfo).
func paramV2(b []byte) Param {
	le := binary.LittleEndian
	return Param{
		Ordinal: int(le.Uint16(b[4:])),
		Offset:  uint32(le.Uint16(b[6:])),
		Size:    le.Uint32(b[8:]),
	}
}
