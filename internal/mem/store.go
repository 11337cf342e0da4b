package mem

import (
	"fmt"
	"slices"
	"sort"
	"sync/atomic"
)

// Access is what may be done with mapped memory (CUmemAccess_flags).
type Access uint8

// Access rights, with the driver's numbers.
const (
	NoAccess  Access = 0
	ReadOnly  Access = 1
	ReadWrite Access = 3
)

// Store is memory without an address (cuMemCreate): it can be mapped in reserved ranges of the window, in several at
// once. It lives until its last owner has released it and its last mapping is gone. Hosts without a way to map memory
// twice have no stores.
type Store struct {
	Owner any // what it was made for; its meaning is the caller's
	heap  *Heap
	size  uint64
	held  uint64 // what counts for the heap
	b     *backing
	what  Published // how other processes open it; the zero value where they cannot

	refs int // owners and mappings; under the window's lock
}

// reservation is a range of the window that the program reserved (cuMemAddressReserve).
type reservation struct {
	extent
	maps  []*mapped // by offset
	owned bool      // made by ReserveOwned
}

type mapped struct {
	extent
	store *Store // nil: addresses without memory
	span  *span
}

// Size returns the store's bytes.
func (s *Store) Size() uint64 { return s.size }

// Heap returns the heap that the memory was taken from.
func (s *Store) Heap() *Heap { return s.heap }

// NewStore takes memory of the heap without an address; size is a multiple of Granule. Errors: *AddressError for
// another size, *OutOfMemoryError, ErrClosed, and errors.ErrUnsupported on hosts without stores.
func (h *Heap) NewStore(size uint64, owner any) (*Store, error) {
	return h.newStore(size, owner, func() (*backing, Published, error) {
		b, err := newBacking(size)
		return b, Published{}, err
	})
}

// NewPublishedStore is NewStore for memory that other processes can open by Store.Published, too.
func (h *Heap) NewPublishedStore(size uint64, owner any) (*Store, error) {
	return h.newStore(size, owner, func() (*backing, Published, error) {
		p, err := newPublication(size)
		if err != nil {
			return nil, Published{}, err
		}
		p.what.Bytes = size
		return p.b, p.what, nil
	})
}

func (h *Heap) newStore(size uint64, owner any, make func() (*backing, Published, error)) (*Store, error) {
	if size == 0 || size%Granule != 0 {
		return nil, &AddressError{Op: "make store", Size: size, Why: "the size is not a multiple of the granularity"}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, ErrClosed
	}
	if h.limit-min(h.used, h.limit) < size {
		return nil, &OutOfMemoryError{size, h.used, h.limit, nil}
	}
	b, what, err := make()
	if err != nil {
		return nil, fmt.Errorf("mem: the host gives no memory that can be mapped: %w", err)
	}
	s := &Store{Owner: owner, heap: h, size: size, held: size, b: b, what: what, refs: 1}
	if !h.w.keep(s) {
		_ = b.close()
		return nil, ErrClosed
	}
	h.used += size
	h.peak = max(h.peak, h.used)
	return s, nil
}

// keep makes a store one of the window's, unless that is closed.
func (w *Window) keep(s *Store) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.stores[s] = struct{}{}
	}
	return !w.closed
}

// Retain adds an owner.
func (s *Store) Retain() error {
	w := s.heap.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.refs == 0 {
		return &AddressError{Op: "retain store", Size: s.size, Why: "it is gone"}
	}
	s.refs++
	return nil
}

// Release takes an owner away. What is mapped stays mapped.
func (s *Store) Release() error {
	gone, err := s.release()
	if err != nil {
		return err
	}
	return free(gone)
}

func (s *Store) release() (gone []*Store, err error) {
	w := s.heap.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if s.refs == 0 {
		return nil, &AddressError{Op: "release store", Size: s.size, Why: "it is gone"}
	}
	return w.unref([]*Store{s}), nil
}

// unref takes one reference from each store and returns those that have none left. It needs the window's lock; they are
// freed without it, since a heap's lock comes before.
func (w *Window) unref(stores []*Store) (gone []*Store) {
	for _, s := range stores {
		if s.refs--; s.refs == 0 {
			delete(w.stores, s)
			gone = append(gone, s)
		}
	}
	return gone
}

func free(stores []*Store) error {
	var first error
	for _, s := range stores {
		if err := s.b.close(); err != nil && first == nil {
			first = err
		}
		s.heap.giveLimit(s.held)
	}
	return first
}

// Reserve takes a range of the window's last part without memory. size is a multiple of Granule, align 0 or a power of
// two. Errors: *AddressError.
func (w *Window) Reserve(size, align uint64) (addr uint64, err error) {
	return w.reserve(size, align, false)
}

