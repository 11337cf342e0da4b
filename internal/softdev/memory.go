package softdev

import (
	"errors"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/mem"
)

// memory is the address window of a driver with what is not one device's: pinned, managed and registered memory.
type memory struct {
	d       *Driver
	w       *mem.Window
	pinned  *mem.Heap
	managed *mem.Heap
	space   exec.Memory // what kernels reach where there is one device (reach.go)
	check   *memcheck   // nil without the memory checker

	readOnly atomic.Bool  // there have been mappings for reading
	dormant  atomic.Int32 // allocations of graphs that are not allocated (graphMemory.dormant)

	mu         sync.Mutex
	registered map[uint64]*allocation // by first address
}

// allocation is what the driver knows of a piece of memory; it is the owner that mem.Window.Lookup gives.
type allocation struct {
	ctx    *context
	use    allocationUse
	flags  uint32 // of cuMemHostAlloc, cuMemHostRegister, cuMemAllocManaged
	pool   *pool
	graph  *graphMemory  // of a memory allocation node
	mapped *mappedMemory // of cuMemMap
	ipc    *ipcImport    // of cuIpcOpenMemHandle
	home   *device       // of the memory, where it is not the context's

	external *externalBuffer // of cuExternalMemoryGetMappedBuffer

	advice advices     // of managed memory
	size   uint64      // of memory from a pool
	memops atomic.Bool // CU_POINTER_ATTRIBUTE_SYNC_MEMOPS is not what it was at first
	freed  atomic.Bool // cuMemFreeAsync was called
	left   atomic.Bool // its context is destroyed: it is free when the work of others has ended that was queued then
	module *module     // owner of a variable

	freedBy []uintptr // with the memory checker: the call that freed it in stream order
}

type allocationUse uint8

const (
	useProgram  allocationUse = iota // made by a call of the program, which frees it
	useVariable                      // module variable in global memory
	useConstant                      // module variable in constant memory
	useInternal                      // parameters, arrays
	useHeap                          // malloc in kernels
)

func newMemory(d *Driver) (*memory, error) {
	w, err := mem.Open(d.windowParts())
	if err != nil {
		return nil, err
	}
	m := &memory{d: d, w: w, registered: map[uint64]*allocation{}}
	m.pinned = w.NewHeapIn(d.commonPart(), mem.Pinned, 0)
	m.managed = w.NewHeapIn(d.commonPart(), mem.Managed, 0)
	for _, dev := range d.devices {
		dev.heap = w.NewHeapIn(dev.part(), mem.Device, dev.totalMem())
	}
	m.space = m.memorySpace()
	if d.checks.Has(checker.Memory | checker.Leak) {
		m.check = newMemcheck(d)
		if d.checks.Has(checker.Memory) {
			m.space.Check, m.space.CheckRange, m.space.CheckEpoch = m.check.allows, m.check.around, &m.check.epoch
		}
	}
	switch {
	case d.uninit != nil && m.check != nil:
		w.Watch(watchers{m.check, d.uninit})
	case d.uninit != nil:
		w.Watch(d.uninit)
	case m.check != nil:
		w.Watch(m.check)
	}
	d.codeEnd.Store(w.Base() + codeOffset)
	return m, nil
}

// codeOffset is where function addresses begin in the part of the window that holds no memory, behind the windows of
// shared and local memory.
const codeOffset = 3 << 30

func (m *memory) close() error {
	m.d.unwatchHost()
	return m.w.Close()
}

// freeContext gives back what a context still owns. The work of the context has ended.
func (m *memory) freeContext(c *context) {
	var owned []mem.Range
	for _, h := range []*mem.Heap{m.pinned, m.managed, c.dev.heap} {
		h.Ranges(func(r mem.Range) bool {
			if a, ok := r.Owner.(*allocation); ok && a.ctx == c {
				a.left.Store(true)
				owned = append(owned, r)
			}
			return true
		})
	}
	c.bequeath(owned)
	m.mu.Lock()
	defer m.mu.Unlock()
	for addr, a := range m.registered {
		if a.ctx == c {
			delete(m.registered, addr)
			_ = m.w.Unregister(addr)
		}
	}
}

// find returns the live memory at an address.
func (m *memory) find(addr driver.CUdeviceptr) (mem.Range, *allocation, bool) {
	r, ok := m.w.Lookup(uint64(addr))
	if !ok {
		return r, nil, false
	}
	a, ok := r.Owner.(*allocation)
	if !ok || a.freed.Load() {
		return r, nil, false
	}
	return r, a, true
}

