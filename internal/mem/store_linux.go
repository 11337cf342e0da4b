package mem

import (
	"os"

	"golang.org/x/sys/unix"
)

func nameless() (*os.File, error) {
	fd, err := unix.MemfdCreate("gocuda", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), "gocuda"), nil
}

func punchHole(f *os.File, off, n uint64) error {
	return os.NewSyscallError("fallocate", unix.Fallocate(int(f.Fd()),
		unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, int64(off), int64(n)))
}