// ReserveOwned is Reserve for addresses that the program has not asked for as such, of which Owned says so.
func (w *Window) ReserveOwned(size uint64) (addr uint64, err error) { return w.reserve(size, 0, true) }

// Owned says whether an address lies in a range of ReserveOwned.
func (w *Window) Owned(addr uint64) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, _, err := w.inReservation("", addr&^uint64(Granule-1), Granule)
	return err == nil && r.owned
}

func (w *Window) reserve(size, align uint64, owned bool) (addr uint64, err error) {
	if size == 0 || size%Granule != 0 || align&(align-1) != 0 {
		return 0, &AddressError{"reserve", align, size,
			"the size is not a multiple of the granularity or the alignment no power of two"}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return 0, ErrClosed
	}
	off, err := w.find(len(w.parts)-1, size, max(align, Granule), false)
	if err != nil {
		return 0, err
	}
	i := w.reservedAt(off)
	w.reserved = slices.Insert(w.reserved, i, &reservation{extent: extent{off, size}, owned: owned})
	return w.base + off, nil
}

// reservedAt returns the index of the first reservation that ends behind off.
func (w *Window) reservedAt(off uint64) int {
	return sort.Search(len(w.reserved), func(i int) bool { return w.reserved[i].off+w.reserved[i].n > off })
}

// inReservation finds the reservation that holds a whole range.
func (w *Window) inReservation(op string, addr, size uint64) (*reservation, uint64, error) {
	off := addr - w.base
	if off%Granule != 0 || size == 0 || size%Granule != 0 {
		return nil, 0, &AddressError{op, addr, size, "address or size is not a multiple of the granularity"}
	}
	if off < w.m.size {
		if i := w.reservedAt(off); i < len(w.reserved) {
			if r := w.reserved[i]; off >= r.off && size <= r.n-(off-r.off) {
				return r, off, nil
			}
		}
	}
	return nil, 0, &AddressError{op, addr, size, "it is not in one reserved range"}
}

// Reservation returns the reserved range that an address lies in.
func (w *Window) Reservation(addr uint64) (base, size uint64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if r, _, err := w.inReservation("", addr&^uint64(Granule-1), Granule); err == nil {
		return w.base + r.off, r.n, true
	}
	return 0, 0, false
}

// Unreserve gives a reserved range back, all of it; nothing may be mapped there.
func (w *Window) Unreserve(addr, size uint64) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	r, off, err := w.inReservation("free reserved range", addr, size)
	if err != nil {
		return err
	}
	if r.off != off || r.n != size {
		return &AddressError{"free reserved range", addr, size, "it is not the whole reserved range"}
	}
	if len(r.maps) > 0 {
		return &AddressError{"free reserved range", addr, size, "memory is mapped in it"}
	}
	w.reserved = slices.DeleteFunc(w.reserved, func(x *reservation) bool { return x == r })
	w.putAside(extent{off, size})
	return nil
}

// Map gives a part of a reserved range the memory of a store from an offset on. It cannot be accessed before Protect.
// Errors: *AddressError.
func (w *Window) Map(addr, size uint64, s *Store, offset uint64, owner any) (Range, error) {
	if offset%Granule != 0 || size > s.size {
		return Range{}, &AddressError{"map", addr, size, "the store does not hold that"}
	}
	return w.mapRange(addr, size, s, offset, 0, size, owner)
}

// PartAlign is what the offset of MapPart is a multiple of.
const PartAlign = 64 << 10

// MapPart is Map where only the first bytes of the range have memory, which may lie between granules of the store.
func (w *Window) MapPart(addr, size, bytes uint64, s *Store, offset uint64, owner any) (Range, error) {
	if offset%PartAlign != 0 || bytes > size {
		return Range{}, &AddressError{"map", addr, size, "the store does not hold that"}
	}
	return w.mapRange(addr, size, s, offset, 0, bytes, owner)
}

// mapRange is Map where only a part of what is mapped, bytes from lead on, is a range of memory that can be found.
func (w *Window) mapRange(addr, size uint64, s *Store, offset, lead, bytes uint64, owner any) (Range, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Range{}, ErrClosed
	}
	r, off, err := w.inReservation("map", addr, size)
	if err != nil {
		return Range{}, err
	}
	// what lies behind the store's end has addresses and nothing else
	if offset > s.size || lead+bytes > s.size-offset || s.refs == 0 || s.heap.w != w {
		return Range{}, &AddressError{"map", addr, size, "the store does not hold that"}
	}
	i, ok := r.room(off, size)
	if !ok {
		return Range{}, &AddressError{"map", addr, size, "memory is mapped there"}
	}
	if err := w.m.share(off, size, s.b, offset); err != nil {
		return Range{}, err
	}
	s.refs++
	return w.enter(r, i, &mapped{extent: extent{off, size}, store: s}, Range{Base: addr + lead, Size: bytes,
		Kind: s.heap.kind, Heap: s.heap, Owner: owner, Store: s}), nil
}

