package mem

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Kind is what a range of memory is.
type Kind uint8

// The kinds of memory.
const (
	Device     Kind = iota + 1 // memory of one device: cuMemAlloc, module variables, pools
	Pinned                     // host memory made by the driver: cuMemHostAlloc
	Managed                    // cuMemAllocManaged
	Registered                 // host memory of the program: cuMemHostRegister
)

var kindText = [...]string{"no memory", "device", "pinned", "managed", "registered"}

func (k Kind) String() string {
	if int(k) < len(kindText) {
		return kindText[k]
	}
	return "kind?"
}

// Range is one allocation or one registered range.
type Range struct {
	Base uint64 // device address, which is the host address too
	Size uint64 // bytes asked for
	ID   uint64 // never given twice in one window (CU_POINTER_ATTRIBUTE_BUFFER_ID)
	Kind Kind
	Heap *Heap // nil for registered ranges
	// Owner is what the allocation was made for; its meaning is the caller's.
	Owner any
	// Access is what may be done with it: ReadWrite but for mappings (Window.Map).
	Access Access
	// Store is the memory of a mapping; nil for everything else.
	Store *Store
	// Whole says that the allocation has granules of its own, which read as zero when it is made.
	Whole bool

	pointer unsafe.Pointer // registered ranges: keeps Go memory alive
}

// End returns the address behind the range.
func (r *Range) End() uint64 { return r.Base + r.Size }

// smallLimit is the size from which an allocation has granules of its own; smaller ones are packed into shared ones,
// one after the other at multiples of MinAlign. Both were measured on an H200 with cuMemGetInfo: 1 MiB - 1 is packed, 1
// MiB is not.
const smallLimit = 1 << 20

// Heap is the memory of one kind and owner, such as one software device. Methods may be called from several goroutines
// at once.
type Heap struct {
	w     *Window
	kind  Kind
	part  int // of the window
	limit uint64

	mu      sync.Mutex
	closed  bool
	used    uint64
	peak    uint64
	asked   uint64
	partial []*span     // chunks with free units
	kept    []keptUnits // of a watched window: freed, but not to be used again yet; oldest first
	all     map[*span]struct{}
	count   int
}

// Usage is what a heap holds, in bytes.
type Usage struct {
	Limit  uint64 // what it may hold
	Used   uint64 // granules held: what cuMemGetInfo takes from the total
	Peak   uint64 // the most that Used has been
	Asked  uint64 // sum of the allocations' sizes
	Ranges int    // live allocations
}

// NewHeap makes a heap of one kind in the window's first part. limit is the bytes it may hold; 0 means as much as the
// window.
func (w *Window) NewHeap(kind Kind, limit uint64) *Heap { return w.NewHeapIn(0, kind, limit) }

// NewHeapIn is NewHeap in a part of the window.
func (w *Window) NewHeapIn(part int, kind Kind, limit uint64) *Heap {
	if limit == 0 {
		limit = w.m.size
	}
	return &Heap{w: w, kind: kind, part: part, limit: limit, all: map[*span]struct{}{}}
}

// Window returns the window that the heap's memory lies in.
func (h *Heap) Window() *Window { return h.w }

// Kind returns the kind of the heap's memory.
func (h *Heap) Kind() Kind { return h.kind }

// Usage returns what the heap holds now.
func (h *Heap) Usage() Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Usage{h.limit, h.used, h.peak, h.asked, h.count}
}

// Alloc takes size bytes aligned to align, a power of two; MinAlign is the least that is given. The memory is zero
// where it was not used before. Errors: *OutOfMemoryError, *AddressError for a size of 0 or an alignment that is no
// power of two, ErrClosed.
func (h *Heap) Alloc(size, align uint64) (addr uint64, err error) {
	r, err := h.AllocFor(size, align, nil)
	return r.Base, err
}

