package softdev

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// The functions here turn the parameter structs of the API into works, and add them as nodes or put them in the place
// of others.

// newKernelWork resolves and checks a kernel node's parameters.
func (d *Driver) newKernelWork(cur driver.CUcontext, p *driver.CUDA_KERNEL_NODE_PARAMS) (*kernelWork, driver.CUresult) {
	if p == nil {
		return nil, invalidValue
	}
	w := &kernelWork{ctx: p.Ctx}
	h := p.Func
	if h == 0 && p.Kern != 0 {
		h, w.kernel = driver.CUfunction(p.Kern), p.Kern
	}
	f := d.functions.get(uintptr(h))
	if f == nil {
		if d.kernels.get(uintptr(h)) == nil {
			return nil, badHandle
		}
		in := p.Ctx
		if in == 0 {
			in = d.current(cur)
		}
		c, r := d.contextOf(in)
		if r != success {
			return nil, r
		}
		if f, r = d.launched(c, h); r != success {
			return nil, r
		}
		w.kernel = driver.CUkernel(h)
	}
	if r := f.mod.ctx.fault(); r != success {
		return nil, r
	}
	w.f = f
	w.q = launchRequest{grid: [3]uint32{p.GridDimX, p.GridDimY, p.GridDimZ},
		block: [3]uint32{p.BlockDimX, p.BlockDimY, p.BlockDimZ}, shared: p.SharedMemBytes}
	return w, d.completeKernel(w, p.KernelParams, p.Extra)
}

// completeKernel checks the launch of a kernel node and copies its parameters.
func (d *Driver) completeKernel(w *kernelWork, params *unsafe.Pointer, extra *uintptr) driver.CUresult {
	if err := w.f.prepare(); err != nil {
		return w.f.fail(err)
	}
	if r := w.f.validate(&w.q); r != success {
		return r
	}
	buf, r := w.f.gather(params, extra)
	if r != success {
		return r
	}
	w.keep(buf)
	w.f.mod.ctx.params.put(buf)
	if w.q.cooperative {
		w.f.mod.ctx.cooperated.Store(true)
		var v driver.CUlaunchAttributeValue
		*v.Cooperative() = 1
		w.setAttribute(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &v)
	}
	if w.q.cluster[0] != 0 {
		var v driver.CUlaunchAttributeValue
		*v.ClusterDim() = driver.CUlaunchAttributeValue_clusterDim{X: w.q.cluster[0], Y: w.q.cluster[1],
			Z: w.q.cluster[2]}
		w.setAttribute(driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &v)
	}
	return success
}

// nodeContext resolves the context of a copy or fill node; 0 is the current one, if there is one.
func (d *Driver) nodeContext(cur, h driver.CUcontext) (*context, driver.CUresult) {
	if h == 0 {
		if h = d.current(cur); h == 0 {
			return nil, invalidValue
		}
	}
	c, r := d.contextOf(h)
	if r != success {
		return nil, r
	}
	return c, c.fault()
}

func (d *Driver) newCopyWork(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D, ctx driver.CUcontext) (nodeWork,
	driver.CUresult) {
	if p == nil {
		return nil, invalidValue
	}
	c, r := d.nodeContext(cur, ctx)
	if r != success {
		return nil, r
	}
	w := &copyWork{c, *p}
	if p.WidthInBytes == 0 || p.Height == 0 || p.Depth == 0 {
		return nil, invalidValue
	}
	if _, r := w.box(); r != success {
		return nil, r
	}
	return w, success
}

func (d *Driver) newFillWork(cur driver.CUcontext, p *driver.CUDA_MEMSET_NODE_PARAMS, ctx driver.CUcontext) (nodeWork,
	driver.CUresult) {
	if p == nil {
		return nil, invalidValue
	}
	c, r := d.nodeContext(cur, ctx)
	if r != success {
		return nil, r
	}
	w := &fillWork{c, *p}
	if _, r := w.box(); r != success {
		return nil, r
	}
	return w, success
}

// hostTrampoline is the address that stands for Go functions in structs: a number in the window where nothing ever is.
func (d *Driver) hostTrampoline() uintptr { return uintptr(d.memory.w.Base() + codeOffset - 256) }

