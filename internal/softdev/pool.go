package softdev

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// pool is a CUmemoryPool: an account over a device's heap. Memory that is freed in stream order goes back to the heap
// when the stream gets there. What the pool holds back for later (reserved) is an account too: cuMemGetInfo leaves it
// out of what is free, but where the heap would be full otherwise it is given, as the driver releases unused memory of
// pools then.
type pool struct {
	d       *Driver
	dev     *device    // that the memory belongs to; for memory of the host, the first
	heap    *mem.Heap  // where it comes from
	arena   *mem.Arena // when it can be shared with other processes, or is shared by one
	handle  driver.CUmemoryPool
	isDflt  bool
	props   driver.CUmemPoolProps
	mu      sync.Mutex
	used    level
	held    level     // CU_MEMPOOL_ATTR_RESERVED_MEM_...: in chunks
	reuse   [3]uint32 // CU_MEMPOOL_ATTR_REUSE_...
	release uint64
	dead    bool
	access  map[driver.CUmemLocation]driver.CUmemAccess_flags // what the program has set

	hidden atomic.Bool // memory of the host that no device may access
	shown  atomic.Bool // cuMemPoolExportToShareableHandle has given it to others
}

func newPool(dev *device) *pool {
	p := &pool{d: dev.d, dev: dev, heap: dev.heap, reuse: [3]uint32{1, 1, 1}}
	p.props = driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE, Id: dev.ordinal}}
	p.handle = driver.CUmemoryPool(dev.d.pools.add(p))
	return p
}

// defaultPool is the device's own pool, made when it is first asked for.
func (dev *device) defaultPool() *pool {
	dev.poolMu.Lock()
	defer dev.poolMu.Unlock()
	if dev.dflt == nil {
		dev.dflt = newPool(dev)
		dev.dflt.isDflt = true
		dev.current = dev.dflt
	}
	return dev.dflt
}

func (dev *device) currentPool() *pool {
	dev.defaultPool()
	dev.poolMu.Lock()
	defer dev.poolMu.Unlock()
	return dev.current
}

// level is an amount of bytes and the most that it has been.
type level struct{ now, high uint64 }

func (l *level) set(n uint64) {
	l.now = n
	l.high = max(l.high, n)
}

// poolChunk is the unit in which pools take memory from a device (recorded by what fits pools with a maxSize of 1
// byte).
const poolChunk = 32 << 20

// chunks is an amount of memory as a pool holds it, at most 1<<64-poolChunk.
func chunks(n uint64) uint64 { return (n + poolChunk - 1) / poolChunk * poolChunk }

// taken is called with the lock when memory of the pool is given out.
func (p *pool) taken(n uint64) {
	p.used.set(p.used.now + n)
	p.held.set(max(p.held.now, chunks(p.used.now)))
}

// returned is called when memory of the pool is freed.
func (p *pool) returned(a *allocation) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used.now -= a.size
	if p.held.now > p.release {
		p.d.poolSlack.Store(true)
	}
}

// settlePools gives up what pools hold above their thresholds; every call that waits for a stream, event or context
// does so (CU_MEMPOOL_ATTR_RELEASE_THRESHOLD).
func (d *Driver) settlePools() {
	if !d.poolSlack.Load() {
		return
	}
	d.poolSlack.Store(false)
	for _, p := range d.pools.all() {
		p.settle()
	}
}

func (p *pool) settle() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held.now > p.release {
		p.held.now = chunks(p.used.now)
	}
}

// heldBack is what pools hold of a heap and no program uses.
func (d *Driver) heldBack(h *mem.Heap) (n uint64) {
	for _, p := range d.pools.all() {
		p.mu.Lock()
		if p.heap == h && p.arena == nil {
			n += p.held.now - min(p.held.now, p.used.now)
		}
		p.mu.Unlock()
	}
	return n
}

