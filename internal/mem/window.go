package mem

import (
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Sizes of the window and its parts, in bytes.
const (
	// Granule is what memory is committed in.
	Granule = 2 << 20
	// MinAlign is the least alignment of an allocation: what cuMemAlloc gives on an H200.
	MinAlign = 512
	// Special is the part at the window's start that never holds memory.
	Special = 4 << 30
	// SharedOffset is where the generic window of shared memory begins: SharedRanks pieces of SharedRankSize bytes, one
	// for each CTA of a cluster.
	SharedOffset = 1 << 30
	// SharedRanks is the most CTAs a cluster has (16 with non-portable cluster sizes).
	SharedRanks = 16
	// SharedRankSize is the distance between the shared windows of two ranks of a cluster.
	SharedRankSize = 16 << 20
	// SharedSize is the size of the whole generic window of shared memory.
	SharedSize = SharedRanks * SharedRankSize
	// LocalOffset is where the generic window of local memory begins.
	LocalOffset = 2 << 30
	// LocalSize is its size; a thread has at most 512 KiB of local memory (CUDA Programming Guide, compute
	// capabilities).
	LocalSize = 16 << 20

	// MaxWindow is the size of window that Open tries first.
	MaxWindow = 1 << 40
	// MinWindow is the smallest window that is of use.
	MinWindow = 8 << 30
)

const (
	granuleBits = 21
	l2Bits      = 9 // granules of one second-level table: 1 GiB
	// quarantineSpans and quarantineShare bound what waits before its address is used again.
	quarantineSpans = 64
	quarantineShare = 8 // one part in ...
	// smallShare is what of the window, or of its parts, small allocations take first. It has ordinary pages, so that a
	// few bytes do not cost the clearing of a large page, and lies apart, so that the mappings of both kinds merge.
	smallShare = 64
)

// Window is a reserved range of host addresses in which all memory of the software devices lies. Methods may be called
// from several goroutines at once.
type Window struct {
	m       *mapping
	base    uint64
	parts   []part // by offset
	spans   []atomic.Pointer[[1 << l2Bits]atomic.Pointer[span]]
	ids     atomic.Uint64
	foreign atomic.Pointer[[]*Range] // sorted by Base
	watcher Watcher                  // see Watch
	pad     uint64                   // bytes behind every allocation that belong to none

	mu         sync.Mutex
	closed     bool
	quarantine []extent       // oldest first
	waiting    uint64         // bytes in quarantine
	committed  uint64         // bytes
	reserved   []*reservation // by offset
	stores     map[*Store]struct{}
	published  map[*publication]struct{}
}

type extent struct{ off, n uint64 }

// part is a run of addresses of the window that is given out by itself: all of it, or what one device or purpose has.
// Between parts lie addresses that never hold memory, so that an access which runs a little over the end of one reaches
// nothing of another.
type part struct {
	low, high uint64      // offsets
	smallEnd  uint64      // offset
	free      [2][]extent // by offset, merged; [0] below smallEnd, [1] above
}

// partGap is what lies between parts.
const partGap = 4 * Granule

// partRoom is what each part of a window has at least, where the host gives that much.
const partRoom = 256 << 30

// span is a run of granules in use: one allocation, or a chunk that small allocations share.
type span struct {
	off, n uint64
	// one; in a chunk one for each MinAlign bytes, all units of an allocation hold its range
	ranges []atomic.Pointer[Range]
	chunk  *chunk // nil for one allocation

	published *publication // the memory is in a file; under the heap's lock
}

// Open reserves a window in so many parts: MaxWindow bytes, or more where the parts would be short, or less where the
// host refuses that much.
func Open(parts int) (*Window, error) {
	size := uint64(MaxWindow)
	for size/uint64(parts) < partRoom {
		size *= 2
	}
	return openParts(size, parts)
}

// OpenSize reserves a window of at most the given size, which must be a power of two, in one part. When the host
// refuses, smaller ones are tried down to MinWindow; the error is then a *ReserveError.
func OpenSize(size uint64) (*Window, error) { return openParts(size, 1) }

func openParts(size uint64, parts int) (*Window, error) {
	if size < MinWindow || size&(size-1) != 0 {
		return nil, &AddressError{Op: "open window", Size: size, Why: "the size is not a power of two of 8 GiB or more"}
	}
	var refused ReserveError
	for n := size; ; {
		m, err := reserve(n)
		if err == nil {
			return newWindow(m, parts), nil
		}
		refused.Sizes = append(refused.Sizes, n)
		refused.Errs = append(refused.Errs, err)
		if n == MinWindow {
			return nil, &refused
		}
		if n > 64<<30 {
			n = 64 << 30
		} else {
			n = max(n/4, MinWindow)
		}
	}
}

func newWindow(m *mapping, parts int) *Window {
	w := &Window{m: m, base: uint64(uintptr(m.base)), stores: map[*Store]struct{}{},
		published: map[*publication]struct{}{}}
	share := (m.size - Special) / uint64(parts) &^ (Granule - 1)
	for i := range uint64(parts) {
		p := part{low: Special + i*share, high: Special + (i+1)*share}
		if parts > 1 {
			p.high -= partGap
		}
		p.smallEnd = p.low + m.size/smallShare/uint64(parts)&^(Granule-1)
		p.free[0] = []extent{{p.low, p.smallEnd - p.low}}
		p.free[1] = []extent{{p.smallEnd, p.high - p.smallEnd}}
		m.adviseHuge(p.smallEnd, p.high-p.smallEnd)
		w.parts = append(w.parts, p)
	}
	w.spans = make([]atomic.Pointer[[1 << l2Bits]atomic.Pointer[span]], m.size>>(granuleBits+l2Bits))
	w.foreign.Store(new([]*Range))
	return w
}

// Part gives the addresses of a part, as offsets in the window.
func (w *Window) Part(i int) (low, high uint64) { return w.parts[i].low, w.parts[i].high }

// PartOf is the part that an address lies in; -1 when it lies in none.
func (w *Window) PartOf(addr uint64) int { return w.partAt(addr - w.base) }

// large says whether an offset lies where large pages are asked for.
func (w *Window) large(off uint64) bool {
	i := w.partAt(off)
	return i >= 0 && off >= w.parts[i].smallEnd
}

func (w *Window) partAt(off uint64) int {
	i := sort.Search(len(w.parts), func(i int) bool { return w.parts[i].high > off })
	if i == len(w.parts) || off < w.parts[i].low {
		return -1
	}
	return i
}

// Base returns the address of the window's first byte, a multiple of Size.
func (w *Window) Base() uint64 { return w.base }

// Size returns the window's bytes, a power of two.
func (w *Window) Size() uint64 { return w.m.size }

// Pointer returns the window's first byte. Most of what follows it is not accessible.
func (w *Window) Pointer() unsafe.Pointer { return w.m.base }

// Contains says whether an address lies in the window, whether or not there is memory.
func (w *Window) Contains(addr uint64) bool { return addr-w.base < w.m.size }

// Ptr returns the host pointer of an address. The address must lie in the window or one past it: what does not is
// folded into it, as the engines' address masks do. Whether memory is there is not checked.
func (w *Window) Ptr(addr uint64) unsafe.Pointer {
	return unsafe.Add(w.m.base, (addr-w.base)&(w.m.size-1))
}

// Slice returns n bytes at an address, which must all belong to one live allocation, one registered range or one
// mapping with access. The slice's capacity ends with its length. Writing to a mapping that is only for reading faults.
func (w *Window) Slice(addr, n uint64) ([]byte, error) {
	r, ok := w.Lookup(addr)
	if !ok {
		return nil, &AddressError{"slice", addr, n, "no memory is allocated there"}
	}
	if n > r.Size-(addr-r.Base) {
		return nil, &AddressError{"slice", addr, n, "it goes beyond the end of the allocation"}
	}
	if r.Access == NoAccess {
		return nil, &AddressError{"slice", addr, n, "access to the mapping has not been set"}
	}
	p := r.pointer
	if p == nil {
		p = w.Ptr(r.Base)
	}
	return unsafe.Slice((*byte)(unsafe.Add(p, addr-r.Base)), n)[:n:n], nil
}

// Committed returns the bytes that have memory, in use or not.
func (w *Window) Committed() uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.committed
}

