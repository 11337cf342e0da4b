package mem

import (
	"slices"
	"sort"
	"unsafe"
)

// Register makes a range of the program's own memory known (cuMemHostRegister): Lookup, Slice and Foreign then find it.
// p may point into Go memory, which stays alive, but the caller must pin what moves or frees it otherwise. Errors:
// *AddressError when the range is empty, wraps, overlaps a registered range or lies in the window.
func (w *Window) Register(p unsafe.Pointer, size uint64, owner any) (Range, error) {
	r := &Range{Base: uint64(uintptr(p)), Size: size, Kind: Registered, Owner: owner, Access: ReadWrite, pointer: p}
	bad := func(why string) (Range, error) {
		return Range{}, &AddressError{"register", r.Base, size, why}
	}
	if size == 0 || p == nil {
		return bad("the range is empty")
	}
	if r.Base+size < r.Base {
		return bad("it goes beyond the end of the address space")
	}
	if r.Base < w.base+w.m.size && r.Base+size > w.base {
		return bad("it lies in the device address window")
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Range{}, ErrClosed
	}
	list := *w.foreign.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].End() > r.Base })
	if i < len(list) && list[i].Base < r.End() {
		return bad("it overlaps a range that is registered")
	}
	r.ID = w.ids.Add(1)
	next := slices.Insert(slices.Clone(list), i, r)
	w.foreign.Store(&next)
	if w.watcher != nil {
		w.watcher.Allocated(*r)
	}
	return *r, nil
}

// Unregister forgets a registered range; addr must be its first address.
func (w *Window) Unregister(addr uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	list := *w.foreign.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].Base >= addr })
	if i == len(list) || list[i].Base != addr {
		return &AddressError{Op: "unregister", Addr: addr, Why: "no registered range begins there"}
	}
	next := slices.Delete(slices.Clone(list), i, i+1)
	w.foreign.Store(&next)
	if w.watcher != nil {
		w.watcher.Freed(*list[i])
	}
	return nil
}

func (w *Window) foreignRange(addr uint64) *Range {
	list := *w.foreign.Load()
	i := sort.Search(len(list), func(i int) bool { return list[i].End() > addr })
	if i == len(list) || addr < list[i].Base {
		return nil
	}
	return list[i]
}

func (w *Window) lookupForeign(addr uint64) (Range, bool) {
	if r := w.foreignRange(addr); r != nil {
		return *r, true
	}
	return Range{}, false
}

// Foreign returns the host pointer of size bytes at an address in a registered range, nil when there is none or it ends
// before. It takes no lock.
func (w *Window) Foreign(addr, size uint64) unsafe.Pointer {
	r := w.foreignRange(addr)
	if r == nil || size > r.End()-addr {
		return nil
	}
	return unsafe.Add(r.pointer, addr-r.Base)
}