// hostFunc is Table.HostFunc.
func (d *Driver) hostFunc(run func()) (fn, userData uintptr, release func()) {
	key := d.gs.registry.Add(run)
	return d.hostTrampoline(), key, func() { d.gs.registry.Take(key) }
}

func (d *Driver) newHostWork(p *driver.CUDA_HOST_NODE_PARAMS) (nodeWork, driver.CUresult) {
	if p == nil || p.Fn == 0 {
		return nil, invalidValue
	}
	w := &hostWork{d: d, data: p.UserData, p: *p}
	switch {
	case p.Fn == d.hostTrampoline():
		run, ok := d.gs.registry.Get(p.UserData).(func())
		if !ok {
			return nil, invalidValue
		}
		w.fn.Go = func(uintptr) { run() }
	case d.table.CallC == nil:
		d.explain(nil, "a C function can be called through libcuda.so.1 only")
		return nil, notSupported
	default:
		w.fn.C = p.Fn
	}
	return w, success
}

func (d *Driver) newBatchWork(cur driver.CUcontext, p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) (nodeWork,
	driver.CUresult) {
	if p == nil || p.Ctx == 0 { // the current context does not stand in (recorded)
		return nil, invalidValue
	}
	c, r := d.nodeContext(cur, p.Ctx)
	if r != success {
		return nil, r
	}
	n := p.Count
	_, r = d.memory.batch(n, p.ParamArray, p.Flags)
	if r != success {
		return nil, r
	}
	w := &batchWork{c: c}
	if n > 0 {
		w.p = slices.Clone(unsafe.Slice(p.ParamArray, n))
	}
	return w, success
}

