package softdev

import (
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// emptyWork only joins edges.
type emptyWork struct{}

func (emptyWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_EMPTY }
func (emptyWork) clone(*graphs) nodeWork       { return emptyWork{} }
func (emptyWork) run(*graphRun)                {}

// kernelWork is a kernel node: a launch with its own copy of the parameters.
type kernelWork struct {
	f      *function
	kernel driver.CUkernel // how the program named it: as a kernel of a library, or 0
	ctx    driver.CUcontext
	q      launchRequest
	params []byte           // as the kernel sees them
	values []unsafe.Pointer // each parameter in memory of its own, for cuGraphKernelNodeGetParams
	attrs  []driver.CUlaunchAttribute
}

func (*kernelWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_KERNEL }

func (w *kernelWork) clone(*graphs) nodeWork {
	c := *w
	c.attrs = slices.Clone(w.attrs)
	return &c
}

func (w *kernelWork) run(r *graphRun) {
	c := w.f.mod.ctx
	if r.skip(c) {
		return
	}
	if w.f.mod.unloaded() {
		c.fail(driver.CUDA_ERROR_ILLEGAL_ADDRESS, "the module of a graph's kernel "+w.f.entry.fn.Name+" was unloaded")
		return
	}
	buf, res := c.params.get(c, uint64(w.f.kernel.ParamSize)+workspaceSize)
	if res != success {
		c.fail(res, "no memory for the parameters of a graph's kernel")
		return
	}
	copy(buf.bytes, w.params)
	l := w.f.launch(&w.q, buf)
	if err := w.f.mod.run(&l, r.act); err != nil {
		c.broken(err)
	}
	c.params.put(buf)
}

// keep takes the parameters out of a buffer into the node.
func (w *kernelWork) keep(buf *paramBuffer) {
	k := w.f.kernel
	w.params = slices.Clone(buf.bytes[:k.ParamSize])
	w.values = nil // a kernel without parameters shows NULL (recorded)
	if len(k.Params) > 0 {
		w.values = make([]unsafe.Pointer, len(k.Params))
	}
	for i := range k.Params {
		p := &k.Params[i]
		value := make([]uint64, (p.Size+7)/8+1) // aligned
		w.values[i] = unsafe.Pointer(&value[0])
		copy(unsafe.Slice((*byte)(w.values[i]), p.Size), w.params[p.Offset:p.Offset+p.Size])
	}
}

// get fills the program's struct.
func (w *kernelWork) get(p *driver.CUDA_KERNEL_NODE_PARAMS) {
	*p = driver.CUDA_KERNEL_NODE_PARAMS{
		Func: w.f.handle, GridDimX: w.q.grid[0], GridDimY: w.q.grid[1], GridDimZ: w.q.grid[2], BlockDimX: w.q.block[0],
		BlockDimY: w.q.block[1], BlockDimZ: w.q.block[2],
		SharedMemBytes: w.q.shared, KernelParams: unsafe.SliceData(w.values), Kern: w.kernel, Ctx: w.f.mod.ctx.handle,
	}
}

// attribute returns the place of a launch attribute; nil when it is not set.
func (w *kernelWork) attribute(id driver.CUlaunchAttributeID) *driver.CUlaunchAttributeValue {
	for i := range w.attrs {
		if w.attrs[i].Id == id {
			return &w.attrs[i].Value
		}
	}
	return nil
}

func (w *kernelWork) setAttribute(id driver.CUlaunchAttributeID, v *driver.CUlaunchAttributeValue) {
	if at := w.attribute(id); at != nil {
		*at = *v
		return
	}
	w.attrs = append(w.attrs, driver.CUlaunchAttribute{Id: id, Value: *v})
}

// copyWork is a memcpy node. Addresses are looked up when it runs.
type copyWork struct {
	c *context
	p driver.CUDA_MEMCPY3D
}

func (*copyWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_MEMCPY }
func (w *copyWork) clone(*graphs) nodeWork     { c := *w; return &c }

func (w *copyWork) box() (*boxCopy, driver.CUresult) {
	p := &w.p
	dst := &place{kind: p.DstMemoryType, host: p.DstHost, device: p.DstDevice, array: p.DstArray, x: p.DstXInBytes,
		y: p.DstY, z: p.DstZ, pitch: p.DstPitch, height: p.DstHeight}
	src := &place{kind: p.SrcMemoryType, host: p.SrcHost, device: p.SrcDevice, array: p.SrcArray, x: p.SrcXInBytes,
		y: p.SrcY, z: p.SrcZ, pitch: p.SrcPitch, height: p.SrcHeight}
	return w.c.box(dst, src, p.WidthInBytes, p.Height, p.Depth)
}

func (w *copyWork) run(r *graphRun) {
	if r.skip(w.c) {
		return
	}
	b, res := w.box()
	if res != success {
		w.c.fail(driver.CUDA_ERROR_ILLEGAL_ADDRESS, "the memory of a graph's copy is gone")
		return
	}
	if b != nil {
		if r.act != nil {
			w.c.d.touchBox(r.act, b)
		}
		w.c.reach("a graph's copy", func() { b.execute(nil, false) })
	}
}

// fillWork is a memset node.
type fillWork struct {
	c *context
	p driver.CUDA_MEMSET_NODE_PARAMS
}

func (*fillWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_MEMSET }
func (w *fillWork) clone(*graphs) nodeWork     { c := *w; return &c }

func (w *fillWork) box() (*boxFill, driver.CUresult) {
	p := &w.p
	if p.ElementSize != 1 && p.ElementSize != 2 && p.ElementSize != 4 {
		return nil, invalidValue
	}
	e := uint64(p.ElementSize)
	if p.Width == 0 || p.Height == 0 || p.Width > 1<<62/e || uint64(p.Dst)%e != 0 {
		return nil, invalidValue
	}
	row, pitch := p.Width*e, p.Pitch
	if p.Height == 1 {
		pitch = row
	}
	if pitch < row || pitch%e != 0 || pitch > 1<<62/p.Height {
		return nil, invalidValue
	}
	dst, ok := w.c.d.memory.device(p.Dst, pitch*(p.Height-1)+row)
	if !ok || !w.c.d.memory.writable(dst) {
		return nil, invalidValue
	}
	return &boxFill{dst, pitch, uint8(p.ElementSize), p.Value, p.Width, p.Height}, success
}

func (w *fillWork) run(r *graphRun) {
	if r.skip(w.c) {
		return
	}
	b, res := w.box()
	if res != success {
		w.c.fail(driver.CUDA_ERROR_ILLEGAL_ADDRESS, "the memory of a graph's fill is gone")
		return
	}
	w.c.d.touch(r.act, writesMemory, b.dst, b.n*uint64(b.width), b.pitch, b.rows)
	w.c.reach("a graph's fill", func() { b.execute(r.s, false) })
}

// hostWork is a host function.
type hostWork struct {
	d    *Driver
	fn   driver.CUhostFn // what is called
	data uintptr
	p    driver.CUDA_HOST_NODE_PARAMS // what the program gave
}

func (*hostWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_HOST }
func (w *hostWork) clone(*graphs) nodeWork     { c := *w; return &c }

func (w *hostWork) run(r *graphRun) {
	if r.skip(r.s.ctx) {
		return
	}
	w.d.learn(r.start)
	w.d.runHost(r.s.ctx, "CUhostFn", func() {
		if w.fn.Go != nil {
			w.fn.Go(w.data)
			return
		}
		w.d.callC(w.fn.C, w.data)
	})
}

// eventRecordWork and eventWaitWork are the event nodes. What a wait is for is settled when the graph is launched.
type eventRecordWork struct{ e *event }

func (*eventRecordWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_EVENT_RECORD }
func (w *eventRecordWork) clone(*graphs) nodeWork     { c := *w; return &c }
func (w *eventRecordWork) run(r *graphRun)            { r.reached(w) }

type eventWaitWork struct{ e *event }

func (*eventWaitWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_WAIT_EVENT }
func (w *eventWaitWork) clone(*graphs) nodeWork     { c := *w; return &c }
func (w *eventWaitWork) run(r *graphRun)            { r.waits[w].until(r.s.ctx) }

// batchWork is a batch of memory operations.
type batchWork struct {
	c *context
	p []driver.CUstreamBatchMemOpParams
}

func (*batchWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP }
func (w *batchWork) clone(*graphs) nodeWork     { c := *w; c.p = slices.Clone(w.p); return &c }

func (w *batchWork) run(r *graphRun) {
	if r.skip(w.c) {
		return
	}
	// the memory may have gone since the node was made
	ops, res := w.c.d.memory.batch(uint32(len(w.p)), unsafe.SliceData(w.p), 0)
	if res != success {
		w.c.fail(driver.CUDA_ERROR_ILLEGAL_ADDRESS, "the memory of a graph's memory operation is gone")
		return
	}
	if r.act != nil {
		ops.touch(r.act)
	}
	w.c.reach("a graph's memory operation", func() { ops.perform(w.c) })
	if r.act != nil {
		ops.saw(r.act)
	}
}

func (w *batchWork) get(p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) {
	*p = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: w.c.handle, Count: uint32(len(w.p)),
		ParamArray: unsafe.SliceData(w.p)}
}

