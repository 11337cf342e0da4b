//go:build linux || darwin

package mem

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
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
	p, err := unix.MmapPtr(-1, 0, nil, uintptr(2*size), unix.PROT_NONE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	// Twice the size holds one aligned piece; what is around it goes back.
	head := -uint64(uintptr(p)) & (size - 1)
	base := unsafe.Add(p, head)
	if head > 0 {
		if err := unix.MunmapPtr(p, uintptr(head)); err != nil {
			return nil, errors.Join(err, unix.MunmapPtr(p, uintptr(2*size)))
		}
	}
	if err := unix.MunmapPtr(unsafe.Add(base, size), uintptr(size-head)); err != nil {
		return nil, errors.Join(err, unix.MunmapPtr(base, uintptr(2*size-head)))
	}
	return &mapping{base, size}, nil
}

func (m *mapping) bytes(off, n uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(m.base, off)), n)
}

// commit gives a range memory that reads as zero.
func (m *mapping) commit(off, n uint64) error {
	return unix.Mprotect(m.bytes(off, n), unix.PROT_READ|unix.PROT_WRITE)
}

// decommit takes a range's memory and its access rights.
func (m *mapping) decommit(off, n uint64) error {
	b := m.bytes(off, n)
	if err := discard(m, off, b); err != nil {
		return err
	}
	// The kernel may refuse to split a mapping (vm.max_map_count). The range then stays accessible and reads as zero,
	// which is allowed for freed memory.
	_ = unix.Mprotect(b, unix.PROT_NONE)
	return nil
}

func (m *mapping) release() error {
	return unix.MunmapPtr(m.base, uintptr(m.size))
}
