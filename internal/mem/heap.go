package mem

import (
	"sync"
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

	charge  uint64
	pointer unsafe.Pointer // registered ranges: keeps Go memory alive
}

// End returns the address behind the range.
func (r *Range) End() uint64 { return r.Base + r.Size }

// smallLimit is the largest allocation that shares a granule.
const smallLimit = 512 << 10

// slotSizes are the sizes that small allocations are rounded to: powers of two and one between each two. Slots of a power of two
// are aligned to their size.
var slotSizes = [...]uint64{
	512, 1 << 10, 1536, 2 << 10, 3 << 10, 4 << 10, 6 << 10, 8 << 10, 12 << 10, 16 << 10, 24 << 10, 32 << 10, 48 << 10,
	64 << 10, 96 << 10, 128 << 10, 192 << 10, 256 << 10, 384 << 10, 512 << 10,
}

// Heap is the memory of one kind and owner, such as one software device. Methods may be called from several goroutines at once.
type Heap struct {
	w     *Window
	kind  Kind
	limit uint64

	mu      sync.Mutex
	closed  bool
	used    uint64
	peak    uint64
	partial [len(slotSizes)][]*span // with free slots
	all     map[*span]struct{}
	count   int
}

// Usage is what a heap holds, in bytes.
type Usage struct {
	Limit  uint64 // what it may hold
	Used   uint64 // allocations, rounded up to MinAlign, those with granules of their own to Granule
	Peak   uint64 // the most that Used has been
	Ranges int    // live allocations
}

// NewHeap makes a heap of one kind. limit is the bytes it may hold; 0 means as much as the window.
func (w *Window) NewHeap(kind Kind, limit uint64) *Heap {
	if limit == 0 {
		limit = w.m.size
	}
	return &Heap{w: w, kind: kind, limit: limit, all: map[*span]struct{}{}}
}

// Window returns the window that the heap's memory lies in.
func (h *Heap) Window() *Window { return h.w }

// Kind returns the kind of the heap's memory.
func (h *Heap) Kind() Kind { return h.kind }

// Usage returns what the heap holds now.
func (h *Heap) Usage() Usage {
	h.mu.Lock()
	defer h.mu.Unlock()
	return Usage{h.limit, h.used, h.peak, h.count}
}

// Alloc takes size bytes aligned to align, a power of two; MinAlign is the least that is given. The memory is zero where it was not
// used before. Errors: *OutOfMemoryError, *AddressError for a size of 0 or an alignment that is no power of two, ErrClosed.
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
	small := size <= smallLimit && align <= smallLimit
	unit := uint64(Granule)
	if small {
		unit = MinAlign
	}
	charge := (size + unit - 1) &^ (unit - 1)
	if charge < size || charge > h.w.m.size || align > h.w.m.size || h.limit-h.used < charge {
		return Range{}, &OutOfMemoryError{size, h.used, h.limit, nil}
	}
	var s *span
	var err error
	i := 0
	if small {
		s, i, err = h.slot(size, align)
	} else {
		s, err = h.large(charge, max(align, Granule))
	}
	if err != nil {
		return Range{}, &OutOfMemoryError{size, h.used, h.limit, err}
	}
	r := &Range{Base: h.w.base + s.off + uint64(i)*s.slot, Size: size, ID: h.w.ids.Add(1), Kind: h.kind, Heap: h, Owner: owner, charge: charge}
	s.ranges[i].Store(r)
	h.used += charge
	h.peak = max(h.peak, h.used)
	h.count++
	return *r, nil
}

func (h *Heap) large(n, align uint64) (*span, error) {
	s := newLargeSpan()
	if err := h.w.take(s, n, align, false); err != nil {
		return nil, err
	}
	h.all[s] = struct{}{}
	return s, nil
}

// slot takes a slot of the class that fits.
func (h *Heap) slot(size, align uint64) (*span, int, error) {
	class := slotClass(size, align)
	list := h.partial[class]
	var s *span
	if len(list) > 0 {
		s = list[len(list)-1]
	} else {
		s = newSlotSpan(class)
		if err := h.w.take(s, Granule, Granule, true); err != nil {
			return nil, 0, err
		}
		h.all[s] = struct{}{}
		h.enlist(s)
	}
	i := s.nextFree()
	s.used[i/64] |= 1 << (i % 64)
	s.cursor = (i + 1) % len(s.ranges)
	if s.live++; s.live == len(s.ranges) {
		h.delist(s)
	}
	return s, i, nil
}

// slotClass returns the index in slotSizes of the least slot that holds size bytes and is aligned to align.
func slotClass(size, align uint64) int {
	for i, n := range slotSizes {
		if n >= size && n&(max(align, MinAlign)-1) == 0 {
			return i
		}
	}
	return len(slotSizes) - 1 // size and align are at most smallLimit, the last slot's size
}

func newLargeSpan() *span { return newSpan(0, 1) }

func newSlotSpan(class int) *span {
	n := slotSizes[class]
	s := newSpan(n, int(Granule/n))
	s.class, s.index = class, -1
	s.used = make([]uint64, (len(s.ranges)+63)/64)
	return s
}

func (h *Heap) enlist(s *span) {
	s.index = len(h.partial[s.class])
	h.partial[s.class] = append(h.partial[s.class], s)
}

func (h *Heap) delist(s *span) {
	if s.index < 0 {
		return
	}
	list := h.partial[s.class]
	last := list[len(list)-1]
	list[s.index], last.index = last, s.index
	list[len(list)-1] = nil
	h.partial[s.class] = list[:len(list)-1]
	s.index = -1
}

// Free gives an allocation back; addr must be its first address. Errors: *AddressError when no allocation of this heap begins there, ErrClosed.
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
		return &AddressError{Op: "free", Addr: addr, Why: "the memory is " + r.Kind.String() + " memory of another heap"}
	case r.Base != addr:
		return &AddressError{Op: "free", Addr: addr, Why: "it is not the first address of the allocation"}
	}
	s := h.w.span(addr - h.w.base)
	h.used -= r.charge
	h.count--
	if s.slot == 0 {
		s.ranges[0].Store(nil)
		delete(h.all, s)
		return h.w.drop(s)
	}
	i := int((addr - h.w.base - s.off) / s.slot)
	s.ranges[i].Store(nil)
	s.used[i/64] &^= 1 << (i % 64)
	s.live--
	switch {
	case s.live == 0:
		h.delist(s)
		delete(h.all, s)
		return h.w.drop(s)
	case s.index < 0:
		h.enlist(s)
	}
	return nil
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

// Ranges calls f for each live allocation, in no order, until f returns false. Allocations made or freed meanwhile may or may not be seen.
func (h *Heap) Ranges(f func(Range) bool) {
	h.mu.Lock()
	var live []Range
	for s := range h.all {
		for i := range s.ranges {
			if r := s.ranges[i].Load(); r != nil {
				live = append(live, *r)
			}
		}
	}
	h.mu.Unlock()
	for _, r := range live {
		if !f(r) {
			return
		}
	}
}

// FreeAll gives all allocations of the heap back, as the destruction of a device's last context does. The heap can be used on.
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
		if err := h.w.drop(s); err != nil && first == nil {
			first = err
		}
	}
	clear(h.all)
	h.partial = [len(slotSizes)][]*span{}
	h.used, h.count = 0, 0
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