// memAllocWork and memFreeWork are the memory nodes. The address of an allocation is fixed when its node is made and
// the memory stays with the graph; what launches change is the account (graphmemory.go), and they do that when they are
// queued.
type memAllocWork struct {
	mem    *graphMemory
	p      driver.CUDA_MEM_ALLOC_NODE_PARAMS
	access []driver.CUmemAccessDesc
}

func (*memAllocWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC }
func (*memAllocWork) run(*graphRun)                {}

func (w *memAllocWork) clone(*graphs) nodeWork {
	c := *w
	c.mem.holders++
	return &c
}

func (w *memAllocWork) get(p *driver.CUDA_MEM_ALLOC_NODE_PARAMS) {
	*p = w.p
	p.AccessDescs, p.AccessDescCount = unsafe.SliceData(w.access), uint64(len(w.access))
}

type memFreeWork struct{ ptr driver.CUdeviceptr }

func (*memFreeWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_MEM_FREE }
func (w *memFreeWork) clone(*graphs) nodeWork     { c := *w; return &c }
func (*memFreeWork) run(*graphRun)                {}

// childWork is a graph in a graph. In an executable graph it has a plan instead.
type childWork struct {
	g    *graph
	plan *plan
}

func (*childWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_GRAPH }
func (w *childWork) clone(gs *graphs) nodeWork  { return &childWork{g: gs.copyGraph(w.g, nil)} }
func (w *childWork) run(r *graphRun)            { r.runPlan(w.plan) }