// newChildWork copies the child; graphs with memory nodes can only be moved into another (cuGraphAddMemAllocNode).
func (d *Driver) newChildWork(h driver.CUgraph, parent *graph, own driver.CUgraphChildGraphNodeOwnership) (nodeWork,
	driver.CUresult) {
	g, r := d.graph(h)
	if r != success {
		return nil, r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	if own != driver.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE { // whatever else it is (recorded)
		if g.once {
			d.explain(nil, "a graph with memory nodes can only be moved into another")
			return nil, notSupported
		}
		if g == parent {
			return nil, invalidValue // the driver dies
		}
		return &childWork{g: d.gs.copyGraph(g, nil)}, success
	}
	if g.parent != nil {
		d.explain(nil, "the graph belongs to another already")
		return nil, notSupported
	}
	if g == parent || g.inst > 0 || parent == nil {
		return nil, invalidValue
	}
	for p := parent; p.parent != nil; p = p.parent.g {
		if p.parent.g == g {
			return nil, invalidValue
		}
	}
	return &childWork{g: g}, success
}

func (d *Driver) newEventWork(h driver.CUevent, record bool) (nodeWork, driver.CUresult) {
	if h == 0 {
		return nil, invalidValue
	}
	e, r := d.event(h)
	if r != success {
		return nil, r
	}
	if record {
		return &eventRecordWork{e}, success
	}
	return &eventWaitWork{e}, success
}

// newMemFreeWork frees memory once in a graph (cuGraphAddMemFreeNode).
func (d *Driver) newMemFreeWork(g *graph, p driver.CUdeviceptr) (nodeWork, driver.CUresult) {
	rng, a, ok := d.memory.find(p)
	if p == 0 || !ok || rng.Base != uint64(p) || a.graph == nil {
		return nil, invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	for _, n := range g.nodes {
		if w, ok := n.work.(*memFreeWork); ok && w.ptr == p {
			return nil, invalidValue
		}
	}
	return &memFreeWork{p}, success
}

// newConditionalWork makes a conditional node's empty bodies and shows them to the program.
func (d *Driver) newConditionalWork(g *graph, p *driver.CUDA_CONDITIONAL_NODE_PARAMS) (nodeWork, driver.CUresult) {
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	c, typ, size := d.gs.conds.get(uintptr(p.Handle)), p.Type, p.Size
	if c == nil || c.used || size == 0 {
		return nil, invalidValue
	}
	for own := g; own != c.g; own = own.parent.g { // the handle belongs to this graph or one around it
		if own.parent == nil {
			return nil, invalidValue
		}
	}
	const most = 1 << 16
	switch typ {
	case driver.CU_GRAPH_COND_TYPE_IF:
		if size > 2 {
			return nil, invalidValue
		}
	case driver.CU_GRAPH_COND_TYPE_WHILE:
		if size != 1 {
			return nil, invalidValue
		}
	case driver.CU_GRAPH_COND_TYPE_SWITCH:
		if size > most {
			return nil, invalidValue
		}
	default:
		return nil, invalidValue
	}
	c.used = true
	w := &conditionalWork{cond: c, typ: typ}
	for range size {
		b := d.gs.newGraph()
		w.bodies, w.shown = append(w.bodies, b), append(w.shown, b.handle)
	}
	p.PhGraph_out = unsafe.SliceData(w.shown)
	return w, success
}

func (d *Driver) graphConditionalHandleCreate(cur driver.CUcontext, out *driver.CUgraphConditionalHandle,
	h driver.CUgraph, ctx driver.CUcontext, value, flags uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	g, r := d.graph(h)
	if r != success {
		return r
	}
	const known = driver.CU_GRAPH_COND_ASSIGN_DEFAULT
	if flags&^uint32(known) != 0 {
		return invalidValue
	}
	if ctx == 0 {
		return invalidCtx // the current one does not stand in (recorded)
	}
	c, r := d.nodeContext(cur, ctx)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	k := &conditional{g: g, dflt: value, assign: flags&known != 0, context: c.handle}
	if k.handle = d.gs.conds.add(k); k.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	g.conds = append(g.conds, k)
	*out = driver.CUgraphConditionalHandle(k.handle)
	return success
}

// SetConditional serves cudaGraphSetConditional in kernels; a number that is no handle is ignored, as a store nobody
// reads.
func (h *deviceHeap) SetConditional(handle uint64, value uint32) {
	if k := h.c.d.gs.conds.get(uintptr(handle)); k != nil {
		k.value.Store(value)
	}
}

// work makes the work of cuGraphAddNode and of the calls that set parameters by the same struct. g is nil for the
// latter.
func (d *Driver) work(cur driver.CUcontext, g *graph, p *driver.CUgraphNodeParams) (nodeWork, driver.CUresult) {
	if p.Reserved0 != [3]int32{} || p.Reserved2 != 0 {
		return nil, invalidValue
	}
	switch p.Type {
	case driver.CU_GRAPH_NODE_TYPE_KERNEL:
		w, r := d.newKernelWork(cur, unionAt[driver.CUDA_KERNEL_NODE_PARAMS](p))
		return w, r
	case driver.CU_GRAPH_NODE_TYPE_MEMCPY:
		m := p.Memcpy()
		if m.Flags != 0 || m.Reserved != 0 {
			return nil, invalidValue
		}
		return d.newCopyWork(cur, &m.CopyParams, m.CopyCtx)
	case driver.CU_GRAPH_NODE_TYPE_MEMSET:
		return d.newFillWork(cur, unionAt[driver.CUDA_MEMSET_NODE_PARAMS](p), p.Memset().Ctx)
	case driver.CU_GRAPH_NODE_TYPE_HOST:
		return d.newHostWork(unionAt[driver.CUDA_HOST_NODE_PARAMS](p))
	case driver.CU_GRAPH_NODE_TYPE_GRAPH:
		return d.newChildWork(p.Graph().Graph, g, p.Graph().Ownership)
	case driver.CU_GRAPH_NODE_TYPE_EMPTY:
		return emptyWork{}, success
	case driver.CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return d.newEventWork(p.EventWait().Event, false)
	case driver.CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return d.newEventWork(p.EventRecord().Event, true)
	case driver.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP:
		return d.newBatchWork(cur, unionAt[driver.CUDA_BATCH_MEM_OP_NODE_PARAMS](p))
	case driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
		return d.signalBuilder(unionAt[driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS](p))()
	case driver.CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT:
		return d.waitBuilder(unionAt[driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS](p))()
	}
	if g == nil { // the parameters of the others cannot be changed
		return nil, invalidValue
	}
	switch p.Type {
	case driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		w, r := d.newGraphMemory(cur, unionAt[driver.CUDA_MEM_ALLOC_NODE_PARAMS](p))
		return w, r
	case driver.CU_GRAPH_NODE_TYPE_MEM_FREE:
		return d.newMemFreeWork(g, p.Free().Dptr)
	case driver.CU_GRAPH_NODE_TYPE_CONDITIONAL:
		return d.newConditionalWork(g, p.Conditional())
	}
	return nil, invalidValue
}

// adding is the beginning of the calls that add a node, once they know that they may look: the graph, then the work,
// then the edges.
func (d *Driver) adding(out *driver.CUgraphNode, h driver.CUgraph, deps *driver.CUgraphNode, n uint64,
	build func(g *graph) (nodeWork, driver.CUresult)) driver.CUresult {
	return d.addingWith(out, h, deps, nil, n, build)
}

func (d *Driver) addingWith(out *driver.CUgraphNode, h driver.CUgraph, deps *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n uint64, build func(g *graph) (nodeWork, driver.CUresult)) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	if out == nil || deps == nil && n > 0 {
		return invalidValue
	}
	_, r = d.edges(g, deps, data, n) // before anything is made
	if r != success {
		return r
	}
	w, r := build(g)
	if r != success {
		return r
	}
	if r := d.insert(out, g, deps, data, n, w); r != success {
		return d.gs.change(func() ([]func(), driver.CUresult) { return d.gs.discardNode(&graphNode{work: w}), r })
	}
	return success
}

// edges is dependences without the graphs' lock.
func (d *Driver) edges(g *graph, deps *driver.CUgraphNode, data *driver.CUgraphEdgeData, n uint64) ([]graphEdge,
	driver.CUresult) {
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	return d.dependences(g, deps, data, n, nil)
}

// workOf returns the work of a node when it is of the type asked for; a node of another kind is an invalid value
// (recorded).
func workOf[W nodeWork](d *Driver, h driver.CUgraphNode) (*graphNode, W, driver.CUresult) {
	var none W
	n, r := d.graphNode(h)
	if r != success {
		return nil, none, r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	w, ok := n.work.(W)
	if !ok {
		return nil, none, invalidValue
	}
	return n, w, success
}

// getParams fills a struct from a node.
func getParams[W nodeWork, P any](d *Driver, h driver.CUgraphNode, p *P, get func(w W, p *P)) driver.CUresult {
	_, w, r := workOf[W](d, h)
	if r != success {
		return r
	}
	if p == nil {
		return invalidValue
	}
	get(w, p)
	return success
}

// setParams gives a node other work of the same kind.
func (d *Driver) setParams(h driver.CUgraphNode, build func() (nodeWork, driver.CUresult)) driver.CUresult {
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	w, r := build()
	if r != success {
		return r
	}
	return d.gs.change(func() (finish []func(), r driver.CUresult) {
		if n.work.kind() != w.kind() {
			return d.gs.discardNode(&graphNode{work: w}), invalidValue
		}
		switch w := w.(type) {
		case *kernelWork: // the attributes stay
			o := n.work.(*kernelWork)
			w.attrs = slices.Clone(o.attrs)
			w.q.cooperative, w.q.cluster = o.q.cooperative, o.q.cluster
		case *childWork:
			w.g.parent = n
			finish = d.gs.discardNode(&graphNode{work: n.work})
		}
		n.work = w
		return finish, success
	})
}

// inherit gives a kernel what a step has besides parameters.
func (gs *graphs) inherit(k *kernelWork, s *step) {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	if o, ok := s.work.(*kernelWork); ok {
		k.q.cooperative, k.q.cluster = o.q.cooperative, o.q.cluster
	}
}

// setExec is setParams for a node of an executable graph.
func (d *Driver) setExec(x driver.CUgraphExec, h driver.CUgraphNode,
	build func() (nodeWork, driver.CUresult)) driver.CUresult {
	_, s, r := d.step(x, h)
	if r != success {
		return r
	}
	w, r := build()
	if r != success {
		return r
	}
	if k, ok := w.(*kernelWork); ok {
		d.gs.inherit(k, s)
	}
	r = d.setStep(x, h, w)
	if c, ok := w.(*childWork); ok { // only its plan was taken
		return d.gs.change(func() ([]func(), driver.CUresult) { return d.gs.discard(c.g), r })
	}
	return r
}

func (d *Driver) graphKernelNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS) driver.CUresult {
	return getParams(d, h, p, (*kernelWork).get)
}

func (d *Driver) graphKernelNodeGetParams1(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS_v1) driver.CUresult {
	return getParams(d, h, p, func(w *kernelWork, p *driver.CUDA_KERNEL_NODE_PARAMS_v1) {
		var q driver.CUDA_KERNEL_NODE_PARAMS
		w.get(&q)
		*p = driver.CUDA_KERNEL_NODE_PARAMS_v1{Func: w.f.handle, GridDimX: q.GridDimX, GridDimY: q.GridDimY,
			GridDimZ: q.GridDimZ, BlockDimX: q.BlockDimX, BlockDimY: q.BlockDimY, BlockDimZ: q.BlockDimZ,
			SharedMemBytes: q.SharedMemBytes, KernelParams: q.KernelParams}
	})
}

func (d *Driver) kernelBuilder(cur driver.CUcontext, p *driver.CUDA_KERNEL_NODE_PARAMS) func() (nodeWork,
	driver.CUresult) {
	return func() (nodeWork, driver.CUresult) {
		w, r := d.newKernelWork(cur, p)
		return w, r
	}
}

func (d *Driver) graphKernelNodeSetParams(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS) driver.CUresult {
	return d.setParams(h, d.kernelBuilder(cur, p))
}

func (d *Driver) graphKernelNodeSetParams1(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS_v1) driver.CUresult {
	return d.setParams(h, d.kernelBuilder(cur, kernelParams1(p)))
}

func (d *Driver) graphExecKernelNodeSetParams(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS) driver.CUresult {
	return d.setExec(x, h, d.kernelBuilder(cur, p))
}

func (d *Driver) graphExecKernelNodeSetParams1(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_KERNEL_NODE_PARAMS_v1) driver.CUresult {
	return d.setExec(x, h, d.kernelBuilder(cur, kernelParams1(p)))
}

func (d *Driver) graphMemcpyNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_MEMCPY3D) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return getParams(d, h, p, func(w *copyWork, p *driver.CUDA_MEMCPY3D) { *p = w.p })
}

