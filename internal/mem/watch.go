package mem

// Watcher is told which memory comes and goes: allocations, mappings and registered ranges. Its methods run in the
// goroutine that allocates or frees, under a lock of the heap or the window, neither of which they may use.
type Watcher interface {
	Allocated(r Range)
	Freed(r Range)
}

// What a watched window does so that accesses to a wrong address find no memory.
const (
	// watchPad is how many bytes behind every allocation belong to none.
	watchPad = 4096
	// watchKeep is how many freed allocations of a heap wait before their place is used again.
	watchKeep = 4096
)

// Watch sets the window's watcher, before the first allocation. From then on there is room between allocations, and
// what is freed is used again later than otherwise.
func (w *Window) Watch(x Watcher) { w.watcher, w.pad = x, watchPad }

// keptUnits are units of a chunk.
type keptUnits struct {
	s           *span
	unit, units int
}

// keep puts freed units aside.
func (h *Heap) keep(k keptUnits) error {
	h.kept = append(h.kept, k)
	if h.count == 0 {
		return h.forget(0)
	}
	return h.forget(watchKeep)
}

// forget gives back what was put aside, all but the newest n.
func (h *Heap) forget(n int) error {
	var first error
	for len(h.kept) > n {
		k := h.kept[0]
		h.kept = h.kept[1:]
		if err := h.release(k.s, k.unit, k.units); err != nil && first == nil {
			first = err
		}
	}
	return first
}
