package conform

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"testing"
	"testing/fstest"
)

// damage is a file system with one file changed.
type damage struct {
	fs.FS
	name   string
	change func([]byte) []byte
}

func (d damage) Open(name string) (fs.File, error) {
	if name != d.name {
		return d.FS.Open(name)
	}
	b, err := fs.ReadFile(d.FS, name)
	if err != nil {
		return nil, err
	}
	return fstest.MapFS{name: &fstest.MapFile{Data: d.change(b)}}.Open(name)
}

// flipped turns every bit of a compressed file.
func flipped(t *testing.T, z []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(z))
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range b {
		b[i] = ^b[i]
	}
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