// graphMemcpyNodeSetParams keeps the node's context.
func (d *Driver) graphMemcpyNodeSetParams(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_MEMCPY3D) driver.CUresult {
	_, w, r := workOf[*copyWork](d, h)
	if r != success {
		return r
	}
	return d.setParams(h, func() (nodeWork, driver.CUresult) { return d.newCopyWork(cur, p, w.c.handle) })
}

func (d *Driver) graphExecMemcpyNodeSetParams(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_MEMCPY3D, ctx driver.CUcontext) driver.CUresult {
	return d.setExec(x, h, func() (nodeWork, driver.CUresult) { return d.newCopyWork(cur, p, ctx) })
}

func (d *Driver) graphMemsetNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_MEMSET_NODE_PARAMS) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return getParams(d, h, p, func(w *fillWork, p *driver.CUDA_MEMSET_NODE_PARAMS) { *p = w.p })
}

func (d *Driver) graphMemsetNodeSetParams(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_MEMSET_NODE_PARAMS) driver.CUresult {
	_, w, r := workOf[*fillWork](d, h)
	if r != success {
		return r
	}
	return d.setParams(h, func() (nodeWork, driver.CUresult) { return d.newFillWork(cur, p, w.c.handle) })
}

func (d *Driver) graphExecMemsetNodeSetParams(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_MEMSET_NODE_PARAMS, ctx driver.CUcontext) driver.CUresult {
	return d.setExec(x, h, func() (nodeWork, driver.CUresult) { return d.newFillWork(cur, p, ctx) })
}

