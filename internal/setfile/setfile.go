// Package setfile reads the files of recorded sets, packed or not.
package setfile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// maxSize is the largest file that is read, in bytes, unpacked.
const maxSize = 1 << 30

// Read returns the contents of a file, or of the gzip of it under its name with .gz, from the first file system that
// has either. Only regular files are read, since a pipe may have no writer and a device no end, and no more than 1 GiB.
// An error is fs.ErrNotExist where none has the file.
func Read(name string, from ...fs.FS) ([]byte, error) {
	return readUpTo(maxSize, name, from...)
}

func readUpTo(limit int64, name string, from ...fs.FS) ([]byte, error) {
	for _, fsys := range from {
		for _, packed := range []bool{false, true} {
			file := name
			if packed {
				file += ".gz"
			}
			b, err := one(limit, file, packed, fsys)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, fmt.Errorf("%s: %w", file, err)
			default:
				return b, nil
			}
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func one(limit int64, file string, packed bool, fsys fs.FS) ([]byte, error) {
	st, err := fs.Stat(fsys, file)
	if err != nil {
		return nil, err
	}
	if t := st.Mode().Type(); t != 0 {
		return nil, fmt.Errorf("not a regular file (%v)", t)
	}
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := io.Reader(f)
	if packed {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	} else if st.Size() > limit {
		return nil, fmt.Errorf("%d bytes; at most %d are read", st.Size(), limit)
	}
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("more than %d bytes", limit)
	}
	return b, err
}