func (p *pool) alloc(c *context, n uint64) (driver.CUdeviceptr, driver.CUresult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.dead || p.imported() {
		return 0, invalidValue
	}
	if most := p.props.MaxSize; most != 0 && (n > most+poolChunk || chunks(p.used.now+n) > chunks(most)) {
		return 0, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	a := &allocation{pool: p, size: n}
	var ptr driver.CUdeviceptr
	var r driver.CUresult
	if p.arena != nil {
		ptr, r = c.allocateArena(p.arena, n, a)
	} else {
		ptr, r = c.allocate(p.heap, n, mem.MinAlign, a)
	}
	if r == success {
		p.taken(n)
		// the pool's place is the preferred one, for good (recorded)
		if p.props.AllocType == driver.CU_MEM_ALLOCATION_TYPE_MANAGED {
			a.advice.change(uint64(ptr), uint64(ptr)+n, func(x *advice) { x.preferred = p.props.Location })
		}
	}
	return ptr, r
}

func (d *Driver) memAllocAsync(cur driver.CUcontext, out *driver.CUdeviceptr, n uint64,
	h driver.CUstream) driver.CUresult {
	if out != nil {
		*out = 0
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	return d.poolAlloc(out, n, s.ctx.dev.currentPool(), s)
}

func (d *Driver) memAllocFromPoolAsync(cur driver.CUcontext, out *driver.CUdeviceptr, n uint64, ph driver.CUmemoryPool,
	h driver.CUstream) driver.CUresult {
	if out != nil {
		*out = 0
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	p := d.pools.get(uintptr(ph))
	if p == nil {
		return invalidValue
	}
	return d.poolAlloc(out, n, p, s)
}

func (d *Driver) poolAlloc(out *driver.CUdeviceptr, n uint64, p *pool, s *stream) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if r := s.admit(); r != success {
		return r
	}
	if n == 0 {
		return success // and NULL (recorded)
	}
	if s.capturing() {
		return d.captureAlloc(out, n, p, s)
	}
	ptr, r := p.alloc(s.ctx, n)
	if r == success {
		*out = ptr
		if a := s.note("allocation"); a != nil {
			a.Touch(writesMemory, uint64(ptr), n)
			a.End()
		}
	}
	return r
}

// poolFree gives memory back when the stream gets there.
type poolFree struct {
	r mem.Range
	a *allocation
}

func (f *poolFree) execute(s *stream, _ bool) {
	if s.q == nil {
		f.free()
		return
	}
	l := &leftover{give: f.free}
	for _, c := range s.ctx.d.contexts.all() {
		for _, p := range c.tails(nil) {
			if p.s != s {
				l.points = append(l.points, p)
			}
		}
	}
	s.ctx.freeLater(l)
}

func (f *poolFree) free() {
	_ = f.a.giveBack(f.r) // the call that queued this has marked the allocation as its own
}

func (d *Driver) memFreeAsync(cur driver.CUcontext, p driver.CUdeviceptr, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if p == 0 {
		return success
	}
	if r := s.admit(); r != success {
		return r
	}
	// Memory of cuMemAlloc is accepted as well (recorded).
	rng, a, ok := d.memory.find(p)
	if !ok || rng.Base != uint64(p) || a.use != useProgram || a.mapped != nil || a.ipc != nil ||
		a.external != nil || rng.Kind != mem.Device && a.pool == nil {
		if d.memory.check != nil {
			d.memory.check.badFree(uint64(p))
		}
		return s.spoil(invalidValue)
	}
	switch {
	case s.capturing() && a.graph == nil: // only what a graph has allocated can be freed in one
		return s.spoil(invalidValue)
	case s.capturing():
		return s.captureWork(&memFreeWork{p})
	case a.graph != nil:
		return d.freeGraphMemory(a.graph)
	}
	if a.freed.Swap(true) {
		if d.memory.check != nil {
			d.memory.check.badFree(uint64(p))
		}
		return invalidValue
	}
	if d.memory.check != nil {
		a.freedBy = callers()
	}
	s.offer(&op{kind: opTask, task: &poolFree{rng, a}}, true)
	return success
}

func (d *Driver) deviceGetDefaultMemPool(_ driver.CUcontext, out *driver.CUmemoryPool,
	ordinal driver.CUdevice) driver.CUresult {
	return d.devicePool(out, ordinal, (*device).defaultPool)
}

func (d *Driver) deviceGetMemPool(_ driver.CUcontext, out *driver.CUmemoryPool,
	ordinal driver.CUdevice) driver.CUresult {
	r := d.devicePool(out, ordinal, (*device).currentPool)
	if r == driver.CUDA_ERROR_INVALID_DEVICE {
		return invalidValue // unlike cuDeviceGetDefaultMemPool (recorded)
	}
	return r
}

func (d *Driver) devicePool(out *driver.CUmemoryPool, ordinal driver.CUdevice,
	which func(*device) *pool) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	*out = which(dev).handle
	return success
}

func (d *Driver) deviceSetMemPool(_ driver.CUcontext, ordinal driver.CUdevice, h driver.CUmemoryPool) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	p := d.pools.get(uintptr(h))
	if p == nil {
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if p.heap != dev.heap || p.imported() {
		return invalidValue
	}
	dev.defaultPool()
	dev.poolMu.Lock()
	defer dev.poolMu.Unlock()
	dev.current = p
	return success
}

func (d *Driver) memPoolCreate(_ driver.CUcontext, out *driver.CUmemoryPool,
	props *driver.CUmemPoolProps) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || props == nil {
		return invalidValue
	}
	if props.AllocType == driver.CU_MEM_ALLOCATION_TYPE_MANAGED && !knownPlace(props.Location) {
		return notSupported
	}
	dev, heap, r := d.located(props.AllocType, props.Location)
	if r != success {
		return invalidValue
	}
	p := newPool(dev)
	if p.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	p.props, p.heap = *props, heap
	p.hidden.Store(heap == d.memory.pinned)
	if r := p.share(); r != success {
		d.pools.remove(uintptr(p.handle))
		return r
	}
	*out = p.handle
	return success
}