func (d *Driver) graphHostNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_HOST_NODE_PARAMS) driver.CUresult {
	return getParams(d, h, p, func(w *hostWork, p *driver.CUDA_HOST_NODE_PARAMS) { *p = w.p })
}

func (d *Driver) graphHostNodeSetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_HOST_NODE_PARAMS) driver.CUresult {
	return d.setParams(h, func() (nodeWork, driver.CUresult) { return d.newHostWork(p) })
}

func (d *Driver) graphExecHostNodeSetParams(_ driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_HOST_NODE_PARAMS) driver.CUresult {
	return d.setExec(x, h, func() (nodeWork, driver.CUresult) { return d.newHostWork(p) })
}

func (d *Driver) graphChildGraphNodeGetGraph(_ driver.CUcontext, h driver.CUgraphNode,
	out *driver.CUgraph) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return getParams(d, h, out, func(w *childWork, p *driver.CUgraph) { *p = w.g.handle })
}

func (d *Driver) graphExecChildGraphNodeSetParams(_ driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	child driver.CUgraph) driver.CUresult {
	return d.setExec(x, h, func() (nodeWork, driver.CUresult) {
		return d.newChildWork(child, nil, driver.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
	})
}

func (d *Driver) graphEventRecordNodeGetEvent(_ driver.CUcontext, h driver.CUgraphNode,
	out *driver.CUevent) driver.CUresult {
	return getParams(d, h, out, func(w *eventRecordWork, p *driver.CUevent) { *p = w.e.handle })
}

func (d *Driver) graphEventWaitNodeGetEvent(_ driver.CUcontext, h driver.CUgraphNode,
	out *driver.CUevent) driver.CUresult {
	return getParams(d, h, out, func(w *eventWaitWork, p *driver.CUevent) { *p = w.e.handle })
}

func (d *Driver) graphEventNodeSetEvent(record bool) func(driver.CUcontext, driver.CUgraphNode,
	driver.CUevent) driver.CUresult {
	return func(_ driver.CUcontext, h driver.CUgraphNode, e driver.CUevent) driver.CUresult {
		return d.setParams(h, func() (nodeWork, driver.CUresult) { return d.newEventWork(e, record) })
	}
}

func (d *Driver) graphExecEventNodeSetEvent(record bool) func(driver.CUcontext, driver.CUgraphExec, driver.CUgraphNode,
	driver.CUevent) driver.CUresult {
	return func(_ driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode, e driver.CUevent) driver.CUresult {
		return d.setExec(x, h, func() (nodeWork, driver.CUresult) { return d.newEventWork(e, record) })
	}
}

func (d *Driver) graphBatchMemOpNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) driver.CUresult {
	return getParams(d, h, p, (*batchWork).get)
}

