package mem

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"sync"
)

// Arena is memory in one file that allocations are made from, so that whoever has the file can open each of them: a
// memory pool that is shared between processes. Each allocation has granules of addresses of its own, and takes as many
// pages of its heap as it is large: the file is full of holes.
type Arena struct {
	h      *Heap
	s      *Store
	cookie uint64
	label  [16]byte
	opened bool // of another process: nothing can be allocated

	mu   sync.Mutex
	free []extent // in the file, by offset, merged
	live map[uint64]arenaPiece
}

type arenaPiece struct {
	extent
	counted uint64 // of the heap
	owned   bool   // allocated here, not opened
}

// arenaPage is what an arena's allocations are counted in: the least that a hole of the file leaves.
const arenaPage = 4096

// arenaMagic begins the file of an arena; the cookie and the label follow, and memory from the second granule on.
const (
	arenaMagic = "gocuda arena 1\x00\x00"
	arenaHead  = 40
)

// NewArena makes an arena for up to size bytes, a multiple of Granule; whoever opens it is given the label. Errors:
// *AddressError, ErrClosed, errors.ErrUnsupported on hosts without stores.
func (h *Heap) NewArena(size uint64, label [16]byte) (*Arena, error) {
	if size == 0 || size%Granule != 0 {
		return nil, &AddressError{Op: "make arena", Size: size, Why: "the size is not a multiple of the granularity"}
	}
	b, err := newBacking(size + Granule)
	if err != nil {
		return nil, err
	}
	var head [arenaHead]byte
	copy(head[:], arenaMagic)
	copy(head[24:], label[:])
	if _, err := rand.Read(head[16:24]); err != nil {
		return nil, errors.Join(err, b.close())
	}
	if _, err := b.f.WriteAt(head[:], 0); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return h.newArena(b, size+Granule, &head, false)
}

func (h *Heap) newArena(b *backing, size uint64, head *[arenaHead]byte, opened bool) (*Arena, error) {
	a := &Arena{h: h, s: &Store{heap: h, size: size, b: b, refs: 1}, cookie: binary.NativeEndian.Uint64(head[16:]),
		opened: opened, live: map[uint64]arenaPiece{}}
	copy(a.label[:], head[24:])
	if !opened {
		a.free = []extent{{Granule, size - Granule}}
	}
	if err := h.adopt(a.s); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return a, nil
}

// OpenArena opens another process's arena by a file descriptor that Descriptor gave; the descriptor stays the caller's.
// The error is an *AddressError for a file that is no arena.
func (h *Heap) OpenArena(fd uintptr) (*Arena, error) {
	b, size, err := openBacking(fd)
	if err != nil {
		return nil, err
	}
	var head [arenaHead]byte
	if n, err := b.f.ReadAt(head[:], 0); n < len(head) || string(head[:16]) != arenaMagic || size%Granule != 0 ||
		size < 2*Granule {
		return nil, errors.Join(&AddressError{Op: "open arena", Size: size, Why: "the file is none"}, err, b.close())
	}
	return h.newArena(b, size, &head, true)
}

// Cookie is the number that tells arenas apart.
func (a *Arena) Cookie() uint64 { return a.cookie }

// Label is what NewArena was given.
func (a *Arena) Label() [16]byte { return a.label }

// Opened says whether the arena is another's.
func (a *Arena) Opened() bool { return a.opened }

// Descriptor returns a new file descriptor of the arena, which the caller closes.
func (a *Arena) Descriptor() (uintptr, error) { return a.s.Descriptor() }

// Alloc takes memory. Errors: *OutOfMemoryError, *AddressError.
func (a *Arena) Alloc(size uint64, owner any) (Range, error) {
	n := roundUp(size, Granule)
	if size == 0 || n < size || a.opened {
		return Range{}, &AddressError{Op: "allocate in arena", Size: size,
			Why: "the size is 0 or the arena is another's"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	i := slices.IndexFunc(a.free, func(e extent) bool { return e.n >= n })
	if i < 0 {
		return Range{}, a.full(size)
	}
	counted := roundUp(size, arenaPage)
	if err := a.h.takeLimit(counted, size); err != nil {
		return Range{}, err
	}
	at := a.free[i].off
	r, err := a.h.w.mapAlone(a.s, at, n, 0, size, owner)
	if err != nil {
		a.h.giveLimit(counted)
		return Range{}, errors.Join(a.full(size), err) // the host has no more mappings, or no more addresses
	}
	a.free[i] = extent{at + n, a.free[i].n - n}
	if a.free[i].n == 0 {
		a.free = slices.Delete(a.free, i, i+1)
	}
	a.live[r.Base] = arenaPiece{extent{at, n}, counted, true}
	return r, nil
}

func (a *Arena) full(size uint64) error {
	u := a.h.Usage()
	return &OutOfMemoryError{size, u.Used, u.Limit, nil}
}

// takeLimit takes n bytes of a heap's limit for an allocation of size.
func (h *Heap) takeLimit(n, size uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if h.limit-min(h.used, h.limit) < n {
		return &OutOfMemoryError{size, h.used, h.limit, nil}
	}
	h.used += n
	h.peak = max(h.peak, h.used)
	return nil
}

func (h *Heap) giveLimit(n uint64) {
	h.mu.Lock()
	h.used -= n
	h.mu.Unlock()
}

// Offset says where in the file an allocation lies.
func (a *Arena) Offset(addr uint64) (off uint64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.live[addr]
	return p.off, ok
}

// Open maps an allocation of another process in an arena that was opened. Errors: *AddressError, *OutOfMemoryError.
func (a *Arena) Open(off, size uint64, owner any) (Range, error) {
	n := roundUp(size, Granule)
	if size == 0 || n < size || off%Granule != 0 || off < Granule || off > a.s.size || n > a.s.size-off {
		return Range{}, &AddressError{Op: "open allocation of arena", Addr: off, Size: size,
			Why: "the arena does not hold that"}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	counted := roundUp(size, arenaPage)
	if err := a.h.takeLimit(counted, size); err != nil {
		return Range{}, err
	}
	r, err := a.h.w.mapAlone(a.s, off, n, 0, size, owner)
	if err != nil {
		a.h.giveLimit(counted)
		return Range{}, err
	}
	a.live[r.Base] = arenaPiece{extent{off, n}, counted, false}
	return r, nil
}

// Free gives an allocation back, or undoes Open. The memory of one that is freed reads as zero to those that still have
// it open.
func (a *Arena) Free(addr uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	p, ok := a.live[addr]
	if !ok {
		return &AddressError{Op: "free in arena", Addr: addr, Why: "no allocation begins there"}
	}
	delete(a.live, addr)
	var err error
	if p.owned {
		err = a.s.b.punch(p.off, p.n)
	}
	err = errors.Join(err, a.h.w.ClosePublished(addr))
	a.h.giveLimit(p.counted)
	if !p.owned {
		return err
	}
	i := slices.IndexFunc(a.free, func(e extent) bool { return e.off > p.off })
	if i < 0 {
		i = len(a.free)
	}
	a.free = slices.Insert(a.free, i, p.extent)
	if i+1 < len(a.free) && a.free[i].off+a.free[i].n == a.free[i+1].off {
		a.free[i].n += a.free[i+1].n
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].off+a.free[i-1].n == a.free[i].off {
		a.free[i-1].n += a.free[i].n
		a.free = slices.Delete(a.free, i, i+1)
	}
	return err
}

// Release gives the arena up; allocations in it live on until they are freed.
func (a *Arena) Release() error { return a.s.Release() }