// device resolves n bytes at a device address: all inside one allocation or registered range, or in mappings side by
// side.
func (m *memory) device(addr driver.CUdeviceptr, n uint64) (unsafe.Pointer, bool) {
	r, a, ok := m.find(addr)
	if !ok || r.Access == mem.NoAccess || a.closed() ||
		n > r.Size-(uint64(addr)-r.Base) && !m.adjoin(r, a, uint64(addr), n) {
		return nil, false
	}
	if r.Kind == mem.Registered {
		p := m.w.Foreign(uint64(addr), n)
		return p, p != nil
	}
	return m.w.Ptr(uint64(addr)), true
}

// adjoin says whether n bytes from addr, which is in the mapping r, are mapped throughout with the same access.
func (m *memory) adjoin(r mem.Range, a *allocation, addr, n uint64) bool {
	access, end := r.Access, addr+n
	if end < addr {
		return false
	}
	for at := r.End(); a.mapped != nil; at = r.End() {
		if at >= end {
			return true
		}
		var ok bool
		if r, a, ok = m.find(driver.CUdeviceptr(at)); !ok || r.Access != access {
			return false
		}
	}
	return false
}

// closed says that memory is of a pool of the host that no device may access. It is host memory to all calls, and no
// device memory (recorded: reach/host-pool).
func (a *allocation) closed() bool { return a.pool != nil && a.pool.hidden.Load() }

// host resolves n bytes of host memory. Addresses in the window have to be allocated; others are the program's, and
// whether there is memory shows when it is used. pageable says that the driver does not know the memory, so that an
// asynchronous copy may not touch it after the call.
func (m *memory) host(p unsafe.Pointer, n uint64) (_ unsafe.Pointer, pageable, ok bool) {
	addr := driver.CUdeviceptr(uintptr(p))
	switch {
	case n > addressSpace || uint64(addr)+n < uint64(addr):
		return nil, false, false
	case m.w.Contains(uint64(addr)):
		q, ok := m.device(addr, n)
		if r, a, found := m.find(addr); !ok && found && a.closed() && n <= r.End()-uint64(addr) {
			return m.w.Ptr(uint64(addr)), false, true
		}
		return q, false, ok
	case uint64(addr) < m.w.Base() && uint64(addr)+n > m.w.Base():
		return nil, false, false // it runs into the window
	}
	if r, _, ok := m.find(addr); ok && n <= r.Size-(uint64(addr)-r.Base) {
		return p, false, true
	}
	return p, true, p != nil
}

// unified resolves an address that may be any kind of memory (cuMemcpy).
func (m *memory) unified(addr driver.CUdeviceptr, n uint64) (p unsafe.Pointer, pageable, ok bool) {
	if p, ok := m.device(addr, n); ok {
		return p, false, true
	}
	return m.host(foreign(uint64(addr)), n)
}

// foreign makes a pointer of an address that a program passed as a number. It is memory of C or memory that the program
// keeps alive.
func foreign(addr uint64) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&addr))
}

// allocate takes memory from a heap for a context.
func (c *context) allocate(h *mem.Heap, size, align uint64, a *allocation) (driver.CUdeviceptr, driver.CUresult) {
	a.ctx = c
	c.d.watchHost(h)
	r, err := h.AllocFor(size, align, a)
	if err != nil {
		c.d.leftovers.reap()
		r, err = h.AllocFor(size, align, a)
	}
	if err != nil {
		c.d.explain(c, "%s", err.Error())
		return 0, memoryResult(err)
	}
	c.d.fresh(driver.CUdeviceptr(r.Base), r.Size)
	return driver.CUdeviceptr(r.Base), success
}