func (d *Driver) graphBatchMemOpNodeSetParams(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) driver.CUresult {
	return d.setParams(h, func() (nodeWork, driver.CUresult) { return d.newBatchWork(cur, p) })
}

func (d *Driver) graphExecBatchMemOpNodeSetParams(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) driver.CUresult {
	return d.setExec(x, h, func() (nodeWork, driver.CUresult) { return d.newBatchWork(cur, p) })
}

func (d *Driver) graphMemAllocNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUDA_MEM_ALLOC_NODE_PARAMS) driver.CUresult {
	return getParams(d, h, p, (*memAllocWork).get)
}

func (d *Driver) graphMemFreeNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUdeviceptr) driver.CUresult {
	return getParams(d, h, p, func(w *memFreeWork, p *driver.CUdeviceptr) { *p = w.ptr })
}

func (gs *graphs) kindOf(n *graphNode) driver.CUgraphNodeType {
	gs.mu.Lock()
	defer gs.mu.Unlock()
	return n.work.kind()
}

// changing is the work of the calls that set a node's parameters by the struct that serves all kinds; the node has to
// be of the struct's kind.
func (d *Driver) changing(cur driver.CUcontext, h driver.CUgraphNode, p *driver.CUgraphNodeParams) func() (nodeWork,
	driver.CUresult) {
	return func() (nodeWork, driver.CUresult) {
		n, r := d.graphNode(h)
		if r != success {
			return nil, r
		}
		if p == nil || p.Type != d.gs.kindOf(n) {
			return nil, invalidValue
		}
		return d.work(cur, nil, p)
	}
}

