//go:build linux || darwin

package mem

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// number is the file's number in this process.
func (b *backing) number() int32 { return int32(b.f.Fd()) }

// move maps a file in place of a range's memory.
func (m *mapping) move(off, n uint64, b *backing) error {
	_, err := unix.MmapPtr(int(b.f.Fd()), 0, unsafe.Add(m.base, off), uintptr(n), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_SHARED|unix.MAP_FIXED)
	return err
}

func (b *backing) mapAll(n int) ([]byte, error) {
	return unix.Mmap(int(b.f.Fd()), 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
}

func unmapAll(data []byte) error { return unix.Munmap(data) }

// sized checks that a file is as large as it was said to be.
func sized(f *os.File, n uint64) (*backing, error) {
	info, err := f.Stat()
	if err == nil && uint64(info.Size()) != n {
		err = ErrNotPublished
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return &backing{f: f}, nil
}

// ProcessGone says whether a process has ended. The number may be in use again: then it says no.
func ProcessGone(pid int) bool {
	return pid > 0 && unix.Kill(pid, 0) == unix.ESRCH
}
