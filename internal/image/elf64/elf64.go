// Package elf64 reads the structure of little-endian ELF64 files: header, sections, symbols.
//
// It stands in place of debug/elf because images for GPUs break rules that debug/elf enforces (old
// cubins keep the toolkit version in e_version, damaged ones are loaded by the driver although their
// program headers point nowhere) and because it must report damage by offset and class.
package elf64

import (
	"encoding/binary"

	"github.com/gocuda/cuda/internal/image/fault"
)

// Sizes of the fixed structures in bytes (System V gABI, ELF-64 object file format).
const (
	HeaderSize  = 64
	SectionSize = 64
	SymbolSize  = 24
	RelaSize    = 24
)

// Magic is the start of every ELF file.
const Magic = "\x7fELF"

// Values of the header fields that matter here.
const (
	Class64     = 2
	LittleE     = 1
	MachineX86  = 62  // EM_X86_64
	MachineARM  = 183 // EM_AARCH64
	MachineCUDA = 190 // EM_CUDA

	TypeRel  = 1
	TypeExec = 2
	TypeDyn  = 3
)

// Section types and special indices.
const (
	SHTNull        = 0
	SHTProgbits    = 1
	SHTSymtab      = 2
	SHTStrtab      = 3
	SHTRela        = 4
	SHTNote        = 7
	SHTNobits      = 8
	SHTRel         = 9
	SHTSymtabShndx = 18

	shnUndef     = 0
	shnLoReserve = 0xff00
	shnXindex    = 0xffff
)

// MaxSections bounds the section table: 1 Mi entries are a table of 64 MiB. Compilers write some for each function.
const MaxSections = 1 << 20

// maxOverlap is how often the bytes of a file may be covered by sections, on average.
const maxOverlap = 4

// Header is the ELF header with extended numbering already resolved by Parse.
type Header struct {
	Class, Data, IdentVersion, OSABI, ABIVersion byte

	Type, Machine  uint16
	Version        uint32
	Entry          uint64
	Phoff, Shoff   uint64
	Flags          uint32
	Phentsize      uint16
	Phnum          uint16
	Shentsize      uint16
	Shnum          uint32
	SectionNameSec uint32
}

// Section is one row of the section table.
type Section struct {
	Index   int
	Name    string
	Type    uint32
	Flags   uint64
	Addr    uint64
	Offset  uint64
	Size    uint64 // bytes in memory; Data holds the bytes in the file
	Link    uint32
	Info    uint32
	Align   uint64
	Entsize uint64
	Data    []byte // aliases the image; nil for sections without bytes in the file
}

// Symbol is one row of a symbol table.
type Symbol struct {
	Index   int
	Name    string
	Info    byte
	Other   byte
	Section int // section index; 0 undefined, -1 a reserved index (absolute, common)
	Value   uint64
	Size    uint64
}

// Bind is the binding: 0 local, 1 global, 2 weak.
func (s Symbol) Bind() byte { return s.Info >> 4 }

// Type is the symbol type: 1 object, 2 function, 3 section.
func (s Symbol) Type() byte { return s.Info & 15 }

// File is a parsed image.
type File struct {
	Header
	Sections []Section
	Data     []byte
}

// ParseHeader reads the 64-byte header without looking at the tables. Numbers are as stored: with
// extended numbering Shnum may be 0 and SectionNameSec 0xffff.
func ParseHeader(data []byte) (Header, error) {
	if len(data) < len(Magic) || string(data[:len(Magic)]) != Magic {
		return Header{}, fault.New(fault.Format, "ELF header", 0, "no ELF magic")
	}
	// An ELF too short to name its machine was answered like unknown bytes by the driver.
	if len(data) < 20 {
		return Header{}, fault.New(fault.Format, "ELF header", 0, "%d bytes, cut off before the machine type",
			len(data))
	}
	h := Header{
		Class: data[4], Data: data[5], IdentVersion: data[6], OSABI: data[7], ABIVersion: data[8],
		Type:    binary.LittleEndian.Uint16(data[16:]),
		Machine: binary.LittleEndian.Uint16(data[18:]),
	}
	if len(data) < HeaderSize {
		return h, fault.New(fault.Malformed, "ELF header", 0, "%d bytes, a header has %d", len(data), HeaderSize)
	}
	h.Version = binary.LittleEndian.Uint32(data[20:])
	h.Entry = binary.LittleEndian.Uint64(data[24:])
	h.Phoff = binary.LittleEndian.Uint64(data[32:])
	h.Shoff = binary.LittleEndian.Uint64(data[40:])
	h.Flags = binary.LittleEndian.Uint32(data[48:])
	h.Phentsize = binary.LittleEndian.Uint16(data[54:])
	h.Phnum = binary.LittleEndian.Uint16(data[56:])
	h.Shentsize = binary.LittleEndian.Uint16(data[58:])
	h.Shnum = uint32(binary.LittleEndian.Uint16(data[60:]))
	h.SectionNameSec = uint32(binary.LittleEndian.Uint16(data[62:]))
	return h, nil
}

