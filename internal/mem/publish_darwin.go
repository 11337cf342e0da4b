package mem

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// cookiePath is a file in the user's folder for temporary files: macOS has neither memory files nor a way to another
// process's files.
func cookiePath(cookie uint64) string {
	return filepath.Join(os.TempDir(), fmt.Sprintf("gocuda-%016x", cookie))
}

func newCookieBacking(size, cookie uint64) (*backing, error) {
	f, err := os.OpenFile(cookiePath(cookie), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Truncate(int64(size)); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &backing{f: f, named: true}, nil
}

// published: a file descriptor does not tell the file's name.
func (b *backing) published(uint64) Published { return Published{} }

func openCookieBacking(p Published) (*backing, error) {
	f, err := os.OpenFile(cookiePath(p.Cookie), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotPublished
	}
	if err != nil {
		return nil, err
	}
	return sized(f, p.Size)
}
