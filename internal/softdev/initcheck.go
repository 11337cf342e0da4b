package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/mem"
)

// initcheck tells checker.InitChecker of the program's memory. It implements mem.Watcher. What counts as memory that
// nobody has written is what the program allocates on a device, and malloc in kernels. Arrays, mappings of cuMemMap,
// memory of other processes, module variables, and memory that the host reads and writes without calls (pinned,
// managed, registered) count as written.
type initcheck struct {
	*checker.InitChecker
	d       *Driver
	records *memcheck
}

// newInitcheck makes the checker, once the driver's memory is there. records are the memory checker's, nil without it.
func newInitcheck(d *Driver) *initcheck {
	c := &initcheck{d: d, records: newMemcheck(d)}
	c.InitChecker = checker.NewInit(d.defects, c.made, c.host)
	return c
}

// Allocated implements mem.Watcher.
func (c *initcheck) Allocated(r mem.Range) {
	c.records.Allocated(r)
	a, ok := r.Owner.(*allocation)
	if !ok || r.Kind != mem.Device || a.mapped != nil || a.ipc != nil || a.external != nil ||
		a.use != useProgram && a.use != useHeap {
		return
	}
	c.InitChecker.Allocated(r.Base, r.Size)
}

// Freed implements mem.Watcher.
func (c *initcheck) Freed(r mem.Range) {
	c.records.Freed(r)
	c.InitChecker.Freed(r.Base, r.Size)
}

// made describes the allocation that an address lies in.
func (c *initcheck) made(addr uint64) *checker.Allocation {
	m := c.records
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, x := range m.live {
		if addr >= x.r.Base && addr < x.r.End() {
			return x.open(c.d.apiNames)
		}
	}
	return nil
}

// host says whether the program reads memory at an address without a call.
func (c *initcheck) host(addr uint64) bool {
	r, ok := c.d.memory.w.Lookup(addr)
	return !ok || r.Kind != mem.Device
}

// copied tells of a copy that has been made.
func (c *initcheck) copied(dst, src unsafe.Pointer, n uint64) {
	if c == nil {
		return
	}
	to, from := uint64(uintptr(dst)), uint64(uintptr(src))
	switch {
	case !c.host(to):
		c.InitChecker.Copied(to, from, n, "")
	case !c.host(from):
		c.InitChecker.Copied(to, from, n, "a copy to the host")
	}
}

// filled tells of memory that the driver has written.
func (c *initcheck) filled(dst unsafe.Pointer, n uint64) {
	if c != nil {
		c.InitChecker.Written(uint64(uintptr(dst)), n)
	}
}

// watchers are several.
type watchers []mem.Watcher

// Allocated implements mem.Watcher.
func (l watchers) Allocated(r mem.Range) {
	for _, w := range l {
		w.Allocated(r)
	}
}

// Freed implements mem.Watcher.
func (l watchers) Freed(r mem.Range) {
	for _, w := range l {
		w.Freed(r)
	}
}
