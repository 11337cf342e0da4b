package softdev

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// changeable says whether a node of an executable graph may get other work: of the same kind, kernels in the same
// context, copies of the same shape of ends (cuGraphExecUpdate, "limitations").
func changeable(old, w nodeWork) driver.CUgraphExecUpdateResult {
	if old.kind() != w.kind() {
		return driver.CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED
	}
	switch w := w.(type) {
	case *kernelWork:
		o := old.(*kernelWork)
		if o.f.mod.ctx != w.f.mod.ctx {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE
		}
		if o.q.cooperative != w.q.cooperative {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
		}
	case *copyWork:
		o := old.(*copyWork)
		if o.c != w.c || o.p.SrcMemoryType != w.p.SrcMemoryType || o.p.DstMemoryType != w.p.DstMemoryType ||
			(o.p.Height > 1 || o.p.Depth > 1) != (w.p.Height > 1 || w.p.Depth > 1) {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *fillWork:
		o := old.(*fillWork)
		if o.c != w.c || (o.p.Height > 1) != (w.p.Height > 1) {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *signalWork:
		if !w.fixed(old) {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *waitWork:
		if !w.fixed(old) {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *memAllocWork:
		if old.(*memAllocWork).mem != w.mem {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *memFreeWork:
		if old.(*memFreeWork).ptr != w.ptr {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED
		}
	case *conditionalWork:
		o := old.(*conditionalWork)
		// a handle belongs to its graph, and the other graph has another
		if o.typ != w.typ || len(o.plans) != len(w.plans) {
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED // recorded
		}
	}
	return driver.CU_GRAPH_EXEC_UPDATE_SUCCESS
}

// compare looks for what keeps a plan from getting the works of another; node and from are of the other's graph.
func (p *plan) compare(q *plan) (why driver.CUgraphExecUpdateResult, node, from *graphNode) {
	if len(p.steps) != len(q.steps) {
		return driver.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, nil, nil
	}
	for i := range p.steps { // the shape comes before the works (recorded)
		a, b := &p.steps[i], &q.steps[i]
		if a.deps != b.deps || !slices.Equal(a.next, b.next) {
			for k, j := range b.next {
				if k >= len(a.next) || a.next[k] != j {
					return driver.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, q.steps[j].node, b.node
				}
			}
			return driver.CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, b.node, nil
		}
	}
	for i := range p.steps {
		a, b := &p.steps[i], &q.steps[i]
		if why := changeable(a.work, b.work); why != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
			return why, b.node, nil
		}
		x, y := subplans(a.work), subplans(b.work)
		for k := range x {
			if why, node, from := x[k].compare(y[k]); why != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
				return why, node, from
			}
		}
	}
	return driver.CU_GRAPH_EXEC_UPDATE_SUCCESS, nil, nil
}

// adopt takes over the works of a plan that compare has found equal in structure. Conditional nodes get the other
// graph's handles, with their flags and default values (cuGraphExecUpdate): the kernels that set the values come from
// there too.
func (gs *graphs) adopt(p, q *plan) {
	for i := range p.steps {
		x, y := subplans(p.steps[i].work), subplans(q.steps[i].work)
		for k := range x {
			gs.adopt(x[k], y[k])
		}
		if w, ok := p.steps[i].work.(*conditionalWork); ok {
			old := w.cond
			w.cond = q.steps[i].work.(*conditionalWork).cond
			w.cond.value.Store(old.value.Load()) // a launch that assigns none finds what the one before left (recorded)
			gs.holdConditional(w.cond)
			gs.dropConditional(old)
		}
		if _, ok := p.steps[i].work.(*memAllocWork); !ok && x == nil {
			p.steps[i].work = q.steps[i].work
		}
	}
}

// drop gives up what a plan that is not used holds.
func (gs *graphs) drop(p *plan) {
	p.walk(func(s *step) {
		switch w := s.work.(type) {
		case *memAllocWork:
			w.mem.steps--
			gs.dropMemory(w.mem)
		case *conditionalWork:
			gs.dropConditional(w.cond)
		}
	})
}

func (d *Driver) graphExecUpdate(_ driver.CUcontext, h driver.CUgraphExec, gh driver.CUgraph,
	info *driver.CUgraphExecUpdateResultInfo) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if info == nil {
		info = new(driver.CUgraphExecUpdateResultInfo)
	}
	*info = driver.CUgraphExecUpdateResultInfo{} // whatever comes of it (recorded)
	x, r := d.graphExec(h)
	if r != success {
		return r
	}
	g, r := d.graph(gh)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	q, bad := d.gs.newPlan(g)
	if bad != nil {
		info.Result, info.ErrorNode = driver.CU_GRAPH_EXEC_UPDATE_ERROR, bad.handle
		return driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
	}
	defer d.gs.drop(q)
	why, node, from := x.plan.compare(q)
	if why == driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
		d.gs.adopt(x.plan, q)
		return success
	}
	info.Result = why
	if node != nil {
		info.ErrorNode = node.handle
	}
	if from != nil {
		info.ErrorFromNode = from.handle
	}
	return driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
}

// graphExecUpdate1 is the form before CUDA 12.
func (d *Driver) graphExecUpdate1(cur driver.CUcontext, h driver.CUgraphExec, gh driver.CUgraph,
	node *driver.CUgraphNode, why *driver.CUgraphExecUpdateResult) driver.CUresult {
	var info driver.CUgraphExecUpdateResultInfo
	r := d.graphExecUpdate(cur, h, gh, &info)
	if node != nil {
		*node = info.ErrorNode
	}
	if why != nil {
		*why = info.Result
	}
	return r
}

// setStep gives a node of an executable graph other work; it holds for launches to come.
func (d *Driver) setStep(h driver.CUgraphExec, nh driver.CUgraphNode, w nodeWork) driver.CUresult {
	_, s, r := d.step(h, nh)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if c, ok := w.(*childWork); ok {
		o, ok := s.work.(*childWork)
		if !ok {
			return invalidValue
		}
		q, bad := d.gs.newPlan(c.g)
		if bad != nil {
			return invalidValue
		}
		defer d.gs.drop(q)
		if why, _, _ := o.plan.compare(q); why != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
			return driver.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
		}
		d.gs.adopt(o.plan, q)
		return success
	}
	if changeable(s.work, w) != driver.CU_GRAPH_EXEC_UPDATE_SUCCESS {
		return invalidValue
	}
	if k, ok := w.(*kernelWork); ok { // the attributes stay
		o := s.work.(*kernelWork)
		k.attrs = o.attrs
	}
	s.work = w
	return success
}

func unionAt[T any](p *driver.CUgraphNodeParams) *T {
	return (*T)(unsafe.Pointer(p.Reserved1()))
}
