package hostobj

import (
	"encoding/binary"
	"sort"

	"github.com/gocuda/cuda/internal/image/elf64"
	"github.com/gocuda/cuda/internal/image/fatbin"
)

// Relocations that add the load address to a stored addend (psABI of each processor).
const (
	relativeX86 = 8    // R_X86_64_RELATIVE
	relativeARM = 1027 // R_AARCH64_RELATIVE
)

// elfWrappers marks the containers that the wrappers of a linked file point at. The pointers are
// virtual addresses, in the section's bytes or, in position-independent files, in the addends of
// relative relocations. The list of a version 2 wrapper is not followed: the program fills it when it
// starts (it lies in .bss). What cannot be followed stays unmarked: the wrappers are not needed to
// find the containers.
func (f *File) elfWrappers(e *elf64.File) {
	w := e.Section(sectionWrappers)
	if w == nil || len(f.Containers) == 0 {
		return
	}
	addends := relativeRelocations(e)
	loaded := newAddresses(e)
	byOffset := make(map[uint64]int, len(f.Containers))
	for i := range f.Containers {
		byOffset[f.Containers[i].Offset] = i
	}
	container := func(address uint64) *Container {
		if off, ok := loaded.fileOffset(address); ok {
			if i, ok := byOffset[off]; ok {
				return &f.Containers[i]
			}
		}
		return nil
	}
	pointer := func(address uint64, stored []byte) uint64 {
		if a, ok := addends[address]; ok {
			return a
		}
		return binary.LittleEndian.Uint64(stored)
	}
	for at := 0; at+fatbin.WrapperSize <= len(w.Data); at += fatbin.WrapperSize {
		b := w.Data[at:]
		parsed, err := fatbin.ParseWrapper(b)
		if err != nil {
			return
		}
		if c := container(pointer(w.Addr+uint64(at)+8, b[8:])); c != nil {
			c.Wrapper = parsed.Version
		}
	}
}

func relativeRelocations(e *elf64.File) map[uint64]uint64 {
	kind := uint32(relativeX86)
	if e.Machine == elf64.MachineARM {
		kind = relativeARM
	}
	out := make(map[uint64]uint64)
	for i := range e.Sections {
		s := &e.Sections[i]
		if s.Type != elf64.SHTRela || s.Name != ".rela.dyn" {
			continue
		}
		for b := s.Data; len(b) >= elf64.RelaSize; b = b[elf64.RelaSize:] {
			if uint32(binary.LittleEndian.Uint64(b[8:])) == kind {
				out[binary.LittleEndian.Uint64(b)] = binary.LittleEndian.Uint64(b[16:])
			}
		}
	}
	return out
}

// addresses maps virtual addresses to file offsets by way of the allocated sections.
type addresses []*elf64.Section

func newAddresses(e *elf64.File) addresses {
	const alloc = 2 // SHF_ALLOC
	var a addresses
	for i := range e.Sections {
		if s := &e.Sections[i]; s.Flags&alloc != 0 && s.Data != nil {
			a = append(a, s)
		}
	}
	sort.SliceStable(a, func(i, j int) bool { return a[i].Addr < a[j].Addr })
	return a
}

func (a addresses) fileOffset(address uint64) (uint64, bool) {
	i := sort.Search(len(a), func(i int) bool { return a[i].Addr > address }) - 1
	if i < 0 || address-a[i].Addr >= uint64(len(a[i].Data)) {
		return 0, false
	}
	return a[i].Offset + address - a[i].Addr, true
}