// AllocFor is Alloc with an owner, which Lookup then gives with the range.
func (h *Heap) AllocFor(size, align uint64, owner any) (Range, error) {
	if size == 0 || align&(align-1) != 0 {
		why := "the size is 0"
		if size != 0 {
			why = "the alignment is no power of two"
		}
		return Range{}, &AddressError{Op: "allocate", Addr: align, Size: size, Why: why}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return Range{}, ErrClosed
	}
	if size > h.limit || size > h.w.m.size || align > h.w.m.size {
		return Range{}, &OutOfMemoryError{size, h.used, h.limit, nil}
	}
	var s *span
	var unit int
	var err error
	room := size + h.w.pad
	if size < smallLimit && align < smallLimit {
		if s, unit, err = h.pack(room, align); err != nil && len(h.kept) > 0 {
			h.forget(0)
			s, unit, err = h.pack(room, align)
		}
	} else {
		s, err = h.take(roundUp(room, Granule), max(align, Granule), nil)
	}
	if err != nil {
		var oom *OutOfMemoryError
		if errors.As(err, &oom) {
			oom.Size = size
			return Range{}, oom
		}
		return Range{}, &OutOfMemoryError{size, h.used, h.limit, err}
	}
	r := &Range{Base: h.w.base + s.off + uint64(unit)*MinAlign, Size: size, ID: h.w.ids.Add(1), Kind: h.kind, Heap: h,
		Owner: owner, Access: ReadWrite, Whole: s.chunk == nil}
	s.set(unit, r, r)
	h.asked += size
	h.count++
	if h.w.watcher != nil {
		h.w.watcher.Allocated(*r)
	}
	return *r, nil
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// take makes a span of whole granules.
func (h *Heap) take(n, align uint64, c *chunk) (*span, error) {
	if h.limit-min(h.used, h.limit) < n {
		return nil, &OutOfMemoryError{n, h.used, h.limit, nil}
	}
	s := &span{chunk: c, ranges: make([]atomic.Pointer[Range], 1)}
	if c != nil {
		s.ranges = make([]atomic.Pointer[Range], chunkUnits)
	}
	if err := h.w.take(s, h.part, n, align, c != nil); err != nil {
		return nil, err
	}
	h.all[s] = struct{}{}
	h.used += n
	h.peak = max(h.peak, h.used)
	return s, nil
}

// pack finds units for a small allocation.
func (h *Heap) pack(size, align uint64) (*span, int, error) {
	n, step := int(roundUp(size, MinAlign)/MinAlign), int(max(align, MinAlign)/MinAlign)
	for i := len(h.partial) - 1; i >= 0; i-- {
		s := h.partial[i]
		if at, ok := s.chunk.take(n, step); ok {
			if s.chunk.free == 0 {
				h.delist(s)
			}
			return s, at, nil
		}
	}
	s, err := h.take(Granule, Granule, newChunk())
	if err != nil {
		return nil, 0, err
	}
	h.enlist(s)
	at, _ := s.chunk.take(n, step) // an empty chunk holds any small allocation, at its start
	return s, at, nil
}

// set enters a range, or its absence, for the units that it covers.
func (s *span) set(unit int, r, to *Range) {
	if s.chunk == nil {
		s.ranges[0].Store(to)
		return
	}
	for i := range int(roundUp(r.Size, MinAlign) / MinAlign) {
		s.ranges[unit+i].Store(to)
	}
}

func (h *Heap) enlist(s *span) {
	s.chunk.index = len(h.partial)
	h.partial = append(h.partial, s)
}

func (h *Heap) delist(s *span) {
	if s.chunk.index < 0 {
		return
	}
	n := len(h.partial) - 1
	last := h.partial[n]
	h.partial[s.chunk.index], last.chunk.index = last, s.chunk.index
	h.partial = h.partial[:n]
	s.chunk.index = -1
	h.partial[:n+1][n] = nil // for the collector
}

// Free gives an allocation back; addr must be its first address. Errors: *AddressError when no allocation of this heap
// begins there, ErrClosed.
func (h *Heap) Free(addr uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	r, ok := h.w.Lookup(addr)
	switch {
	case !ok:
		return &AddressError{Op: "free", Addr: addr, Why: "no memory is allocated there"}
	case r.Heap != h:
		return &AddressError{Op: "free", Addr: addr,
			Why: "the memory is " + r.Kind.String() + " memory of another heap"}
	case r.Store != nil:
		return &AddressError{Op: "free", Addr: addr, Why: "the memory is mapped, not allocated"}
	case r.Base != addr:
		return &AddressError{Op: "free", Addr: addr, Why: "it is not the first address of the allocation"}
	}
	s := h.w.span(addr - h.w.base)
	h.asked -= r.Size
	h.count--
	unit := 0
	if s.chunk != nil {
		unit = int((addr - h.w.base - s.off) / MinAlign)
	}
	s.set(unit, &r, nil)
	if h.w.watcher != nil {
		h.w.watcher.Freed(r) // who looks it up from now on does not find it
	}
	if s.chunk == nil {
		return h.drop(s)
	}
	units := int(roundUp(r.Size+h.w.pad, MinAlign) / MinAlign)
	if h.w.watcher != nil {
		return h.keep(keptUnits{s, unit, units})
	}
	return h.release(s, unit, units)
}

// release gives units of a chunk back.
func (h *Heap) release(s *span, unit, units int) error {
	s.chunk.release(unit, units)
	if s.chunk.free == chunkUnits {
		h.delist(s)
		return h.drop(s)
	}
	if s.chunk.index < 0 {
		h.enlist(s)
	}
	return nil
}

func (h *Heap) drop(s *span) error {
	delete(h.all, s)
	h.used -= s.n
	return h.w.drop(s)
}

// Free gives back an allocation of any heap of the window; addr must be its first address. Errors as Heap.Free.
func (w *Window) Free(addr uint64) error {
	r, ok := w.Lookup(addr)
	if !ok {
		return &AddressError{Op: "free", Addr: addr, Why: "no memory is allocated there"}
	}
	if r.Heap == nil {
		return &AddressError{Op: "free", Addr: addr, Why: "the memory is registered, not allocated"}
	}
	return r.Heap.Free(addr)
}

// Ranges calls f for each live allocation, in no order, until f returns false. Allocations made or freed meanwhile may
// or may not be seen.
func (h *Heap) Ranges(f func(Range) bool) {
	for _, r := range h.live() {
		if !f(r) {
			return
		}
	}
}

func (h *Heap) live() (list []Range) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.all {
		for i := range s.ranges {
			if r := s.ranges[i].Load(); r != nil && r.Base == h.w.base+s.off+uint64(i)*MinAlign {
				list = append(list, *r)
			}
		}
	}
	return list
}

// FreeAll gives all allocations of the heap back, as the destruction of a device's last context does. The heap can be
// used on. Stores have their own owners and stay.
func (h *Heap) FreeAll() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	return h.freeAll()
}

func (h *Heap) freeAll() error {
	var first error
	for s := range h.all {
		for i := range s.ranges {
			s.ranges[i].Store(nil)
		}
		if err := h.drop(s); err != nil && first == nil {
			first = err
		}
	}
	h.partial, h.kept = nil, nil
	h.asked, h.count = 0, 0
	return first
}

// Close frees everything and ends the heap.
func (h *Heap) Close() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	h.closed = true
	if err := h.freeAll(); err != ErrClosed { // a window closed before has freed all
		return err
	}
	return nil
}
