// Package source reads files of a program's source that an image or a report names, to show lines of them, and makes
// texts that somebody else wrote fit to be shown.
package source

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// Printable replaces characters of a text of several lines that are not valid, that control something, or that reorder
// or hide what stands beside them.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp):
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(s, string(unicode.ReplacementChar)))
}

// MaxFile is the size of the largest file that is read.
const MaxFile = 4 << 20

// endings are those of files that hold source. An image may name any file of the machine; only these are shown.
var endings = strings.Fields(`.cu .cuh .h .hh .hpp .hxx .inl .inc .c .cc .cpp .cxx .go .py .pyx .ptx .cl .jl .rs .cuf .f90
	.f .for .zig .mojo .mlir .ll`)

// Read finds a file: by its name as it stands, or by the end of it below the current folder.
func Read(name string) ([]byte, error) {
	if !slices.Contains(endings, strings.ToLower(path.Ext(name))) {
		return nil, fmt.Errorf("%q: the name is not that of a source file", name)
	}
	b, err := read(name)
	for rest := filepath.ToSlash(name); err != nil; {
		_, after, ok := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
		if !ok {
			return nil, err
		}
		rest = after
		b, err = read(filepath.FromSlash(rest))
	}
	return b, err
}

var errTooLong = errors.New("the file is too long to be shown")

// read reads a regular file: a name may be that of a pipe or a device, which has no end.
func read(name string) ([]byte, error) {
	if st, err := os.Stat(name); err != nil {
		return nil, err
	} else if !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(b) > MaxFile {
		return nil, errTooLong
	}
	return b, err
}
