//go:build linux || darwin

package mem

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing is the memory of a store: a file, which has no name unless it says so.
type backing struct {
	f     *os.File
	named bool
}

func newBacking(size uint64) (*backing, error) {
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(size)); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &backing{f: f}, nil
}

func (b *backing) close() error {
	if b.named {
		_ = os.Remove(b.f.Name()) // who opened it has it
	}
	return b.f.Close()
}

// punch gives a part of the file's memory back; it reads as zero again.
func (b *backing) punch(off, n uint64) error { return punchHole(b.f, off, n) }

// share maps a part of a store in place of reserved addresses, without access.
func (m *mapping) share(off, n uint64, b *backing, at uint64) error {
	_, err := unix.MmapPtr(int(b.f.Fd()), int64(at), unsafe.Add(m.base, off), uintptr(n), unix.PROT_NONE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

// unshare makes the addresses reserved ones again.
func (m *mapping) unshare(off, n uint64) error {
	_, err := unix.MmapPtr(-1, 0, unsafe.Add(m.base, off), uintptr(n), unix.PROT_NONE,
		unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE|unix.MAP_FIXED)
	return err
}

func (m *mapping) protect(off, n uint64, a Access) error {
	prot := unix.PROT_NONE
	switch a {
	case ReadOnly:
		prot = unix.PROT_READ
	case ReadWrite:
		prot = unix.PROT_READ | unix.PROT_WRITE
	}
	return unix.Mprotect(m.bytes(off, n), prot)
}
