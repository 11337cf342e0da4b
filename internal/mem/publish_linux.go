package mem

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// cookieName is the name that a memory file shows in /proc.
func cookieName(cookie uint64) string { return fmt.Sprintf("gocuda-%016x", cookie) }

func newCookieBacking(size, cookie uint64) (*backing, error) {
	fd, err := unix.MemfdCreate(cookieName(cookie), unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	f := os.NewFile(uintptr(fd), cookieName(cookie))
	if err := f.Truncate(int64(size)); err != nil {
		_ = f.Close()
		return nil, err
	}
	return &backing{f: f}, nil
}

// published says how other processes open a file that this one was given, if it has a cookie.
func (b *backing) published(size uint64) (p Published) {
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", b.f.Fd()))
	if err != nil {
		return p
	}
	if n, err := fmt.Sscanf(link, "/memfd:gocuda-%016x", &p.Cookie); n != 1 || err != nil {
		return Published{}
	}
	return Published{Process: int32(os.Getpid()), File: b.number(), Cookie: p.Cookie, Size: size, Bytes: size}
}

// openCookieBacking opens the file through the other process's list of files, which the system allows to processes of
// the same user.
func openCookieBacking(p Published) (*backing, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", p.Process, p.File)
	// It has to be the file that was meant, which its name says: before it is opened, since to open something else may
	// do something, and after.
	meant := func(path string) bool {
		link, err := os.Readlink(path)
		return err == nil && strings.HasPrefix(link, "/memfd:"+cookieName(p.Cookie))
	}
	if p.Process <= 0 || p.File < 0 || !meant(path) {
		return nil, ErrNotPublished
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNotPublished, err)
	}
	if !meant(fmt.Sprintf("/proc/self/fd/%d", f.Fd())) {
		_ = f.Close()
		return nil, ErrNotPublished
	}
	return sized(f, p.Size)
}