// Close gives the whole window back to the host. Pointers into it must not be used any more: unlike after Free they do
// not reliably fault, since the host may use the addresses for something else.
func (w *Window) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.closed = true
	for i := range w.spans {
		w.spans[i].Store(nil)
	}
	w.foreign.Store(new([]*Range))
	w.parts, w.quarantine, w.reserved = nil, nil, nil
	err := w.m.release()
	for s := range w.stores {
		s.refs = 0
		if e := s.b.close(); err == nil {
			err = e
		}
	}
	clear(w.stores)
	for p := range w.published {
		if e := p.b.close(); err == nil {
			err = e
		}
	}
	clear(w.published)
	return err
}

// Lookup finds the live allocation or registered range that an address lies in. It takes no lock.
func (w *Window) Lookup(addr uint64) (Range, bool) {
	off := addr - w.base
	if off >= w.m.size {
		return w.lookupForeign(addr)
	}
	s := w.span(off)
	if s == nil {
		return Range{}, false
	}
	i := uint64(0)
	if s.chunk != nil {
		i = (off - s.off) / MinAlign
	}
	r := s.ranges[i].Load()
	if r == nil || addr-r.Base >= r.Size {
		return Range{}, false
	}
	return *r, true
}

func (w *Window) span(off uint64) *span {
	l2 := w.spans[off>>(granuleBits+l2Bits)].Load()
	if l2 == nil {
		return nil
	}
	return l2[off>>granuleBits&(1<<l2Bits-1)].Load()
}