func memoryResult(err error) driver.CUresult {
	var full *mem.OutOfMemoryError
	if errors.As(err, &full) {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return invalidValue
}

func (d *Driver) memAlloc(cur driver.CUcontext, out *driver.CUdeviceptr, n uint64) driver.CUresult {
	if out != nil {
		*out = 0 // what fails leaves 0 (recorded, also before cuInit)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || n == 0 {
		return invalidValue
	}
	if r := d.unsafe(); r != success {
		return r
	}
	p, r := c.allocate(c.dev.heap, n, mem.MinAlign, new(allocation))
	if r == success {
		*out = p
	}
	return r
}

// pitchAlign is the alignment of rows (H200: cuMemAllocPitch gives multiples of 512).
const pitchAlign = 512

func (d *Driver) memAllocPitch(cur driver.CUcontext, out *driver.CUdeviceptr, pitch *uint64, width, height uint64,
	element uint32) driver.CUresult {
	if out != nil {
		*out = 0
	}
	if pitch != nil {
		*pitch = 0
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || pitch == nil || width == 0 || height == 0 {
		return invalidValue
	}
	if element != 4 && element != 8 && element != 16 {
		return invalidValue
	}
	if r := d.unsafe(); r != success {
		return r
	}
	row := (width + pitchAlign - 1) &^ (pitchAlign - 1)
	if row < width {
		return invalidValue
	}
	*pitch = row
	if height > ^uint64(0)/row {
		return invalidValue
	}
	p, r := c.allocate(c.dev.heap, row*height, mem.MinAlign, new(allocation))
	if r == success {
		*out = p
	}
	return r
}

func (d *Driver) memFree(cur driver.CUcontext, p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if p == 0 {
		return success
	}
	if r := d.unsafe(); r != success {
		return r
	}
	m := d.memory
	rng, a, ok := m.find(p)
	if !ok || rng.Base != uint64(p) || a.use != useProgram || a.left.Load() || a.mapped != nil || a.ipc != nil ||
		rng.Kind != mem.Device && rng.Kind != mem.Managed && a.pool == nil {
		c, _ := d.attach(cur)
		if c != nil && c.fault() != success {
			return c.fault()
		}
		if m.check != nil {
			if text := m.check.lastFreed(uint64(p)); text != "" {
				d.explain(c, "%s", text)
			}
			m.check.badFree(uint64(p))
		}
		return d.deadOr(cur, invalidValue)
	}
	if r := d.settle(cur, a); r != success {
		return r
	}
	switch {
	case a.graph != nil:
		return d.freeGraphMemory(a.graph)
	case a.external != nil:
		return a.ctx.freeBuffer(a.external)
	}
	if err := a.giveBack(rng); err != nil {
		return invalidValue
	}
	return success
}

// settle waits for work that may use memory which is about to go: that of its context and that of the current one.
func (d *Driver) settle(cur driver.CUcontext, a *allocation) driver.CUresult {
	if c, r := d.attach(cur); r == success && c != a.ctx {
		c.wait()
	}
	a.ctx.wait()
	return a.ctx.fault()
}

// deadOr is r, unless the current context is destroyed.
func (d *Driver) deadOr(cur driver.CUcontext, r driver.CUresult) driver.CUresult {
	if _, dead := d.contextOf(d.current(cur)); dead == destroyed {
		return destroyed
	}
	return r
}

// release undoes the bookkeeping of a pool.
func (a *allocation) release() {
	if a.pool != nil {
		a.pool.returned(a)
	}
}

// wait lets everything queued in the context finish.
func (c *context) wait() {
	m := c.moment(false)
	var buf [8]point
	for _, p := range c.tails(buf[:0]) {
		p.wait()
	}
	c.d.learn(m)
}

func (d *Driver) memGetInfo(cur driver.CUcontext, free, total *uint64) driver.CUresult {
	if free != nil {
		*free = 0
	}
	if total != nil {
		*total = 0
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	d.leftovers.reap()
	u := c.dev.heap.Usage()
	if free != nil {
		*free = u.Limit - u.Used
		*free -= min(*free, d.heldBack(c.dev.heap))
	}
	if total != nil {
		*total = u.Limit
	}
	return success
}

func (d *Driver) memGetAddressRange(cur driver.CUcontext, base *driver.CUdeviceptr, size *uint64,
	p driver.CUdeviceptr) driver.CUresult {
	if base != nil {
		*base = 0
	}
	if size != nil {
		*size = 0
	}
	if base == nil && size == nil {
		return success // even before cuInit (recorded)
	}
	if r := d.ready(); r != success {
		return r
	}
	if c, r := d.attach(cur); r == success && c.fault() != success {
		return c.fault()
	}
	rng, _, ok := d.memory.find(p)
	if !ok {
		return driver.CUDA_ERROR_NOT_FOUND
	}
	if c, r := d.attach(cur); r == success && !c.reaches(p, 1) {
		return driver.CUDA_ERROR_NOT_FOUND // recorded
	}
	if base != nil {
		*base = driver.CUdeviceptr(rng.Base)
	}
	if size != nil {
		*size = rng.Size
	}
	return success
}