func (d *Driver) memPoolDestroy(_ driver.CUcontext, h driver.CUmemoryPool) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if p.isDflt || d.pools.remove(uintptr(h)) == nil {
		return invalidValue
	}
	d.forgetPool(p)
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	if p.arena != nil {
		_ = p.arena.Release() // memory that is in use keeps its part
	}
	return success
}

func (d *Driver) pool(h driver.CUmemoryPool) (*pool, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	p := d.pools.get(uintptr(h))
	if p == nil {
		return nil, invalidValue
	}
	return p, success
}

func (d *Driver) memPoolGetAttribute(_ driver.CUcontext, h driver.CUmemoryPool, attr driver.CUmemPool_attribute,
	v unsafe.Pointer) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if v == nil || p.imported() { // what another process made has none (recorded)
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attr {
	case driver.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, driver.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
		driver.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		*(*uint32)(v) = p.reuse[attr-driver.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]
	case driver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		*(*uint64)(v) = p.release
	case driver.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		*(*uint64)(v) = p.held.now
	case driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		*(*uint64)(v) = p.held.high
	case driver.CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		*(*uint64)(v) = p.used.now
	case driver.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		*(*uint64)(v) = p.used.high
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) memPoolSetAttribute(_ driver.CUcontext, h driver.CUmemoryPool, attr driver.CUmemPool_attribute,
	v unsafe.Pointer) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if v == nil || p.imported() {
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch attr {
	case driver.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES, driver.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC,
		driver.CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		p.reuse[attr-driver.CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = min(*(*uint32)(v), 1)
	case driver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		p.release = *(*uint64)(v)
	case driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, driver.CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		if *(*uint64)(v) != 0 {
			return invalidValue // the high marks can only be reset
		}
		l := &p.used
		if attr == driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH {
			l = &p.held
		}
		l.high = l.now
	default:
		return invalidValue
	}
	return success
}

func (d *Driver) memPoolTrimTo(_ driver.CUcontext, h driver.CUmemoryPool, keep uint64) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if p.imported() {
		return invalidValue
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held.now = max(chunks(p.used.now), min(p.held.now, keep/poolChunk*poolChunk))
	return success
}

func (d *Driver) memPoolGetAccess(_ driver.CUcontext, flags *driver.CUmemAccess_flags, h driver.CUmemoryPool,
	where *driver.CUmemLocation) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	// Any number of a node will do (recorded).
	if flags == nil || where == nil || where.Type != driver.CU_MEM_LOCATION_TYPE_HOST_NUMA && !d.validPlace(*where) ||
		where.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
		return invalidValue
	}
	*flags = driver.CU_MEM_ACCESS_FLAGS_PROT_NONE
	if f, ok := p.allowed(*where); ok {
		*flags = f
	}
	// nobody's, of managed memory (recorded)
	if p.props.AllocType != driver.CU_MEM_ALLOCATION_TYPE_MANAGED && p.owner(*where) {
		*flags = driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
	}
	return success
}

// allowed is what cuMemPoolSetAccess has set for a place.
func (p *pool) allowed(where driver.CUmemLocation) (driver.CUmemAccess_flags, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f, ok := p.access[where]
	return f, ok
}
