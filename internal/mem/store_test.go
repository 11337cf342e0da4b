package mem

import (
	"errors"
	"testing"

	"github.com/gocuda/cuda/internal/skip"
)

// As an H200 does: a store mapped twice is one memory; mappings have no access at first, and part of one cannot be
// unmapped.
func TestStore(t *testing.T) {
	w := open(t, MaxWindow)
	h := w.NewHeap(Device, 16<<20)
	if _, err := h.NewStore(100, nil); err == nil {
		t.Error("a store of 100 bytes")
	}
	s, err := h.NewStore(2*Granule, "owner")
	if errors.Is(err, errors.ErrUnsupported) {
		skip.Without(t, skip.Stores, err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if h.Usage().Used != 2*Granule || s.Size() != 2*Granule || s.Heap() != h || s.Owner != "owner" {
		t.Errorf("%+v, %d", h.Usage(), s.Size())
	}
	var oom *OutOfMemoryError
	if _, err := h.NewStore(32<<20, nil); !errors.As(err, &oom) {
		t.Error("beyond the limit:", err)
	}
	a, err := w.Reserve(8*Granule, 64<<20)
	if err != nil || a%(64<<20) != 0 {
		t.Fatalf("%#x, %v", a, err)
	}
	if base, size, ok := w.Reservation(a + 5*Granule + 3); !ok || base != a || size != 8*Granule {
		t.Error(base, size, ok)
	}
	if _, faulted := touch(w, a, false); !faulted {
		t.Error("reserved addresses are accessible")
	}
	if _, ok := w.Lookup(a); ok {
		t.Error("reserved addresses are an allocation")
	}
	bad := func(what string, err error) {
		t.Helper()
		var ae *AddressError
		if !errors.As(err, &ae) {
			t.Errorf("%s: %v", what, err)
		}
	}
	mapAt := func(addr, size, off uint64) error {
		_, err := w.Map(addr, size, s, off, nil)
		return err
	}
	bad("map more than the store", mapAt(a, 3*Granule, 0))
	bad("map from odd offset", mapAt(a, Granule, 1))
	bad("map beyond the reservation", mapAt(a+7*Granule, 2*Granule, 0))
	bad("map a part of a granule", mapAt(a, 4096, 0))
	bad("map elsewhere", mapAt(w.Base()+Special, Granule, 0))
	_, err = w.MapPart(a, Granule, PartAlign, s, 2*Granule, nil)
	bad("map a part behind the store", err)
	_, err = w.MapPart(a, Granule, PartAlign, s, 4096, nil)
	bad("map a part from odd offset", err)
	if r, err := w.MapPart(a, Granule, 2*PartAlign, s, 2*Granule-2*PartAlign, nil); err != nil ||
		r.Size != 2*PartAlign {
		t.Error("map the end of the store:", r, err)
	}
	if r, ok := w.Lookup(a + 2*PartAlign - 1); !ok || r.Base != a {
		t.Error("the part is not there")
	}
	if _, ok := w.Lookup(a + 2*PartAlign); ok {
		t.Error("there is memory behind the part")
	}
	if err := w.Unmap(a, Granule); err != nil {
		t.Error(err)
	}
	if err := mapAt(a, 2*Granule, 0); err != nil {
		t.Fatal(err)
	}
	bad("map again", mapAt(a+Granule, Granule, 0))
	if r, ok := w.Lookup(a + 100); !ok || r.Access != NoAccess || r.Store != s || r.Base != a || r.Size != 2*Granule ||
		r.Heap != h {
		t.Errorf("%+v, %v", r, ok)
	}
	if _, err := w.Slice(a, 1); err == nil {
		t.Error("a slice without access")
	}
	if _, faulted := touch(w, a, false); !faulted {
		t.Error("a mapping is accessible before Protect")
	}
	bad("access beyond the mapping", w.Protect(a, 4*Granule, ReadWrite))
	bad("access of a part", w.Protect(a, Granule, ReadWrite))
	bad("unknown access", w.Protect(a, 2*Granule, 2))
	if err := w.Protect(a, 2*Granule, ReadWrite); err != nil {
		t.Fatal(err)
	}
	if err := mapAt(a+4*Granule, Granule, Granule); err != nil {
		t.Fatal(err)
	}
	if err := w.Protect(a+4*Granule, Granule, ReadOnly); err != nil {
		t.Fatal(err)
	}
	one, err := w.Slice(a, 2*Granule)
	if err != nil {
		t.Fatal(err)
	}
	two, err := w.Slice(a+4*Granule, Granule)
	if err != nil {
		t.Fatal(err)
	}
	one[Granule+7] = 77
	if two[7] != 77 {
		t.Error("two mappings of a store are two memories")
	}
	if at, faulted := touch(w, a+4*Granule, true); !faulted || at != a+4*Granule {
		t.Error("memory for reading can be written")
	}
	bad("free of a mapping", h.Free(a))
	bad("free of a reservation with mappings", w.Unreserve(a, 8*Granule))
	bad("unmap a part", w.Unmap(a, Granule))

	// The handle goes first; the memory stays until the last mapping.
	if err := s.Retain(); err != nil {
		t.Error(err)
	}
	for range 2 {
		if err := s.Release(); err != nil {
			t.Error(err)
		}
	}
	if err := w.Unmap(a, 2*Granule); err != nil {
		t.Error(err)
	}
	if _, faulted := touch(w, a, false); !faulted {
		t.Error("unmapped memory is accessible")
	}
	if two[7] != 77 || h.Usage().Used != 2*Granule {
		t.Error("memory goes with the first mapping")
	}
	if err := w.Unmap(a, 8*Granule); err != nil { // holes are allowed
		t.Error(err)
	}
	if h.Usage().Used != 0 {
		t.Error("memory stays after the last mapping")
	}
	bad("release", s.Release())
	bad("retain", s.Retain())
	if err := w.Unmap(a, 8*Granule); err != nil {
		t.Error("nothing mapped:", err)
	}
	bad("free a part", w.Unreserve(a, Granule))
	if err := w.Unreserve(a, 8*Granule); err != nil {
		t.Error(err)
	}
	bad("free twice", w.Unreserve(a, 8*Granule))
	if _, _, ok := w.Reservation(a); ok {
		t.Error("the reservation stays")
	}

	// A window that is closed takes everything with it.
	s, err = h.NewStore(Granule, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = w.Reserve(Granule, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Map(a, Granule, s, 0, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	bad("release after Close", s.Release())
	if err := w.Unmap(a, Granule); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := w.Reserve(Granule, 0); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}
