package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/mem"
)

// What kernels reach. One device reaches all memory of the window. Where there are several, the window has parts: one
// for each device's own memory, one for memory that all of them reach (pinned and managed), and one for reserved
// addresses, in which every mapping says who may use it. A kernel reaches without being asked the parts around its
// device's own that are open to it; these are two addresses for the engine (exec.Memory.Low and Span). Everything else
// comes to a function that looks it up. Parts lie so that the first two devices have the common one beside them.

// windowParts is how many parts the window has.
func (d *Driver) windowParts() int {
	if len(d.devices) == 1 {
		return 1
	}
	return len(d.devices) + 2
}

func (dev *device) part() int {
	switch {
	case len(dev.d.devices) == 1 || dev.ordinal == 1:
		return 0
	case dev.ordinal == 0:
		return 2
	}
	return int(dev.ordinal) + 1
}

// commonPart is what all devices reach.
func (d *Driver) commonPart() int { return min(1, d.windowParts()-1) }

// setSpace settles what kernels of the context reach; it is called again when the context's peers change.
func (c *context) setSpace() {
	m := c.d.memory
	if len(c.d.devices) == 1 {
		c.space.Store(&m.space)
		return
	}
	open := make([]bool, c.d.windowParts())
	own := c.dev.part()
	open[own], open[c.d.commonPart()] = true, true
	for p := range c.peers {
		open[p.dev.part()] = true
	}
	first, last := own, own
	for first > 0 && open[first-1] {
		first--
	}
	for open[last+1] { // the last part, of reserved addresses, never is
		last++
	}
	s := m.space
	low, _ := m.w.Part(first)
	_, high := m.w.Part(last)
	s.Low, s.Span = low, high-low
	s.Foreign = func(addr, size uint64) unsafe.Pointer {
		if !m.w.Contains(addr) {
			return m.w.Foreign(addr, size)
		}
		if i := m.w.PartOf(addr); i >= 0 && open[i] || m.granted(addr, size, c.dev, open) {
			return m.w.Ptr(addr)
		}
		return nil
	}
	s.Multicast = func(addr, size uint64, write bool, to []unsafe.Pointer) []unsafe.Pointer {
		return m.replicas(c.dev, addr, size, write, to)
	}
	c.space.Store(&s)
}

// reaches says whether kernels of the context reach memory of the window. What the driver does in their place needs
// that, too: fills, and copies to and from memory that is mapped or of a pool; copies to and from ordinary memory go
// through the host where there is no other way (recorded).
func (c *context) reaches(p driver.CUdeviceptr, n uint64) bool {
	if len(c.d.devices) == 1 {
		return true
	}
	s := c.space.Load()
	return uint64(p)-s.Low < s.Span || s.Foreign(uint64(p), n) != nil
}

// fills says whether a context's fills reach memory.
func (c *context) fills(p driver.CUdeviceptr) bool {
	if len(c.d.devices) == 1 {
		return true
	}
	if _, a, ok := c.d.memory.find(p); ok && a.mapped != nil {
		a.mapped.mu.Lock()
		defer a.mapped.mu.Unlock()
		here := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: c.dev.ordinal}
		return a.mapped.access[here] == driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	}
	return c.reaches(p, 1)
}

// copies says whether a context's copies reach memory that has been found.
func (c *context) copies(p unsafe.Pointer, n uint64) bool {
	if len(c.d.devices) == 1 {
		return true
	}
	_, a, ok := c.d.memory.find(driver.CUdeviceptr(uintptr(p)))
	return !ok || a.mapped == nil && a.pool == nil || c.reaches(driver.CUdeviceptr(uintptr(p)), n)
}

// granted says whether memory that a device does not reach anyway may be used by it.
func (m *memory) granted(addr, size uint64, dev *device, open []bool) bool {
	r, a, ok := m.find(driver.CUdeviceptr(addr))
	if !ok || r.Access == mem.NoAccess || size > r.Size-(addr-r.Base) && !m.adjoin(r, a, addr, size) {
		return false
	}
	here := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: dev.ordinal}
	switch {
	case a.mapped != nil:
		a.mapped.mu.Lock()
		defer a.mapped.mu.Unlock()
		return a.mapped.access[here] != driver.CU_MEM_ACCESS_FLAGS_PROT_NONE
	case a.pool != nil:
		a.pool.mu.Lock()
		defer a.pool.mu.Unlock()
		return open[a.pool.dev.part()] || a.pool.access[here] != driver.CU_MEM_ACCESS_FLAGS_PROT_NONE
	case a.graph != nil:
		for _, x := range a.graph.access {
			if x.Location == here {
				return true
			}
		}
	}
	return open[a.device().part()]
}

// memorySpace is the window as a device that reaches all of it sees it.
func (m *memory) memorySpace() exec.Memory {
	s := exec.MemoryOf(m.w)
	s.Foreign = m.w.Foreign
	s.Const = func(addr uint64) bool {
		r, ok := m.w.Lookup(addr)
		if !ok {
			return false
		}
		a, ok := r.Owner.(*allocation)
		return ok && a.use == useConstant
	}
	return s
}
