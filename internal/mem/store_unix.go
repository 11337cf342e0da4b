//go:build linux || darwin

package mem

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// backing is the memory of a store: a file that has no name.
type backing struct{ f *os.File }

func newBacking(size uint64) (*backing, error) {
	f, err := nameless()
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(size)); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &backing{f}, nil
}

func (b *backing) close() error { return b.f.Close() }

// share maps a part of a store in place of reserved addresses, without access.
func (m *mapping) share(off, n uint64, b *backing, at uint64) error {
	_, err := unix.MmapPtr(int(b.f.Fd()), int64(at), unsafe.Add(m.base, off), uintptr(n), unix.PROT_NONE, unix.MAP_SHARED|unix.MAP_FIXED)
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
