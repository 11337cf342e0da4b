package mem

import "fmt"

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
	s := &Store{Owner: owner, heap: h, size: size, held: size, b: b, refs: 1}
	if err := h.adopt(s); err != nil {
		_ = b.close()
		return nil, err
	}
	return s, nil
}

func (h *Heap) adopt(s *Store) error {
	if s.size == 0 || s.size%Granule != 0 {
		return &AddressError{Op: "open store", Size: s.size, Why: "the size is not a multiple of the granularity"}
	}
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
