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
