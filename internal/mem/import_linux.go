package mem

import (
	"encoding/binary"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// isEventfd says whether a descriptor is an eventfd. It is a file without a type, as others are that tell themselves
// apart by name only.
func isEventfd(fd uintptr) bool {
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
	return err == nil && link == "anon_inode:[eventfd]"
}

// ready says whether the eventfd can be read or written without waiting.
func (b *backing) ready(events int16) bool {
	p := []unix.PollFd{{Fd: int32(b.f.Fd()), Events: events}}
	n, err := unix.Poll(p, 0)
	return err == nil && n == 1 && p[0].Revents&events != 0
}

// post leaves a count as it is that can grow no more: who waits finds it all the same.
func (b *backing) post() error {
	if !b.ready(unix.POLLOUT) {
		return nil
	}
	var one [8]byte
	binary.NativeEndian.PutUint64(one[:], 1)
	_, err := unix.Write(int(b.f.Fd()), one[:])
	return os.NewSyscallError("write", err)
}

// take asks not to wait at each read: others of the program may have the same open file, and somebody else may have
// taken the count since it was looked at.
func (b *backing) take() (bool, error) {
	if !b.ready(unix.POLLIN) {
		return false, nil
	}
	var count [8]byte
	_, err := unix.Preadv2(int(b.f.Fd()), [][]byte{count[:]}, -1, unix.RWF_NOWAIT)
	switch err {
	case unix.EAGAIN:
		return false, nil
	case unix.EOPNOTSUPP, unix.ENOSYS: // Linux before 5.6
		_, err = unix.Read(int(b.f.Fd()), count[:])
	}
	return err == nil, os.NewSyscallError("read", err)
}
