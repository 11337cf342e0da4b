package image

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// headSize is how many first bytes decide what a file is. Comments in front of .version may be longer: such a text is
// read whole and looked at then.
const headSize = 4096

// limit is the largest image of a kind in bytes.
func (k Kind) limit() int64 {
	switch k {
	case PTX, Unknown: // unknown bytes may be text behind a long comment
		return MaxText
	case TileIR:
		return MaxTileIR
	case Cubin:
		return MaxELF
	}
	return MaxFile
}

// FileError says why a file is not read as an image.
type FileError struct {
	Name  string
	Mode  fs.FileMode // its type, when the file is not a regular one; else 0
	Kind  Kind        // what the file begins with, when it is too large
	Size  int64       // in bytes; -1 when only reading could tell
	Limit int64       // the largest image of this kind, in bytes
}

func (e *FileError) Error() string {
	switch {
	case e.Mode != 0:
		return fmt.Sprintf("%s is a %s, not a regular file", e.Name, modeName(e.Mode))
	case e.Size < 0:
		return fmt.Sprintf("%s has more than %d bytes, the limit for %s images", e.Name, e.Limit, e.Kind)
	}
	return fmt.Sprintf("%s has %d bytes; the limit for %s images is %d", e.Name, e.Size, e.Kind, e.Limit)
}

func modeName(m fs.FileMode) string {
	switch m {
	case fs.ModeDir:
		return "directory"
	case fs.ModeNamedPipe:
		return "named pipe"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice | fs.ModeCharDevice, fs.ModeDevice:
		return "device"
	}
	return "special file"
}

// ReadFile reads an image file of the host. Anything but a regular file is refused without opening it: a pipe may have
// no writer, a device no end, and opening one may have effects. Errors are a [*FileError] or those of package os.
func ReadFile(name string) ([]byte, error) {
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if err := regular(name, st); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may have become a pipe since
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := regular(name, st); err != nil {
		return nil, err
	}
	return Read(f, name, st.Size())
}

// ReadFS is [ReadFile] of a file system.
func ReadFS(fsys fs.FS, name string) ([]byte, error) {
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := regular(name, st); err != nil {
		return nil, err
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, name, st.Size())
}

func regular(name string, st fs.FileInfo) error {
	if t := st.Mode().Type(); t != 0 {
		return &FileError{Name: name, Mode: t}
	}
	return nil
}

// Read reads an image of size bytes, or up to its end when size is negative. The first bytes say what it is and so how
// large it may be; memory for the rest is taken only then. Of bytes that are neither text nor a known format the first
// are enough to refuse them. Errors are a [*FileError] or the reader's.
func Read(r io.Reader, name string, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil // of a file in /proc too, as the driver sees it, which asks for the size
	}
	head := make([]byte, headSize)
	if size > 0 {
		head = head[:min(size, headSize)]
	}
	n, err := io.ReadFull(r, head)
	head = head[:n]
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), err == nil && int64(n) == size:
		return head, nil
	case err != nil:
		return nil, err
	}
	kind := Detect(head)
	if kind == FatbinWrapper || kind == Unknown && bytes.IndexByte(head, 0) >= 0 {
		return head, nil
	}
	limit := kind.limit()
	if size > limit {
		return nil, &FileError{Name: name, Kind: kind, Size: size, Limit: limit}
	}
	if size > 0 {
		data := make([]byte, size)
		copy(data, head)
		n, err := io.ReadFull(r, data[len(head):])
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil // it became shorter since
		}
		return data[:len(head)+n], err
	}
	data, err := io.ReadAll(io.MultiReader(bytes.NewReader(head), io.LimitReader(r, limit+1-int64(len(head)))))
	if err == nil && int64(len(data)) > limit {
		return nil, &FileError{Name: name, Kind: kind, Size: -1, Limit: limit}
	}
	return data, err
}
