package setfile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda/internal/skip"
)

func packed(t *testing.T, b []byte) *fstest.MapFile {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: out.Bytes()}
}

func TestRead(t *testing.T) {
	first := fstest.MapFS{"a": {Data: []byte("plain")}, "b.gz": packed(t, []byte("first")),
		"bad.gz": {Data: []byte("this is no gzip")}, "dir": {Mode: fs.ModeDir}, "pipe": {Mode: fs.ModeNamedPipe},
		"zeros.gz": packed(t, make([]byte, 1001)), "long": {Data: make([]byte, 1001)},
		"fits.gz": packed(t, make([]byte, 1000))}
	second := fstest.MapFS{"a": {Data: []byte("no")}, "c": {Data: []byte("second")}, "bad": {Data: []byte("no")}}
	for name, want := range map[string]string{"a": "plain", "b": "first", "c": "second",
		"fits": string(make([]byte, 1000))} {
		if b, err := readUpTo(1000, name, first, second); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for name, words := range map[string]string{"bad": "bad.gz: gzip", "dir": "not a regular file",
		"pipe": "not a regular file", "zeros": "zeros.gz: more than 1000 bytes", "long": "1001 bytes; at most 1000"} {
		if b, err := readUpTo(1000, name, first, second); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if _, err := Read("absent", first, second); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// TestEndless: a link to a device without end is refused.
func TestEndless(t *testing.T) {
	dir := t.TempDir()
	if _, err := os.Stat("/dev/zero"); err != nil {
		skip.Without(t, skip.Linux, "/dev/zero")
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "x")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read("x", os.DirFS(dir)); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Error(err)
	}
}
