package link

import (
	"encoding/binary"
	"sort"

	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// Numbers of CUDA ELF files of CUDA 13 (../../image/cubin reads them).
const (
	abiVersion = 8
	flagsLow   = 0x06000004 // of e_flags, besides the processor in bits 8 to 15

	infoSection = 0x70000000 // SHT_CUDA_INFO

	flagWrite, flagAlloc, flagExec = 1, 2, 4

	bindLocal, bindGlobal, bindWeak = 0, 1, 2
	typeObject, typeFunc            = 1, 2

	otherManaged = 0x04
	otherEntry   = 0x10

	// maxListed bounds the kernels that get sections of their own, so that section numbers stay below SHN_LORESERVE;
	// the program has them all.
	maxListed = 20000
)

type elfSection struct {
	name       string
	kind       uint32
	flags      uint64
	data       []byte
	size       uint64 // in memory, where there is no data
	link, info uint32
	align      uint64
	entry      uint64
}

type elfSymbol struct {
	name    string
	info    byte
	other   byte
	section int
	value   uint64
	size    uint64
}

// elfWriter collects the sections of an image. Numbers 1 to 3 are the two string tables and the symbol table.
type elfWriter struct {
	sections []elfSection
	symbols  []elfSymbol
}

const (
	firstSection = 4
	nameTable    = 1
	symbolTable  = 3
)

func (w *elfWriter) section(name string, kind uint32, flags uint64, data []byte, size uint64, info uint32,
	align uint64) int {
	if data != nil {
		size = uint64(len(data))
	}
	s := elfSection{name: name, kind: kind, flags: flags, data: data, size: size, info: info, align: align}
	if kind == infoSection {
		s.link = symbolTable
	}
	w.sections = append(w.sections, s)
	return firstSection + len(w.sections) - 1
}

// kernels writes code sections in the order of the linker's output, which is the reverse of the driver's enumeration.
func (w *elfWriter) kernels(p *Linked) {
	code := make([]byte, 16) // no instruction of any processor
	for i := min(len(p.Kernels), maxListed) - 1; i >= 0; i-- {
		k := p.Kernels[i]
		bind := byte(bindGlobal)
		switch k.Linkage {
		case ptx.LinkWeak:
			bind = bindWeak
		case ptx.LinkNone:
			bind = bindLocal
		}
		at := w.section(".text."+k.Name, elf64.SHTProgbits, flagAlloc|flagExec, code, 0, 0, 128)
		w.symbols = append(w.symbols, elfSymbol{name: k.Name, info: bind<<4 | typeFunc, other: otherEntry, section: at,
			size: uint64(len(code))})
		w.section(".nv.info."+k.Name, infoSection, 0, kernelInfo(k, p.Compile(k)), 0, uint32(at), 4)
	}
}

// kernelInfo is a kernel's .nv.info: parameters and bounds.
func kernelInfo(k *check.Func, c Compile) []byte {
	le := binary.LittleEndian
	b := []byte{}
	sized := func(a cubin.Attr, words ...uint32) {
		b = append(b, byte(cubin.Sized), byte(a))
		b = le.AppendUint16(b, uint16(4*len(words)))
		for _, x := range words {
			b = le.AppendUint32(b, x)
		}
	}
	type param struct{ off, size uint64 }
	var params []param
	var l check.Layout
	for _, v := range k.Params {
		params = append(params, param{l.Add(v), v.Size})
	}
	const packed = 1 << 14 // sizes from here on need the second layout
	for i, v := range params {
		place := uint32(i)&0xffff | uint32(v.off)<<16
		if l.Size >= 4096 || v.size >= packed {
			sized(cubin.AttrKParamInfoV2, 0, place, uint32(v.size))
		} else {
			sized(cubin.AttrKParamInfo, 0, place, uint32(v.size)<<18)
		}
	}
	b = append(b, byte(cubin.Half), byte(cubin.AttrCBankParamSize))
	b = le.AppendUint16(b, uint16(l.Size))
	if c.MaxRegisters != 0 {
		b = append(b, byte(cubin.Half), byte(cubin.AttrMaxRegCount))
		b = le.AppendUint16(b, uint16(c.MaxRegisters))
	}
	a := &k.Attrs
	for _, t := range []struct {
		attr cubin.Attr
		dim  [3]uint32
	}{{cubin.AttrMaxThreads, a.MaxNTid}, {cubin.AttrReqNTID, a.ReqNTid},
		{cubin.AttrCTAPerCluster, a.ReqNCtaPerCluster}} {
		if t.dim != ([3]uint32{}) {
			sized(t.attr, t.dim[:]...)
		}
	}
	if a.MaxClusterRank != 0 {
		sized(cubin.AttrMaxClusterRank, a.MaxClusterRank)
	}
	return b
}

// mostInit bounds the initial values that the file shows; those of larger variables are in the program's text alone.
const mostInit = 64 << 20

// variables writes the module-scope variables.
func (w *elfWriter) variables(p *Linked) {
	var init, konst []byte
	var zero check.Layout
	// grow appends a variable to the bytes of a section and returns where it stands; false when that would be too many.
	grow := func(b *[]byte, v *check.Var) (at uint64, ok bool) {
		l := check.Layout{Size: uint64(len(*b))}
		if at = l.Add(v); l.Size > mostInit {
			return 0, false
		}
		*b = append(*b, make([]byte, l.Size-uint64(len(*b)))...)
		copy((*b)[at:], v.Init)
		return at, true
	}
	type placed struct {
		v  *check.Var
		at uint64
		in int // 0 .nv.global, 1 .nv.global.init, 2 .nv.constant3
	}
	var all []placed
	for _, v := range p.Variables {
		if v.Func != nil {
			continue
		}
		switch v.Space {
		case "const":
			if at, ok := grow(&konst, v); ok {
				all = append(all, placed{v, at, 2})
			}
		case "global":
			if v.Init != nil {
				if at, ok := grow(&init, v); ok {
					all = append(all, placed{v, at, 1})
					continue
				}
			}
			all = append(all, placed{v, zero.Add(v), 0})
		}
	}
	var at [3]int
	if konst != nil {
		at[2] = w.section(".nv.constant3", elf64.SHTProgbits, flagAlloc, konst, 0, 0, 256)
	}
	if init != nil {
		at[1] = w.section(".nv.global.init", elf64.SHTProgbits, flagAlloc|flagWrite, init, 0, 0, 256)
	}
	if zero.Size != 0 {
		at[0] = w.section(".nv.global", elf64.SHTNobits, flagAlloc|flagWrite, nil, zero.Size, 0, 256)
	}
	for _, x := range all {
		s := elfSymbol{name: x.v.Name, info: bindGlobal<<4 | typeObject, section: at[x.in], value: x.at, size: x.v.Size}
		switch x.v.Linkage {
		case ptx.LinkNone:
			s.info = typeObject
		case ptx.LinkWeak:
			s.info = bindWeak<<4 | typeObject
		}
		if x.v.Managed {
			s.other = otherManaged
		}
		w.symbols = append(w.symbols, s)
	}
}

// bytes writes the file: header, section contents, section table.
func (w *elfWriter) bytes(sm int) []byte {
	le := binary.LittleEndian
	sort.SliceStable(w.symbols, func(i, j int) bool {
		return w.symbols[i].info>>4 == bindLocal && w.symbols[j].info>>4 != bindLocal
	})
	strtab, locals := []byte{0}, uint32(1)
	symtab := make([]byte, 24)
	for _, s := range w.symbols {
		if s.info>>4 == bindLocal {
			locals++
		}
		symtab = le.AppendUint32(symtab, uint32(len(strtab)))
		symtab = append(symtab, s.info, s.other)
		symtab = le.AppendUint16(symtab, uint16(s.section))
		symtab = le.AppendUint64(symtab, s.value)
		symtab = le.AppendUint64(symtab, s.size)
		strtab = append(append(strtab, s.name...), 0)
	}
	all := append([]elfSection{{}, {name: ".shstrtab", kind: elf64.SHTStrtab, align: 1},
		{name: ".strtab", kind: elf64.SHTStrtab, data: strtab, align: 1},
		{name: ".symtab", kind: elf64.SHTSymtab, data: symtab, link: 2, info: locals, align: 8, entry: 24}},
		w.sections...)
	names := []byte{0}
	nameAt := make([]uint32, len(all))
	for i := 1; i < len(all); i++ {
		nameAt[i] = uint32(len(names))
		names = append(append(names, all[i].name...), 0)
	}
	all[nameTable].data = names
	b := make([]byte, 64)
	offsets := make([]uint64, len(all))
	for i := 1; i < len(all); i++ {
		s := &all[i]
		if s.kind == elf64.SHTNobits {
			offsets[i] = uint64(len(b))
			continue
		}
		s.size = uint64(len(s.data))
		for uint64(len(b))%max(min(s.align, 128), 1) != 0 {
			b = append(b, 0)
		}
		offsets[i] = uint64(len(b))
		b = append(b, s.data...)
	}
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	table := uint64(len(b))
	for i := range all {
		s := &all[i]
		b = le.AppendUint32(b, nameAt[i])
		b = le.AppendUint32(b, s.kind)
		b = le.AppendUint64(b, s.flags)
		b = le.AppendUint64(b, 0)
		b = le.AppendUint64(b, offsets[i])
		b = le.AppendUint64(b, s.size)
		b = le.AppendUint32(b, s.link)
		b = le.AppendUint32(b, s.info)
		b = le.AppendUint64(b, s.align)
		b = le.AppendUint64(b, s.entry)
	}
	h := append(b[:0:0], elf64.Magic...)
	h = append(h, elf64.Class64, elf64.LittleE, 1, cubin.OSABINew, abiVersion, 0, 0, 0, 0, 0, 0, 0)
	h = le.AppendUint16(h, elf64.TypeExec)
	h = le.AppendUint16(h, elf64.MachineCUDA)
	h = le.AppendUint32(h, 1)
	h = le.AppendUint64(h, 0) // entry
	h = le.AppendUint64(h, 0) // program headers
	h = le.AppendUint64(h, table)
	h = le.AppendUint32(h, flagsLow|uint32(sm)<<8)
	h = le.AppendUint16(h, 64)
	h = le.AppendUint16(h, 56)
	h = le.AppendUint16(h, 0)
	h = le.AppendUint16(h, 64)
	h = le.AppendUint16(h, uint16(len(all)))
	h = le.AppendUint16(h, nameTable)
	copy(b, h)
	return b
}
