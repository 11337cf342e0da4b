package softdev

import (
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// graphMemory is the allocation behind a memory allocation node. Its address and memory are there as long as a graph,
// an executable graph or a launch without a free needs them.
type graphMemory struct {
	dev     *device
	heap    *mem.Heap
	alloc   *allocation
	ptr     driver.CUdeviceptr
	size    uint64
	access  []driver.CUmemAccessDesc // of other places
	holders int                      // nodes and steps
	steps   int                      // those of executable graphs
	live    bool                     // allocated by a launch, and not freed by what was queued since; d.gs.mu
	backed  bool                     // counted as used: launched, and its executable graph is there or it is live
	dormant atomic.Bool              // not live, for those who do not have the lock: only graphs know the address
}

// graphAccount is what cuDeviceGetGraphMemAttribute reports of a device, in chunks as pools hold memory: what
// executable graphs that were launched hold is used, freed or not, and stays reserved until the device is trimmed
// (recorded).
type graphAccount struct {
	backed         uint64 // bytes asked for
	used, reserved level
}

func (a *graphAccount) back(n uint64) {
	a.backed += n // n may be negative in two's complement
	a.used.set(chunks(a.backed))
	a.reserved.set(max(a.reserved.now, a.used.now))
}

func (gs *graphs) account(dev *device) *graphAccount {
	a := gs.memory[dev]
	if a == nil {
		a = new(graphAccount)
		gs.memory[dev] = a
	}
	return a
}

func (gs *graphs) setLive(m *graphMemory, live bool) {
	if m.live == live {
		return
	}
	m.live = live
	m.sleep(!live)
	if live && !m.backed {
		m.backed = true
		gs.account(m.dev).back(m.size)
	}
	gs.settle(m)
}

// settle ends what nobody needs any more.
func (gs *graphs) settle(m *graphMemory) {
	if m.live {
		return
	}
	if m.backed && m.steps == 0 {
		m.backed = false
		gs.account(m.dev).back(-m.size)
	}
	if m.holders == 0 {
		m.sleep(false)
		if !m.alloc.left.Load() { // else it goes with its context
			_ = m.heap.Free(uint64(m.ptr))
		}
	}
}

func (gs *graphs) dropMemory(m *graphMemory) {
	m.holders--
	gs.settle(m)
}

func (m *graphMemory) sleep(on bool) {
	if m.dormant.Swap(on) == on {
		return
	}
	n := &m.dev.d.memory.dormant
	if on {
		n.Add(1)
	} else {
		n.Add(-1)
	}
}

// asleep says whether one of two addresses is of graph memory that is not allocated: it is no memory to calls that do
// not make nodes (recorded).
func (m *memory) asleep(p, q unsafe.Pointer) bool {
	return m.dormant.Load() != 0 && (m.asleepAt(p) || m.asleepAt(q))
}

func (m *memory) asleepAt(p unsafe.Pointer) bool {
	_, a, ok := m.find(driver.CUdeviceptr(uintptr(p)))
	return ok && a.graph != nil && a.graph.dormant.Load()
}

// freeGraphMemory is cuMemFree and cuMemFreeAsync of memory that a graph allocated and did not free.
func (d *Driver) freeGraphMemory(m *graphMemory) driver.CUresult {
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if !m.live {
		return invalidValue
	}
	d.gs.setLive(m, false)
	return success
}

// account checks and makes the changes of a launch to the accounts. A launch that would allocate again what the one
// before has left allocated is refused unless the graph frees on launch (cuGraphLaunch).
func (x *graphExec) account() driver.CUresult {
	gs := &x.d.gs
	state := map[*graphMemory]bool{}
	live := func(m *graphMemory) bool {
		if v, ok := state[m]; ok {
			return v
		}
		return m.live
	}
	auto := x.flags&uint64(driver.CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0
	r := success
	var order []*graphMemory
	x.plan.walk(func(s *step) {
		switch w := s.work.(type) {
		case *memAllocWork:
			if live(w.mem) && !(auto && !state[w.mem]) {
				r = invalidValue
			}
			state[w.mem] = true
			order = append(order, w.mem)
		case *memFreeWork:
			_, a, ok := x.d.memory.find(w.ptr)
			if !ok || a.graph == nil || !live(a.graph) {
				r = invalidValue
				return
			}
			state[a.graph] = false
			order = append(order, a.graph)
		}
	})
	if r != success {
		x.d.explain(x.ctx, "a launch would allocate memory that is still allocated, or free memory that is not")
		return r
	}
	for _, m := range order {
		gs.setLive(m, true) // for the high mark
	}
	for m, v := range state {
		gs.setLive(m, v)
	}
	return success
}

// newGraphMemory takes the memory of an allocation node. What it does not support, and a place of access that there is
// not, have codes of their own (recorded).
func (d *Driver) newGraphMemory(cur driver.CUcontext, p *driver.CUDA_MEM_ALLOC_NODE_PARAMS) (*memAllocWork,
	driver.CUresult) {
	props := &p.PoolProps
	dev, heap, r := d.located(props.AllocType, props.Location)
	if r != success || p.Bytesize == 0 {
		return nil, invalidValue
	}
	if props.HandleTypes != driver.CU_MEM_HANDLE_TYPE_NONE ||
		props.Location.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE {
		d.explain(nil, "graphs allocate memory of devices, which cannot be shared")
		return nil, notSupported
	}
	w := &memAllocWork{p: *p}
	if w.p.AccessDescCount > 0 {
		if w.p.AccessDescs == nil || w.p.AccessDescCount > uint64(len(d.devices))+1 {
			return nil, invalidValue
		}
		for _, a := range unsafe.Slice(w.p.AccessDescs, w.p.AccessDescCount) {
			switch {
			case a.Location.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE && !d.validPlace(a.Location):
				return nil, driver.CUDA_ERROR_INVALID_DEVICE
			case !d.validPlace(a.Location) || a.Flags != driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
				return nil, invalidValue
			}
			w.access = append(w.access, a)
		}
	}
	c, r := d.enter(cur)
	if r != success {
		return nil, r
	}
	m := &graphMemory{dev: dev, heap: heap, size: p.Bytesize, holders: 1, access: w.access}
	m.alloc = &allocation{graph: m}
	m.sleep(true)
	if m.ptr, r = c.allocate(heap, p.Bytesize, mem.MinAlign, m.alloc); r != success {
		m.sleep(false)
		return nil, r
	}
	w.mem = m
	w.p.Dptr = m.ptr
	p.Dptr = m.ptr
	return w, success
}

func (d *Driver) deviceGetGraphMemAttribute(_ driver.CUcontext, ordinal driver.CUdevice,
	attr driver.CUgraphMem_attribute, v unsafe.Pointer) driver.CUresult {
	dev, r := d.asked(v != nil, ordinal)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	a := d.gs.account(dev)
	out := (*uint64)(v)
	switch attr {
	case driver.CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		*out = a.used.now
	case driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*out = a.used.high
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*out = a.reserved.now
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*out = a.reserved.high
	default:
		return invalidValue
	}
	return success
}

// deviceSetGraphMemAttribute resets the high marks; 0 is the only value (CUgraphMem_attribute).
func (d *Driver) deviceSetGraphMemAttribute(_ driver.CUcontext, ordinal driver.CUdevice,
	attr driver.CUgraphMem_attribute, v unsafe.Pointer) driver.CUresult {
	dev, r := d.asked(v != nil, ordinal)
	if r != success {
		return r
	}
	if *(*uint64)(v) != 0 {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	a := d.gs.account(dev)
	switch attr {
	case driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		a.used.high = a.used.now
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		a.reserved.high = a.reserved.now
	default:
		return invalidValue
	}
	return success
}

// deviceGraphMemTrim is an entry in the account: memory that no graph holds has been given back already.
func (d *Driver) deviceGraphMemTrim(_ driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(true, ordinal)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	a := d.gs.account(dev)
	a.reserved.now = a.used.now
	return success
}

// captureAlloc makes a node of cuMemAllocAsync. The pool only says which device the memory is of: graphs have their
// own.
func (d *Driver) captureAlloc(out *driver.CUdeviceptr, n uint64, p *pool, s *stream) driver.CUresult {
	if p.heap != p.dev.heap {
		d.explain(s.ctx, "memory of the host and managed memory cannot be allocated in graphs")
		return s.spoil(notSupported)
	}
	if p.imported() {
		return s.spoil(invalidValue)
	}
	params := driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: p.props, Bytesize: n}
	params.PoolProps.HandleTypes = driver.CU_MEM_HANDLE_TYPE_NONE
	w, r := d.newGraphMemory(s.ctx.handle, &params)
	if r != success {
		return s.spoil(r)
	}
	if r := s.captureWork(w); r != success {
		return d.gs.change(func() ([]func(), driver.CUresult) {
			d.gs.dropMemory(w.mem)
			return nil, r
		})
	}
	*out = w.mem.ptr
	return success
}