func (d *Driver) graphNodeSetParams(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUgraphNodeParams) driver.CUresult {
	return d.setParams(h, d.changing(cur, h, p))
}

func (d *Driver) graphExecNodeSetParams(cur driver.CUcontext, x driver.CUgraphExec, h driver.CUgraphNode,
	p *driver.CUgraphNodeParams) driver.CUresult {
	build := d.changing(cur, h, p)
	// there is nothing to set: the graph need not have the node (recorded)
	if p != nil && p.Type == driver.CU_GRAPH_NODE_TYPE_EMPTY {
		if _, r := d.graphExec(x); r != success {
			return r
		}
		_, r := build()
		return r
	}
	return d.setExec(x, h, build)
}

// nodeAttribute says whether kernel nodes have an attribute (CU_KERNEL_NODE_ATTRIBUTE_...). A preferred cluster
// dimension they have not, on this architecture (recorded).
func nodeAttribute(id driver.CUkernelNodeAttrID) bool {
	switch id {
	case driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
		driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
		driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE, driver.CU_LAUNCH_ATTRIBUTE_PRIORITY,
		driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
		driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, driver.CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE,
		driver.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return true
	}
	return false
}

func (d *Driver) graphKernelNodeGetAttribute(_ driver.CUcontext, h driver.CUgraphNode, id driver.CUkernelNodeAttrID,
	v *driver.CUkernelNodeAttrValue) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	_, w, r := workOf[*kernelWork](d, h)
	if r != success {
		return r
	}
	if v == nil || !nodeAttribute(id) {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	*v = driver.CUkernelNodeAttrValue{}
	if at := w.attribute(id); at != nil {
		*v = *at
	} else if id == driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP {
		v.MemSyncDomainMap().Remote = 1 // each domain is its own
	}
	return success
}

func (d *Driver) graphKernelNodeSetAttribute(_ driver.CUcontext, h driver.CUgraphNode, id driver.CUkernelNodeAttrID,
	v *driver.CUkernelNodeAttrValue) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	n, w, r := workOf[*kernelWork](d, h)
	if r != success {
		return r
	}
	if v == nil || !nodeAttribute(id) {
		return invalidValue
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	k := w.clone(&d.gs).(*kernelWork) // executable graphs share nothing with the node
	a := driver.CUlaunchAttribute{Id: id, Value: *v}
	if id == driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION &&
		*v.ClusterDim() == (driver.CUlaunchAttributeValue_clusterDim{}) {
		k.q.cluster = [3]uint32{}
	} else if r := d.launchAttribute(k.f.mod.ctx.legacy, &k.q, &a); r != success {
		return r
	}
	if r := k.f.validate(&k.q); r != success {
		return r
	}
	if id == driver.CU_LAUNCH_ATTRIBUTE_PRIORITY {
		*a.Value.Priority() = k.f.mod.ctx.dev.clampPriority(*v.Priority())
	}
	k.setAttribute(id, &a.Value)
	n.work = k
	return success
}

func (d *Driver) graphKernelNodeCopyAttributes(_ driver.CUcontext, dst, src driver.CUgraphNode) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	to, w, r := workOf[*kernelWork](d, dst)
	if r != success {
		return r
	}
	_, from, r := workOf[*kernelWork](d, src)
	if r != success {
		return r
	}
	d.gs.mu.Lock()
	defer d.gs.mu.Unlock()
	k := w.clone(&d.gs).(*kernelWork)
	k.attrs = slices.Clone(from.attrs)
	k.q.cooperative, k.q.cluster = from.q.cooperative, from.q.cluster
	if r := k.f.validate(&k.q); r != success {
		return r
	}
	to.work = k
	return success
}
