package image_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/skip"
)

// sparseFile makes a file of size bytes that begins with head and takes no space.
func sparseFile(t *testing.T, head string, size int64) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "sparse")
	if err := os.WriteFile(name, []byte(head), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, size); err != nil {
		skip.Without(t, skip.SparseFiles, err)
	}
	return name
}

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var a, b runtime.MemStats
	runtime.ReadMemStats(&a)
	f()
	runtime.ReadMemStats(&b)
	return b.TotalAlloc - a.TotalAlloc
}

// Files of 100 GiB are refused by their first bytes and their size, whatever they begin with: nothing of that size is
// allocated. Those of which the first bytes say that no device takes them give these bytes.
func TestReadFileSparse(t *testing.T) {
	elf := "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 9) + "\x02\x00"
	for _, c := range []struct {
		name, head string
		kind       image.Kind // of the FileError; Unknown: the head is the answer
		limit      int64
	}{
		{"zeros", "", image.Unknown, 0},
		{"PTX", ".version 8.0\n.target sm_90\n", image.PTX, image.MaxText},
		{"container", "\x50\xed\x55\xba\x01\x00\x10\x00", image.Fatbin, image.MaxFile},
		{"cubin", elf + "\xbe\x00", image.Cubin, image.MaxELF},
		{"host object", elf + "\x3e\x00", image.HostObject, image.MaxFile},
		{"archive", "!<arch>\n", image.Archive, image.MaxFile},
		{"Tile IR", "\x7fTileIR\x00\x0d\x01\x00\x00", image.TileIR, image.MaxTileIR},
		{"LTO-IR", "\xed\x43\x4e\x7f", image.LTOIR, image.MaxFile},
		{"wrapper", "\xb1\x43\x62\x46\x01\x00\x00\x00", image.Unknown, 0},
	} {
		const size = 100 << 30
		name := sparseFile(t, c.head, size)
		var data []byte
		var err error
		if n := allocated(func() { data, err = image.ReadFile(name) }); n > 1<<20 {
			t.Errorf("%s: %d bytes allocated", c.name, n)
		}
		var f *image.FileError
		switch {
		case c.limit == 0:
			if err != nil || len(data) == 0 || len(data) > 1<<16 || !bytes.HasPrefix(data, []byte(c.head)) {
				t.Errorf("%s: %d bytes, %v", c.name, len(data), err)
			}
		case !errors.As(err, &f) || f.Kind != c.kind || f.Size != size || f.Limit != c.limit || f.Mode != 0:
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// What can be read is read whole, over the length that is looked at first.
func TestReadFileWhole(t *testing.T) {
	dir := t.TempDir()
	for _, n := range []int{0, 1, 4095, 4096, 4097, 300000} {
		want := []byte((".version 9.0\n" + strings.Repeat("// \n", n/4+1))[:n])
		name := filepath.Join(dir, "text")
		if err := os.WriteFile(name, want, 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := image.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: %d, %v", n, len(got), err)
		}
		for _, size := range []int64{-1, int64(n), int64(n) + 10} { // a pipe, a file, and one that became shorter
			if n == 0 && size == 0 {
				continue
			}
			if got, err := image.Read(bytes.NewReader(want), "text", size); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes of %d: %d, %v", n, size, len(got), err)
			}
		}
		fsys := fstest.MapFS{"a": &fstest.MapFile{Data: want}}
		if got, err := image.ReadFS(fsys, "a"); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes of a file system: %d, %v", n, len(got), err)
		}
	}
}

type endless struct{ b byte }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.b
	}
	return len(p), nil
}

// A stream without an end is read to the limit of what it begins with.
func TestReadEndless(t *testing.T) {
	var f *image.FileError
	_, err := image.Read(endless{' '}, "spaces", -1)
	if !errors.As(err, &f) || f.Limit != image.MaxText || f.Size >= 0 {
		t.Errorf("spaces: %v", err)
	}
	if b, err := image.Read(endless{0}, "zeros", -1); err != nil || len(b) > 1<<16 {
		t.Errorf("zeros: %d bytes, %v", len(b), err)
	}
}

func TestReadFileOther(t *testing.T) {
	dir := t.TempDir()
	if _, err := image.ReadFile(filepath.Join(dir, "absent")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
	var f *image.FileError
	if _, err := image.ReadFile(dir); !errors.As(err, &f) || f.Mode != fs.ModeDir {
		t.Errorf("directory: %v", err)
	}
	if _, err := image.ReadFS(fstest.MapFS{"a/b": {}}, "a"); !errors.As(err, &f) || f.Mode != fs.ModeDir {
		t.Errorf("directory of a file system: %v", err)
	}
	locked := filepath.Join(dir, "locked")
	if err := os.WriteFile(locked, []byte("x"), 0o200); err != nil {
		t.Fatal(err)
	}
	if probe, err := os.Open(locked); err == nil { // as root or where there are no such modes
		_ = probe.Close()
	} else if _, err := image.ReadFile(locked); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable: %v", err)
	}
}
