package softnccl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// segment is a memory file: of this process, or of another one.
type segment struct {
	name segmentName
	file *os.File // of this process's own
	mem  []byte
}

// mostSegment bounds a memory file.
const mostSegment = 1 << 40

func fileName(cookie uint64) string { return fmt.Sprintf("gocuda-nccl-%016x", cookie) }

// newSegment makes a memory file that cannot be made smaller: who has it mapped never meets its end.
func newSegment(size uint64) (*segment, error) {
	if size == 0 || size > mostSegment {
		return nil, fmt.Errorf("%d bytes", size)
	}
	random := newCookie()
	cookie := binary.LittleEndian.Uint64(random[:])
	fd, err := unix.MemfdCreate(fileName(cookie), unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	s := &segment{file: os.NewFile(uintptr(fd), fileName(cookie))}
	if err = s.file.Truncate(int64(size)); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_SEAL)
	}
	if err == nil {
		s.mem, err = unix.Mmap(fd, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = s.file.Close()
		return nil, err
	}
	s.name = segmentName{uint32(os.Getpid()), uint32(fd), cookie, size}
	return s, nil
}

var errSegment = errors.New("not the memory that was meant")

// openSegment maps the memory file of another process, to be read. It has to be the one that was meant, which its name
// says, and sealed: else its owner could take pages away.
func openSegment(n segmentName) (*segment, error) {
	if n.size == 0 || n.size > mostSegment {
		return nil, errSegment
	}
	path := fmt.Sprintf("/proc/%d/fd/%d", n.pid, n.fd)
	meant := func(path string) bool {
		link, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(link, "/memfd:"+fileName(n.cookie))
	}
	if !meant(path) {
		return nil, errSegment
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	seals, err := unix.FcntlInt(f.Fd(), unix.F_GET_SEALS, 0)
	if err != nil || seals&unix.F_SEAL_SHRINK == 0 || info.Size() < int64(n.size) ||
		!meant(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) {
		return nil, errSegment
	}
	mem, err := unix.Mmap(int(f.Fd()), 0, int(n.size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return &segment{name: n, mem: mem}, nil
}

// close gives the memory up; nil is no memory.
func (s *segment) close() {
	if s == nil || s.mem == nil {
		return
	}
	_ = unix.Munmap(s.mem) // mapped by the functions above
	s.mem = nil
	if s.file != nil {
		_ = s.file.Close()
	}
}
