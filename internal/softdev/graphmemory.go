package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// graphMemory is the allocation behind a memory allocation node. Its address and memory are there as long as a graph, an executable graph or a
// launch without a free needs them.
type graphMemory struct {
	dev     *device
	alloc   *allocation
	ptr     driver.CUdeviceptr
	size    uint64
	holders int  // nodes and steps
	live    bool // allocated by a launch, and not freed by what was queued since; d.gs.mu
}

// graphAccount is what cuDeviceGetGraphMemAttribute reports of a device.
type graphAccount struct{ used, usedHigh, reserved, reservedHigh uint64 }

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
	a := gs.account(m.dev)
	if live {
		a.used += m.size
		a.usedHigh = max(a.usedHigh, a.used)
		return
	}
	a.used -= m.size
	if m.holders == 0 {
		gs.giveBack(m)
	}
}

func (gs *graphs) dropMemory(m *graphMemory) {
	if m.holders--; m.holders == 0 && !m.live {
		gs.giveBack(m)
	}
}

func (gs *graphs) giveBack(m *graphMemory) {
	gs.account(m.dev).reserved -= m.size
	_ = m.dev.heap.Free(uint64(m.ptr)) // gone already when its context was destroyed
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

// account checks and makes the changes of a launch to the accounts. A launch that would allocate again what the one before has left allocated is
// refused unless the graph frees on launch (cuGraphLaunch).
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

// newGraphMemory takes the memory of an allocation node.
func (d *Driver) newGraphMemory(cur driver.CUcontext, p *driver.CUDA_MEM_ALLOC_NODE_PARAMS) (*memAllocWork, driver.CUresult) {
	props := &p.PoolProps
	if props.AllocType != driver.CU_MEM_ALLOCATION_TYPE_PINNED || props.Location.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE || p.Bytesize == 0 {
		return nil, invalidValue
	}
	if props.HandleTypes != driver.CU_MEM_HANDLE_TYPE_NONE { // graph allocations cannot be shared (CUDA_MEM_ALLOC_NODE_PARAMS)
		return nil, invalidValue
	}
	dev, r := d.deviceOf(driver.CUdevice(props.Location.Id))
	if r != success {
		return nil, invalidValue
	}
	w := &memAllocWork{p: *p}
	if p.AccessDescCount > 0 {
		if p.AccessDescs == nil || p.AccessDescCount > uint64(len(d.devices)) {
			return nil, invalidValue
		}
		for _, a := range unsafe.Slice(p.AccessDescs, p.AccessDescCount) {
			if a.Location.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE || a.Location.Id < 0 || int(a.Location.Id) >= len(d.devices) || a.Flags != driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE {
				return nil, invalidValue
			}
			w.access = append(w.access, a)
		}
	}
	c, r := d.enter(cur)
	if r != success {
		return nil, r
	}
	m := &graphMemory{dev: dev, size: p.Bytesize, holders: 1}
	m.alloc = &allocation{graph: m}
	if m.ptr, r = c.allocate(dev.heap, p.Bytesize, mem.MinAlign, m.alloc); r != success {
		return nil, r
	}
	w.mem = m
	w.p.Dptr = m.ptr
	p.Dptr = m.ptr
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	a := d.gs.account(dev)
	a.reserved += m.size
	a.reservedHigh = max(a.reservedHigh, a.reserved)
	return w, success
}

func (d *Driver) deviceGetGraphMemAttribute(_ driver.CUcontext, ordinal driver.CUdevice, attr driver.CUgraphMem_attribute, v unsafe.Pointer) driver.CUresult {
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
		*out = a.used
	case driver.CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		*out = a.usedHigh
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		*out = a.reserved
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		*out = a.reservedHigh
	default:
		return invalidValue
	}
	return success
}

// deviceSetGraphMemAttribute resets the high marks; 0 is the only value (CUgraphMem_attribute).
func (d *Driver) deviceSetGraphMemAttribute(_ driver.CUcontext, ordinal driver.CUdevice, attr driver.CUgraphMem_attribute, v unsafe.Pointer) driver.CUresult {
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
		a.usedHigh = a.used
	case driver.CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		a.reservedHigh = a.reserved
	default:
		return invalidValue
	}
	return success
}

// deviceGraphMemTrim: memory that no graph holds has been given back already.
func (d *Driver) deviceGraphMemTrim(_ driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	_, r := d.asked(true, ordinal)
	return r
}

// captureAlloc makes a node of cuMemAllocAsync. The pool only says which device the memory is of: graphs have their own.
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
		d.gs.mu.Lock()
		d.gs.dropMemory(w.mem)
		d.gs.mu.Unlock()
		return r
	}
	*out = w.mem.ptr
	return success
}