// Memory-only section types of a relocatable cubin: they have a size and no bytes in the file.
const (
	cudaGlobal         = 0x70000007
	cudaLocal          = 0x70000009
	cudaShared         = 0x7000000a
	cudaReservedShared = 0x70000015
)

// HasFileBytes reports whether a section of this type in a file for this machine occupies its
// sh_offset..+sh_size range of the file.
func HasFileBytes(machine uint16, shType uint32) bool {
	switch shType {
	case SHTNull, SHTNobits:
		return false
	case cudaGlobal, cudaLocal, cudaShared, cudaReservedShared:
		return machine != MachineCUDA
	}
	return true
}

// RawSection decodes one 64-byte row of a section table; Name and Data are not filled in, and the
// offset of the name in the section name table is returned beside it.
func RawSection(b []byte) (s Section, nameOffset uint32) {
	_ = b[SectionSize-1]
	le := binary.LittleEndian
	return Section{
		Type: le.Uint32(b[4:]), Flags: le.Uint64(b[8:]), Addr: le.Uint64(b[16:]), Offset: le.Uint64(b[24:]),
		Size: le.Uint64(b[32:]), Link: le.Uint32(b[40:]), Info: le.Uint32(b[44:]), Align: le.Uint64(b[48:]),
		Entsize: le.Uint64(b[56:]),
	}, le.Uint32(b)
}

// Parse reads header and section table. Every section must lie inside data; program headers are not
// looked at, as the CUDA driver does not. Errors are *fault.Error of class Format (no ELF), Arch (not
// 64-bit little-endian) or Malformed.
func Parse(data []byte) (*File, error) {
	h, err := ParseHeader(data)
	if err != nil {
		return nil, err
	}
	if h.Class != Class64 || h.Data != LittleE {
		return nil, fault.New(fault.Arch, "ELF header", 4, "class %d, data encoding %d; need 64-bit little-endian",
			h.Class, h.Data)
	}
	f := &File{Header: h, Data: data}
	if h.Shoff == 0 {
		return f, nil
	}
	size := uint64(len(data))
	if h.Shentsize != SectionSize {
		return nil, fault.New(fault.Malformed, "ELF header", 58, "section entry size %d, need %d", h.Shentsize,
			SectionSize)
	}
	if h.Shoff > size || size-h.Shoff < SectionSize {
		return nil, fault.New(fault.Malformed, "ELF section table", h.Shoff, "starts beyond the %d bytes of the image",
			size)
	}
	count := uint64(h.Shnum)
	first, _ := RawSection(data[h.Shoff:])
	if count == 0 {
		count = first.Size // extended numbering
	}
	if h.SectionNameSec == shnXindex {
		f.SectionNameSec = first.Link
	}
	if count > (size-h.Shoff)/SectionSize {
		return nil, fault.New(fault.Malformed, "ELF section table", h.Shoff,
			"%d sections do not fit into the %d bytes of the image", count, size)
	}
	if count > MaxSections {
		return nil, fault.New(fault.TooLarge, "ELF section table", h.Shoff, "%d sections, limit %d", count, MaxSections)
	}
	if count == 0 {
		return f, nil
	}
	f.Shnum = uint32(count)
	f.Sections = make([]Section, count)
	names := make([]uint32, count)
	// Sections do not share bytes in files that tools write. Many that do would make every reader of
	// sections cost the square of the file.
	room := maxOverlap * size
	for i := range f.Sections {
		at := h.Shoff + uint64(i)*SectionSize
		s, name := RawSection(data[at:])
		s.Index = i
		names[i] = name
		if i > 0 && HasFileBytes(h.Machine, s.Type) && s.Size > 0 {
			if s.Offset > size || s.Size > size-s.Offset {
				return nil, fault.New(fault.Malformed, "ELF section", at,
					"section %d: bytes %#x+%#x leave the %d bytes of the image", i, s.Offset, s.Size, size)
			}
			if s.Size > room {
				return nil, fault.New(fault.Malformed, "ELF section", at,
					"section %d: sections of more than %d times the image", i, maxOverlap)
			}
			room -= s.Size
			s.Data = data[s.Offset : s.Offset+s.Size : s.Offset+s.Size]
		}
		f.Sections[i] = s
	}
	if f.SectionNameSec == shnUndef {
		return f, nil
	}
	if uint64(f.SectionNameSec) >= count {
		return nil, fault.New(fault.Malformed, "ELF header", 62, "name table is section %d of %d", f.SectionNameSec,
			count)
	}
	table := newStrings(f.Sections[f.SectionNameSec].Data, len(f.Sections))
	for i := range f.Sections {
		name, ok := table.at(names[i])
		if !ok {
			if f.Sections[i].Type == SHTNull {
				continue
			}
			return nil, fault.New(fault.Malformed, "ELF section", h.Shoff+uint64(i)*SectionSize,
				"section %d: no name at %#x of the name table of %d bytes", i, names[i], len(table.text))
		}
		f.Sections[i].Name = name
	}
	return f, nil
}

