package mem

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// mapping is reserved address space. Its methods take offsets; all are multiples of the granule.
type mapping struct {
	base unsafe.Pointer
	size uint64
}

var errTooLarge = errors.New("larger than the address space")

// reserve takes size bytes of address space aligned to size, without access and without memory behind it.
func reserve(size uint64) (*mapping, error) {
	if uint64(uintptr(2*size)) != 2*size {
		return nil, errTooLarge
	}
	// A reservation cannot be trimmed here. One of twice the size shows where an aligned piece is; it is given back and
	// the piece taken. Another thread may take the place in between: then again.
	var err error
	for range 8 {
		var p uintptr
		p, err = windows.VirtualAlloc(0, uintptr(2*size), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
		if err != nil {
			return nil, err
		}
		at := (p + uintptr(size-1)) &^ uintptr(size-1)
		if err = windows.VirtualFree(p, 0, windows.MEM_RELEASE); err != nil {
			return nil, err
		}
		p, err = windows.VirtualAlloc(at, uintptr(size), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
		if err == nil {
			return &mapping{*(*unsafe.Pointer)(unsafe.Pointer(&p)), size}, nil
		}
	}
	return nil, err
}

// commit gives a range memory that reads as zero.
func (m *mapping) commit(off, n uint64) error {
	_, err := windows.VirtualAlloc(uintptr(m.base)+uintptr(off), uintptr(n), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// decommit takes a range's memory and its access rights.
func (m *mapping) decommit(off, n uint64) error {
	return windows.VirtualFree(uintptr(m.base)+uintptr(off), uintptr(n), windows.MEM_DECOMMIT)
}

// adviseHuge does nothing: large pages need a privilege and are never pageable on Windows.
func (m *mapping) adviseHuge(_, _ uint64) {}

func (m *mapping) release() error {
	return windows.VirtualFree(uintptr(m.base), 0, windows.MEM_RELEASE)
}

// PhysicalMemory returns the bytes of memory the host has, 0 when it does not say.
func PhysicalMemory() uint64 {
	var kib uint64
	p := windows.NewLazySystemDLL("kernel32.dll").NewProc("GetPhysicallyInstalledSystemMemory")
	if p.Find() != nil {
		return 0
	}
	if ok, _, _ := p.Call(uintptr(unsafe.Pointer(&kib))); ok == 0 {
		return 0
	}
	return kib << 10
}
