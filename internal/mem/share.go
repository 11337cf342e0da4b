package mem

import (
	"fmt"
	"os"
)

// Descriptor returns a new file descriptor of the store's memory, which another process may turn into a store with
// OpenStore. The caller closes it. The error is errors.ErrUnsupported where stores are no files.
func (s *Store) Descriptor() (uintptr, error) {
	s.heap.w.mu.Lock()
	defer s.heap.w.mu.Unlock()
	if s.refs == 0 {
		return 0, &AddressError{Op: "share store", Size: s.size, Why: "it is gone"}
	}
	return s.b.descriptor()
}

// OpenStore makes a store of a file descriptor that Descriptor gave in this or another process; the descriptor stays
// the caller's. The memory counts for this heap too. Errors: those of NewStore, *AddressError for a file of another
// size.
func (h *Heap) OpenStore(fd uintptr, owner any) (*Store, error) {
	b, size, err := openBacking(fd)
	if err != nil {
		return nil, fmt.Errorf("mem: open store: %w", err)
	}
	s := &Store{Owner: owner, heap: h, size: size, held: size, b: b, what: b.published(size), refs: 1}
	if err := h.adopt(s); err != nil {
		_ = b.close()
		return nil, err
	}
	return s, nil
}

// OpenPublishedStore makes a store of what Store.Published gave in this or another process. counted says that the
// memory counts for this heap too. Errors: ErrNotPublished, and those of OpenStore.
func (h *Heap) OpenPublishedStore(p Published, counted bool, owner any) (*Store, error) {
	b, err := openCookieBacking(p)
	if err != nil {
		return nil, fmt.Errorf("mem: open store: %w", err)
	}
	p.Process, p.File = int32(os.Getpid()), b.number() // the other may end
	s := &Store{Owner: owner, heap: h, size: p.Size, b: b, what: p, refs: 1}
	if counted {
		s.held = p.Size
	}
	if err := h.adopt(s); err != nil {
		_ = b.close()
		return nil, err
	}
	return s, nil
}

// Published says how other processes open the store's memory, as long as this process or the one that made it has it;
// ok is false for a store that they cannot open.
func (s *Store) Published() (p Published, ok bool) { return s.what, s.what.Size != 0 }

// MapAlone gives a part of a store addresses of its own, with access. ClosePublished takes them back.
func (w *Window) MapAlone(s *Store, offset, size uint64, owner any) (Range, error) {
	if offset%Granule != 0 || size == 0 || size%Granule != 0 {
		return Range{}, &AddressError{"map", offset, size, "the place is not a multiple of the granularity"}
	}
	return w.mapAlone(s, offset, size, 0, size, owner)
}

func (h *Heap) adopt(s *Store) error {
	if s.size == 0 || s.size%Granule != 0 {
		return &AddressError{Op: "open store", Size: s.size, Why: "the size is not a multiple of the granularity"}
	}
	return h.admit(s)
}

// admit counts a store's memory and makes it one of the window's.
func (h *Heap) admit(s *Store) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return ErrClosed
	}
	if h.limit-min(h.used, h.limit) < s.held {
		return &OutOfMemoryError{s.held, h.used, h.limit, nil}
	}
	h.w.mu.Lock()
	defer h.w.mu.Unlock()
	if h.w.closed {
		return ErrClosed
	}
	h.w.stores[s] = struct{}{}
	h.used += s.held
	h.peak = max(h.peak, h.used)
	return nil
}
