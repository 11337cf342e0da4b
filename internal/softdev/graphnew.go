package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// The functions of graphs that came after CUDA 13.0. No driver that has them was at hand: they follow the
// documentation.

// graphGetID: "will match that referenced by cuGraphDebugDotPrint", as the numbers of nodes do.
func (d *Driver) graphGetID(_ driver.CUcontext, h driver.CUgraph, out *uint32) driver.CUresult {
	g, r := d.graph(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = uint32(g.id)
	return success
}

func (d *Driver) graphExecGetID(_ driver.CUcontext, h driver.CUgraphExec, out *uint32) driver.CUresult {
	x, r := d.graphExec(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = uint32(x.id)
	return success
}

func (d *Driver) graphNodeGetLocalID(_ driver.CUcontext, h driver.CUgraphNode, out *uint32) driver.CUresult {
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = uint32(n.id)
	return success
}

// graphNodeGetToolsID: the number of the graph and that of the node, which name it together.
func (d *Driver) graphNodeGetToolsID(_ driver.CUcontext, h driver.CUgraphNode, out *uint64) driver.CUresult {
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = n.g.id<<32 | uint64(uint32(n.id))
	return success
}

func (d *Driver) graphNodeGetContainingGraph(_ driver.CUcontext, h driver.CUgraphNode,
	out *driver.CUgraph) driver.CUresult {
	n, r := d.graphNode(h)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = n.g.handle
	return success
}

func (d *Driver) graphNodeGetParams(_ driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUgraphNodeParams) driver.CUresult {
	return getParams(d, h, p, func(w nodeWork, p *driver.CUgraphNodeParams) { *p = paramsOf(w) })
}

// paramsOf is a node's work as the struct that serves all kinds; what it points to is the node's.
func paramsOf(w nodeWork) (p driver.CUgraphNodeParams) {
	p.Type = w.kind()
	switch w := w.(type) {
	case *kernelWork:
		w.get(unionAt[driver.CUDA_KERNEL_NODE_PARAMS](&p))
	case *copyWork:
		p.Memcpy().CopyParams, p.Memcpy().CopyCtx = w.p, w.c.handle
	case *fillWork:
		*unionAt[driver.CUDA_MEMSET_NODE_PARAMS](&p) = w.p
		p.Memset().Ctx = w.c.handle
	case *hostWork:
		*unionAt[driver.CUDA_HOST_NODE_PARAMS](&p) = w.p
	case *childWork:
		p.Graph().Graph = w.g.handle
	case *eventRecordWork:
		p.EventRecord().Event = w.e.handle
	case *eventWaitWork:
		p.EventWait().Event = w.e.handle
	case *batchWork:
		w.get(unionAt[driver.CUDA_BATCH_MEM_OP_NODE_PARAMS](&p))
	case *memAllocWork:
		w.get(unionAt[driver.CUDA_MEM_ALLOC_NODE_PARAMS](&p))
	case *memFreeWork:
		p.Free().Dptr = w.ptr
	case *conditionalWork:
		c := p.Conditional()
		c.Handle, c.Type, c.Size = driver.CUgraphConditionalHandle(w.cond.handle), w.typ, uint32(len(w.bodies))
		if len(w.shown) > 0 {
			c.PhGraph_out = &w.shown[0]
		}
	case *signalWork:
		*unionAt[driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS](&p) = driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS{
			ExtSemArray: unsafe.SliceData(w.handles), ParamsArray: unsafe.SliceData(w.params),
			NumExtSems: uint32(len(w.handles))}
	case *waitWork:
		*unionAt[driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS](&p) = driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{
			ExtSemArray: unsafe.SliceData(w.handles), ParamsArray: unsafe.SliceData(w.params),
			NumExtSems: uint32(len(w.handles))}
	}
	return p
}

// otherContext says whether a kernel node's struct names a context in which its function is not loaded, which the later
// forms refuse.
func (d *Driver) otherContext(p *driver.CUgraphNodeParams) bool {
	if p == nil || p.Type != driver.CU_GRAPH_NODE_TYPE_KERNEL || p.Kernel().Func == 0 || p.Kernel().Ctx == 0 {
		return false
	}
	f, r := d.function(p.Kernel().Func)
	return r == success && f.mod.ctx.handle != p.Kernel().Ctx
}

func (d *Driver) graphAddNodeV3(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, data *driver.CUgraphEdgeData, n uint64, p *driver.CUgraphNodeParams) driver.CUresult {
	if d.otherContext(p) {
		return invalidCtx
	}
	return d.graphAddNode(cur, out, h, deps, data, n, p)
}

func (d *Driver) graphNodeSetParamsV2(cur driver.CUcontext, h driver.CUgraphNode,
	p *driver.CUgraphNodeParams) driver.CUresult {
	if d.otherContext(p) {
		return invalidCtx
	}
	return d.graphNodeSetParams(cur, h, p)
}

// newGraphTable fills in the functions of graphs that came after CUDA 13.0.
func (d *Driver) newGraphTable(t *driver.Table) {
	t.GraphGetId = d.graphGetID
	t.GraphExecGetId = d.graphExecGetID
	t.GraphNodeGetLocalId = d.graphNodeGetLocalID
	t.GraphNodeGetToolsId = d.graphNodeGetToolsID
	t.GraphNodeGetContainingGraph = d.graphNodeGetContainingGraph
	t.GraphNodeGetParams = d.graphNodeGetParams
	t.GraphAddNode_v3 = d.graphAddNodeV3
	t.GraphNodeSetParams_v2 = d.graphNodeSetParamsV2
	t.StreamBeginRecaptureToGraph = d.streamBeginRecaptureToGraph
}