// Section gives the first section of that name, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// Symtab gives the first section of type SHT_SYMTAB, or nil.
func (f *File) Symtab() *Section {
	for i := range f.Sections {
		if f.Sections[i].Type == SHTSymtab {
			return &f.Sections[i]
		}
	}
	return nil
}

// Symbols reads the symbol table in section table (an SHT_SYMTAB or SHT_DYNSYM), entry 0 included, so
// that an index used elsewhere in the file is an index into the result.
func (f *File) Symbols(table *Section) ([]Symbol, error) {
	bad := func(off uint64, format string, args ...any) error {
		return fault.New(fault.Malformed, "ELF symbol table", table.Offset+off, format, args...)
	}
	if table.Entsize != SymbolSize {
		return nil, bad(0, "entry size %d, need %d", table.Entsize, SymbolSize)
	}
	if len(table.Data)%SymbolSize != 0 {
		return nil, bad(0, "%d bytes are no whole number of %d-byte symbols", len(table.Data), SymbolSize)
	}
	if uint64(table.Link) >= uint64(len(f.Sections)) {
		return nil, bad(0, "string table is section %d of %d", table.Link, len(f.Sections))
	}
	count := len(table.Data) / SymbolSize
	strtab := newStrings(f.Sections[table.Link].Data, count)
	var extended []byte
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Type == SHTSymtabShndx && int(s.Link) == table.Index {
			extended = s.Data
		}
	}
	syms := make([]Symbol, count)
	for i := range syms {
		b := table.Data[i*SymbolSize:]
		name := binary.LittleEndian.Uint32(b)
		s := Symbol{
			Index: i, Info: b[4], Other: b[5],
			Section: int(binary.LittleEndian.Uint16(b[6:])),
			Value:   binary.LittleEndian.Uint64(b[8:]),
			Size:    binary.LittleEndian.Uint64(b[16:]),
		}
		if name != 0 {
			var ok bool
			if s.Name, ok = strtab.at(name); !ok {
				return nil, bad(uint64(i)*SymbolSize, "symbol %d: no name at %#x of the string table of %d bytes", i,
					name, len(strtab.text))
			}
		}
		switch {
		case s.Section == shnXindex:
			if len(extended) < 4*(i+1) {
				return nil, bad(uint64(i)*SymbolSize, "symbol %d: no extended section index", i)
			}
			x := binary.LittleEndian.Uint32(extended[4*i:])
			if uint64(x) >= uint64(len(f.Sections)) {
				return nil, bad(uint64(i)*SymbolSize, "symbol %d is in section %d of %d", i, x, len(f.Sections))
			}
			s.Section = int(x)
		case s.Section >= shnLoReserve:
			s.Section = -1
		case s.Section >= len(f.Sections):
			return nil, bad(uint64(i)*SymbolSize, "symbol %d is in section %d of %d", i, s.Section, len(f.Sections))
		}
		syms[i] = s
	}
	return syms, nil
}
