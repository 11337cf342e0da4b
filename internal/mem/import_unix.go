//go:build linux || darwin

package mem

import (
	"golang.org/x/sys/unix"
)

// fileSize is the size of a file that can be read and written. Errors: ErrNotMemory.
func fileSize(fd uintptr) (uint64, error) {
	flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
	if err != nil || flags&unix.O_ACCMODE != unix.O_RDWR {
		return 0, ErrNotMemory
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(fd), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, ErrNotMemory
	}
	return uint64(st.Size), nil
}

func closeDescriptor(fd uintptr) { _ = unix.Close(int(fd)) } // a copy is open

// id is a number for the file. Eventfds have one inode for all of them: each open one counts as a file of its own.
func (b *backing) id() uint64 {
	var st unix.Stat_t
	if err := unix.Fstat(int(b.f.Fd()), &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return uint64(b.f.Fd()) | 1<<63
	}
	return uint64(st.Dev)<<48 ^ st.Ino | 1<<62
}
