//go:build linux || darwin

package mem

import (
	"os"

	"golang.org/x/sys/unix"
)

// dup copies a file descriptor for this process alone.
func dup(fd uintptr) (int, error) {
	n, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	return n, os.NewSyscallError("fcntl", err)
}

func (b *backing) descriptor() (uintptr, error) {
	n, err := dup(b.f.Fd())
	return uintptr(n), err
}

func openBacking(fd uintptr) (*backing, uint64, error) {
	n, err := dup(fd)
	if err != nil {
		return nil, 0, err
	}
	f := os.NewFile(uintptr(n), "gocuda")
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	return &backing{f: f}, uint64(info.Size()), nil
}