// conditional is a CUgraphConditionalHandle: a value that kernels set (cudaGraphSetConditional) and conditional nodes
// look at.
type conditional struct {
	handle  uintptr
	g       *graph
	dflt    uint32
	assign  bool // the value is dflt at the beginning of each launch
	value   conditionalValue
	used    bool // by a node
	context driver.CUcontext
	holders int  // nodes and steps that look at it
	orphan  bool // its graph is gone
}

// holdConditional and dropConditional count who looks at a handle's value: kernels of an executable graph set it also
// when the graph is gone that it was made of.
func (gs *graphs) holdConditional(c *conditional) { c.holders++ }

func (gs *graphs) dropConditional(c *conditional) {
	if c.holders--; c.holders == 0 && c.orphan {
		gs.conds.remove(c.handle)
	}
}

// conditionalWork is a conditional node.
type conditionalWork struct {
	cond   *conditional
	typ    driver.CUgraphConditionalNodeType
	bodies []*graph
	shown  []driver.CUgraph // handles of bodies, which the program sees
	plans  []*plan          // in an executable graph
}

func (*conditionalWork) kind() driver.CUgraphNodeType { return driver.CU_GRAPH_NODE_TYPE_CONDITIONAL }

func (w *conditionalWork) clone(gs *graphs) nodeWork {
	c := &conditionalWork{cond: w.cond, typ: w.typ}
	for _, b := range w.bodies {
		x := gs.copyGraph(b, nil)
		c.bodies, c.shown = append(c.bodies, x), append(c.shown, x.handle)
	}
	return c
}

func (w *conditionalWork) run(r *graphRun) {
	c := r.s.ctx
	switch w.typ {
	case driver.CU_GRAPH_COND_TYPE_WHILE:
		for w.cond.value.Load() != 0 && !r.skip(c) && !c.stop.Load() {
			r.runPlan(w.plans[0])
		}
	case driver.CU_GRAPH_COND_TYPE_IF:
		switch {
		case w.cond.value.Load() != 0:
			r.runPlan(w.plans[0])
		case len(w.plans) > 1:
			r.runPlan(w.plans[1])
		}
	case driver.CU_GRAPH_COND_TYPE_SWITCH:
		if v := w.cond.value.Load(); uint64(v) < uint64(len(w.plans)) {
			r.runPlan(w.plans[v])
		}
	}
}