// MapNothing gives a part of a reserved range an owner and no memory: Lookup finds it, and no access to it succeeds.
// Unmap ends that. Errors: *AddressError, ErrClosed.
func (w *Window) MapNothing(addr, size uint64, kind Kind, owner any) (Range, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return Range{}, ErrClosed
	}
	r, off, err := w.inReservation("map", addr, size)
	if err != nil {
		return Range{}, err
	}
	i, ok := r.room(off, size)
	if !ok {
		return Range{}, &AddressError{"map", addr, size, "memory is mapped there"}
	}
	return w.enter(r, i, &mapped{extent: extent{off, size}},
		Range{Base: addr, Size: size, Kind: kind, Owner: owner}), nil
}

// room is the place of a new mapping in r.maps, if nothing is mapped there yet.
func (r *reservation) room(off, size uint64) (i int, ok bool) {
	i = sort.Search(len(r.maps), func(i int) bool { return r.maps[i].off+r.maps[i].n > off })
	return i, i == len(r.maps) || r.maps[i].off >= off+size
}

// enter makes a mapping known, without access to it.
func (w *Window) enter(r *reservation, i int, m *mapped, g Range) Range {
	g.ID, g.Access = w.ids.Add(1), NoAccess
	m.span = &span{off: m.off, n: m.n, ranges: make([]atomic.Pointer[Range], 1)}
	m.span.ranges[0].Store(&g)
	r.maps = slices.Insert(r.maps, i, m)
	w.setSpan(m.off, m.n, m.span)
	if w.watcher != nil {
		w.watcher.Allocated(g)
	}
	return g
}

// whole returns the mappings that touch a range, all of which must lie in it.
func (r *reservation) whole(op string, addr, off, size uint64) (first, end int, err error) {
	first = sort.Search(len(r.maps), func(i int) bool { return r.maps[i].off+r.maps[i].n > off })
	end = first
	for end < len(r.maps) && r.maps[end].off < off+size {
		if m := r.maps[end]; m.off < off || m.off+m.n > off+size {
			return 0, 0, &AddressError{op, addr, size, "it cuts a mapping"}
		}
		end++
	}
	return first, end, nil
}

// Unmap takes the memory from a part of a reserved range, which must hold whole mappings; it may also hold none.
func (w *Window) Unmap(addr, size uint64) error {
	gone, err := w.unmap(addr, size)
	if e := free(gone); err == nil {
		err = e
	}
	return err
}

// unmap returns the stores that have no owner left.
func (w *Window) unmap(addr, size uint64) (gone []*Store, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, ErrClosed
	}
	r, off, err := w.inReservation("unmap", addr, size)
	if err != nil {
		return nil, err
	}
	first, end, err := r.whole("unmap", addr, off, size)
	if err != nil {
		return nil, err
	}
	var stores []*Store
	for _, m := range r.maps[first:end] {
		w.setSpan(m.off, m.n, nil)
		if w.watcher != nil {
			w.watcher.Freed(*m.span.ranges[0].Load())
		}
		if m.store == nil {
			continue
		}
		if e := w.m.unshare(m.off, m.n); e != nil && err == nil {
			err = e
		}
		if w.large(m.off) {
			w.m.adviseHuge(m.off, m.n) // as its neighbours, so that they merge
		}
		stores = append(stores, m.store)
	}
	r.maps = slices.Delete(r.maps, first, end)
	return w.unref(stores), err
}

// Protect sets the access rights of a part of a reserved range, which must be covered by whole mappings. Those without
// memory stay as they are.
func (w *Window) Protect(addr, size uint64, a Access) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	r, off, err := w.inReservation("set access of", addr, size)
	if err != nil {
		return err
	}
	first, end, err := r.whole("set access of", addr, off, size)
	if err != nil {
		return err
	}
	var covered uint64
	for _, m := range r.maps[first:end] {
		covered += m.n
	}
	if covered != size {
		return &AddressError{"set access of", addr, size, "not all of it is mapped"}
	}
	if a != NoAccess && a != ReadOnly && a != ReadWrite {
		return &AddressError{"set access of", addr, size, fmt.Sprintf("there are no access rights %d", a)}
	}
	for _, m := range r.maps[first:end] {
		if m.store == nil {
			continue
		}
		if err := w.m.protect(m.off, m.n, a); err != nil {
			return err
		}
		g := *m.span.ranges[0].Load()
		g.Access = a
		m.span.ranges[0].Store(&g)
	}
	return nil
}
