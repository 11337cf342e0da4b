//go:build linux || darwin

package mem

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A file's bytes are memory at any offset, count for the heap in granules, and are given back with the last mapping.
func TestTakeFile(t *testing.T) {
	w, err := OpenSize(MinWindow)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	h := w.NewHeap(Device, 16*Granule)
	f, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("abcdefgh"), 100000); err != nil {
		t.Fatal(err)
	}
	fd, err := dup(f.Fd())
	if err != nil {
		t.Fatal(err)
	}
	var size *AddressError
	if _, err := h.TakeFile(uintptr(fd), 100009, nil); !errors.As(err, &size) {
		t.Errorf("more than the file has: %v", err)
	}
	s, err := h.TakeFile(uintptr(fd), 100008, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.TakeFile(uintptr(fd), 8, nil); !errors.Is(err, ErrNotMemory) {
		t.Errorf("a descriptor that was taken: %v", err)
	}
	r, err := w.MapBytes(s, 100000, 8, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := w.Slice(r.Base, 8); err != nil || string(b) != "abcdefgh" || !w.Owned(r.Base) {
		t.Errorf("memory %q", b)
	}
	if _, err := w.MapBytes(s, 100000, 9, nil); !errors.As(err, &size) {
		t.Errorf("past the end: %v", err)
	}
	if n := h.Usage().Used; n != Granule {
		t.Errorf("%d bytes in use", n)
	}
	if err := errors.Join(s.Release(), w.UnmapBytes(r.Base)); err != nil || h.Usage().Used != 0 {
		t.Errorf("%v, %d bytes in use at the end", err, h.Usage().Used)
	}
}