// setSpan enters a span (or its absence) for all granules of a run; the caller holds w.mu.
func (w *Window) setSpan(off, n uint64, s *span) {
	for g := off >> granuleBits; g < (off+n)>>granuleBits; g++ {
		p := &w.spans[g>>l2Bits]
		l2 := p.Load()
		if l2 == nil {
			l2 = new([1 << l2Bits]atomic.Pointer[span])
			p.Store(l2)
		}
		l2[g&(1<<l2Bits-1)].Store(s)
	}
}

// take reserves and commits a run of granules of a part for a span, sets the span's place and enters it in the table.
func (w *Window) take(s *span, part int, n, align uint64, small bool) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	off, err := w.find(part, n, align, small)
	if err != nil {
		return err
	}
	if err := w.m.commit(off, n); err != nil {
		w.giveBack(extent{off, n})
		return err
	}
	w.committed += n
	s.off, s.n = off, n
	w.setSpan(off, n, s)
	return nil
}

// find is place, for which the quarantine ends when there is no place else: it is worth less than the allocation.
func (w *Window) find(part int, n, align uint64, small bool) (off uint64, err error) {
	p := &w.parts[part]
	off, ok := p.place(n, align, small)
	if !ok {
		for len(w.quarantine) > 0 {
			w.endQuarantine()
		}
		if off, ok = p.place(n, align, small); !ok {
			return 0, &AddressError{Op: "reserve", Size: n,
				Why: "the device address window has no free range of that size"}
		}
	}
	return off, nil
}

// place finds and removes a free run, the lowest that fits, in the region it belongs to, else in the other.
func (p *part) place(n, align uint64, small bool) (off uint64, ok bool) {
	order := [2]int{1, 0}
	if small {
		order = [2]int{0, 1}
	}
	for _, region := range order {
		list := p.free[region]
		for i, e := range list {
			at := (e.off + align - 1) &^ (align - 1)
			pad := at - e.off
			if e.n < pad || e.n-pad < n {
				continue
			}
			before, after := extent{e.off, pad}, extent{at + n, e.n - pad - n}
			switch {
			case before.n > 0 && after.n > 0:
				list[i] = before
				p.free[region] = slices.Insert(list, i+1, after)
			case before.n > 0:
				list[i] = before
			case after.n > 0:
				list[i] = after
			default:
				p.free[region] = slices.Delete(list, i, i+1)
			}
			return at, true
		}
	}
	return 0, false
}

// drop takes a span out of use: it loses memory and access, its addresses go to quarantine.
func (w *Window) drop(s *span) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return ErrClosed
	}
	w.setSpan(s.off, s.n, nil)
	var err error
	if s.published != nil {
		err = w.unpublish(s)
	} else {
		err = w.m.decommit(s.off, s.n)
	}
	w.committed -= s.n
	w.putAside(extent{s.off, s.n})
	return err
}

// putAside sends a run to quarantine.
func (w *Window) putAside(e extent) {
	w.quarantine = append(w.quarantine, e)
	w.waiting += e.n
	for len(w.quarantine) > quarantineSpans || w.waiting > w.m.size/quarantineShare {
		w.endQuarantine()
	}
}

func (w *Window) endQuarantine() {
	e := w.quarantine[0]
	w.quarantine = slices.Delete(w.quarantine, 0, 1)
	w.waiting -= e.n
	w.giveBack(e)
}

// giveBack enters a run in its region's list and merges it with its neighbours. A run that lies across the border of
// the regions is split there.
func (w *Window) giveBack(e extent) {
	p := &w.parts[w.partAt(e.off)]
	if e.off < p.smallEnd && e.off+e.n > p.smallEnd {
		w.giveBack(extent{e.off, p.smallEnd - e.off})
		e = extent{p.smallEnd, e.off + e.n - p.smallEnd}
	}
	region := 1
	if e.off < p.smallEnd {
		region = 0
	}
	list := p.free[region]
	i := sort.Search(len(list), func(i int) bool { return list[i].off > e.off })
	if i > 0 && list[i-1].off+list[i-1].n == e.off {
		list[i-1].n += e.n
		if i < len(list) && list[i-1].off+list[i-1].n == list[i].off {
			list[i-1].n += list[i].n
			list = slices.Delete(list, i, i+1)
		}
	} else if i < len(list) && e.off+e.n == list[i].off {
		list[i] = extent{e.off, e.n + list[i].n}
	} else {
		list = slices.Insert(list, i, e)
	}
	p.free[region] = list
}
