package cudart

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// kernelNode turns the parameters of a kernel node into the driver's, which name a kernel of a library.
func (r *Runtime) kernelNode(cur driver.CUcontext, p *KernelNodeParams) (driver.CUDA_KERNEL_NODE_PARAMS, Error) {
	if p == nil {
		return driver.CUDA_KERNEL_NODE_PARAMS{}, ErrorInvalidValue
	}
	k, e := r.kernel(cur, p.Func)
	if e != Success {
		return driver.CUDA_KERNEL_NODE_PARAMS{}, e
	}
	return driver.CUDA_KERNEL_NODE_PARAMS{
		GridDimX: p.GridDim.X, GridDimY: p.GridDim.Y, GridDimZ: p.GridDim.Z,
		BlockDimX: p.BlockDim.X, BlockDimY: p.BlockDim.Y, BlockDimZ: p.BlockDim.Z,
		SharedMemBytes: p.SharedMemBytes, KernelParams: p.KernelParams, Extra: p.Extra, Kern: k,
	}, Success
}

// GraphAddKernelNode is cudaGraphAddKernelNode.
func (r *Runtime) GraphAddKernelNode(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph, deps *driver.CUgraphNode,
	n uint64, p *KernelNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.kernelNode(cur, p)
	if e != Success {
		return t.fail(e)
	}
	result := r.table.GraphAddKernelNode_v2(cur, out, graph, deps, n, &c)
	if result == driver.CUDA_ERROR_INVALID_VALUE {
		return t.fail(r.refused(cur, result, p.GridDim, p.BlockDim))
	}
	return r.done(t, result)
}

// GraphKernelNodeGetParams is cudaGraphKernelNodeGetParams.
func (r *Runtime) GraphKernelNodeGetParams(t *Thread, node driver.CUgraphNode, out *KernelNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var c driver.CUDA_KERNEL_NODE_PARAMS
	if result := r.table.GraphKernelNodeGetParams_v2(cur, node, &c); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	host := r.hostOfFunction(cur, c.Func)
	if c.Kern != 0 {
		host = r.registry.hostOf(c.Kern)
	}
	*out = KernelNodeParams{Func: host, GridDim: Dim3{c.GridDimX, c.GridDimY, c.GridDimZ},
		BlockDim: Dim3{c.BlockDimX, c.BlockDimY, c.BlockDimZ}, SharedMemBytes: c.SharedMemBytes,
		KernelParams: c.KernelParams, Extra: c.Extra}
	return Success
}

// GraphKernelNodeSetParams is cudaGraphKernelNodeSetParams.
func (r *Runtime) GraphKernelNodeSetParams(t *Thread, node driver.CUgraphNode, p *KernelNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.kernelNode(cur, p)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphKernelNodeSetParams_v2(cur, node, &c))
}

// GraphExecKernelNodeSetParams is cudaGraphExecKernelNodeSetParams.
func (r *Runtime) GraphExecKernelNodeSetParams(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	p *KernelNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.kernelNode(cur, p)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphExecKernelNodeSetParams_v2(cur, exec, node, &c))
}

// linear is a copy of bytes as a copy with slices.
func linear(dst, src uintptr, n uint64, kind MemcpyKind) *Memcpy3DParms {
	return &Memcpy3DParms{SrcPtr: PitchedPtr{Ptr: src, Pitch: n, Xsize: n, Ysize: 1},
		DstPtr: PitchedPtr{Ptr: dst, Pitch: n, Xsize: n, Ysize: 1}, Extent: Extent{Width: n, Height: 1, Depth: 1},
		Kind: kind}
}

// memcpyNode makes or changes a node that copies.
func (r *Runtime) memcpyNode(t *Thread, p *Memcpy3DParms, do func(cur driver.CUcontext, c *driver.CUDA_MEMCPY3D,
	ctx driver.CUcontext) driver.CUresult) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.volume(cur, p)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, do(cur, &c, r.context(cur)))
}

// GraphAddMemcpyNode is cudaGraphAddMemcpyNode.
func (r *Runtime) GraphAddMemcpyNode(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph, deps *driver.CUgraphNode,
	n uint64, p *Memcpy3DParms) Error {
	return r.memcpyNode(t, p, func(cur driver.CUcontext, c *driver.CUDA_MEMCPY3D,
		ctx driver.CUcontext) driver.CUresult {
		return r.table.GraphAddMemcpyNode(cur, out, graph, deps, n, c, ctx)
	})
}

// GraphAddMemcpyNode1D is cudaGraphAddMemcpyNode1D.
func (r *Runtime) GraphAddMemcpyNode1D(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, dst, src uintptr, count uint64, kind MemcpyKind) Error {
	return r.GraphAddMemcpyNode(t, out, graph, deps, n, linear(dst, src, count, kind))
}

// GraphAddMemcpyNodeToSymbol is cudaGraphAddMemcpyNodeToSymbol.
func (r *Runtime) GraphAddMemcpyNodeToSymbol(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, symbol, src uintptr, count, offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, count, offset, kind, MemcpyHostToDevice)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphAddMemcpyNode1D(t, out, graph, deps, n, p, src, count, kind)
}

// GraphAddMemcpyNodeFromSymbol is cudaGraphAddMemcpyNodeFromSymbol.
func (r *Runtime) GraphAddMemcpyNodeFromSymbol(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, dst, symbol uintptr, count, offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, count, offset, kind, MemcpyDeviceToHost)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphAddMemcpyNode1D(t, out, graph, deps, n, dst, p, count, kind)
}

// GraphMemcpyNodeGetParams is cudaGraphMemcpyNodeGetParams.
func (r *Runtime) GraphMemcpyNodeGetParams(t *Thread, node driver.CUgraphNode, out *Memcpy3DParms) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var c driver.CUDA_MEMCPY3D
	if result := r.table.GraphMemcpyNodeGetParams(cur, node, &c); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	element, e := r.elementBytes(cur, c.SrcArray, c.DstArray)
	if e != Success {
		return t.fail(e)
	}
	p := Memcpy3DParms{
		SrcPos: Pos{c.SrcXInBytes, c.SrcY, c.SrcZ}, DstPos: Pos{c.DstXInBytes, c.DstY, c.DstZ},
		Extent: Extent{Width: c.WidthInBytes / element, Height: c.Height, Depth: c.Depth}, Kind: MemcpyDefault,
	}
	host := func(m driver.CUmemorytype) bool { return m == driver.CU_MEMORYTYPE_HOST }
	device := func(m driver.CUmemorytype) bool {
		return m == driver.CU_MEMORYTYPE_DEVICE || m == driver.CU_MEMORYTYPE_ARRAY
	}
	switch {
	case host(c.SrcMemoryType) && host(c.DstMemoryType):
		p.Kind = MemcpyHostToHost
	case host(c.SrcMemoryType) && device(c.DstMemoryType):
		p.Kind = MemcpyHostToDevice
	case device(c.SrcMemoryType) && host(c.DstMemoryType):
		p.Kind = MemcpyDeviceToHost
	case device(c.SrcMemoryType) && device(c.DstMemoryType):
		p.Kind = MemcpyDeviceToDevice
	}
	address := func(m driver.CUmemorytype, h uintptr, d driver.CUdeviceptr) uintptr {
		if host(m) {
			return h
		}
		return uintptr(d)
	}
	if c.SrcMemoryType == driver.CU_MEMORYTYPE_ARRAY {
		p.SrcArray, p.SrcPos.X = c.SrcArray, c.SrcXInBytes/element
	} else {
		p.SrcPtr = PitchedPtr{Ptr: address(c.SrcMemoryType, c.SrcHost, c.SrcDevice), Pitch: c.SrcPitch,
			Xsize: c.WidthInBytes, Ysize: c.SrcHeight}
	}
	if c.DstMemoryType == driver.CU_MEMORYTYPE_ARRAY {
		p.DstArray, p.DstPos.X = c.DstArray, c.DstXInBytes/element
	} else {
		p.DstPtr = PitchedPtr{Ptr: address(c.DstMemoryType, c.DstHost, c.DstDevice), Pitch: c.DstPitch,
			Xsize: c.WidthInBytes, Ysize: c.DstHeight}
	}
	*out = p
	return Success
}

// GraphMemcpyNodeSetParams is cudaGraphMemcpyNodeSetParams.
func (r *Runtime) GraphMemcpyNodeSetParams(t *Thread, node driver.CUgraphNode, p *Memcpy3DParms) Error {
	return r.memcpyNode(t, p, func(cur driver.CUcontext, c *driver.CUDA_MEMCPY3D, _ driver.CUcontext) driver.CUresult {
		return r.table.GraphMemcpyNodeSetParams(cur, node, c)
	})
}

// GraphMemcpyNodeSetParams1D is cudaGraphMemcpyNodeSetParams1D.
func (r *Runtime) GraphMemcpyNodeSetParams1D(t *Thread, node driver.CUgraphNode, dst, src uintptr, n uint64,
	kind MemcpyKind) Error {
	return r.GraphMemcpyNodeSetParams(t, node, linear(dst, src, n, kind))
}

// GraphMemcpyNodeSetParamsToSymbol is cudaGraphMemcpyNodeSetParamsToSymbol.
func (r *Runtime) GraphMemcpyNodeSetParamsToSymbol(t *Thread, node driver.CUgraphNode, symbol, src uintptr, n,
	offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyHostToDevice)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphMemcpyNodeSetParams1D(t, node, p, src, n, kind)
}

// GraphMemcpyNodeSetParamsFromSymbol is cudaGraphMemcpyNodeSetParamsFromSymbol.
func (r *Runtime) GraphMemcpyNodeSetParamsFromSymbol(t *Thread, node driver.CUgraphNode, dst, symbol uintptr, n,
	offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyDeviceToHost)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphMemcpyNodeSetParams1D(t, node, dst, p, n, kind)
}

// GraphExecMemcpyNodeSetParams is cudaGraphExecMemcpyNodeSetParams.
func (r *Runtime) GraphExecMemcpyNodeSetParams(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	p *Memcpy3DParms) Error {
	return r.memcpyNode(t, p, func(cur driver.CUcontext, c *driver.CUDA_MEMCPY3D,
		ctx driver.CUcontext) driver.CUresult {
		return r.table.GraphExecMemcpyNodeSetParams(cur, exec, node, c, ctx)
	})
}

// GraphExecMemcpyNodeSetParams1D is cudaGraphExecMemcpyNodeSetParams1D.
func (r *Runtime) GraphExecMemcpyNodeSetParams1D(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode, dst,
	src uintptr, n uint64, kind MemcpyKind) Error {
	return r.GraphExecMemcpyNodeSetParams(t, exec, node, linear(dst, src, n, kind))
}

// GraphExecMemcpyNodeSetParamsToSymbol is cudaGraphExecMemcpyNodeSetParamsToSymbol.
func (r *Runtime) GraphExecMemcpyNodeSetParamsToSymbol(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	symbol, src uintptr, n, offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyHostToDevice)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphExecMemcpyNodeSetParams1D(t, exec, node, p, src, n, kind)
}

// GraphExecMemcpyNodeSetParamsFromSymbol is cudaGraphExecMemcpyNodeSetParamsFromSymbol.
func (r *Runtime) GraphExecMemcpyNodeSetParamsFromSymbol(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	dst, symbol uintptr, n, offset uint64, kind MemcpyKind) Error {
	_, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyDeviceToHost)
	if e != Success {
		return t.fail(e)
	}
	return r.GraphExecMemcpyNodeSetParams1D(t, exec, node, dst, p, n, kind)
}

// GraphAddMemsetNode is cudaGraphAddMemsetNode.
func (r *Runtime) GraphAddMemsetNode(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph, deps *driver.CUgraphNode,
	n uint64, p *MemsetParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphAddMemsetNode(cur, out, graph, deps, n,
		(*driver.CUDA_MEMSET_NODE_PARAMS)(unsafe.Pointer(p)), r.context(cur)))
}

// GraphMemsetNodeGetParams is cudaGraphMemsetNodeGetParams.
func (r *Runtime) GraphMemsetNodeGetParams(t *Thread, node driver.CUgraphNode, out *MemsetParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphMemsetNodeGetParams(cur, node,
		(*driver.CUDA_MEMSET_NODE_PARAMS)(unsafe.Pointer(out))))
}

// GraphMemsetNodeSetParams is cudaGraphMemsetNodeSetParams.
func (r *Runtime) GraphMemsetNodeSetParams(t *Thread, node driver.CUgraphNode, p *MemsetParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphMemsetNodeSetParams(cur, node, (*driver.CUDA_MEMSET_NODE_PARAMS)(unsafe.Pointer(p))))
}

// GraphExecMemsetNodeSetParams is cudaGraphExecMemsetNodeSetParams.
func (r *Runtime) GraphExecMemsetNodeSetParams(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	p *MemsetParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphExecMemsetNodeSetParams(cur, exec, node,
		(*driver.CUDA_MEMSET_NODE_PARAMS)(unsafe.Pointer(p)), r.context(cur)))
}

// nodeParams turns the parameters of any node into the driver's, which differ for kernels and copies; both have the
// same size.
func (r *Runtime) nodeParams(cur driver.CUcontext, p *GraphNodeParams) (driver.CUgraphNodeParams, Error) {
	if p == nil {
		return driver.CUgraphNodeParams{}, ErrorInvalidValue
	}
	c := *(*driver.CUgraphNodeParams)(unsafe.Pointer(p))
	switch p.Type {
	case GraphNodeTypeKernel:
		k, e := r.kernelNode(cur, (*KernelNodeParams)(unsafe.Pointer(p.Kernel())))
		if e != Success {
			return c, e
		}
		*c.Kernel() = driver.CUDA_KERNEL_NODE_PARAMS_v3(k)
	case GraphNodeTypeMemcpy:
		m := p.Memcpy()
		v, e := r.volume(cur, &m.CopyParams)
		if e != Success {
			return c, e
		}
		*c.Memcpy() = driver.CUDA_MEMCPY_NODE_PARAMS{Flags: m.Flags, CopyCtx: r.context(cur), CopyParams: v}
	case GraphNodeTypeMemset:
		c.Memset().Ctx = r.context(cur)
	case GraphNodeTypeConditional:
		c.Conditional().Ctx = r.context(cur)
	}
	return c, Success
}

// GraphAddNode is cudaGraphAddNode.
func (r *Runtime) GraphAddNode(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph, deps *driver.CUgraphNode,
	edges *GraphEdgeData, n uint64, p *GraphNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.nodeParams(cur, p)
	if e != Success {
		return t.fail(e)
	}
	result := r.table.GraphAddNode_v2(cur, out, graph, deps, (*driver.CUgraphEdgeData)(unsafe.Pointer(edges)), n, &c)
	if result == driver.CUDA_SUCCESS {
		switch p.Type { // what the call has written
		case GraphNodeTypeMemAlloc:
			p.Alloc().Dptr = uintptr(c.Alloc().Dptr)
		case GraphNodeTypeConditional:
			p.Conditional().PhGraph_out = c.Conditional().PhGraph_out
		}
	}
	return r.done(t, result)
}

// GraphNodeSetParams is cudaGraphNodeSetParams.
func (r *Runtime) GraphNodeSetParams(t *Thread, node driver.CUgraphNode, p *GraphNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.nodeParams(cur, p)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphNodeSetParams(cur, node, &c))
}

// GraphExecNodeSetParams is cudaGraphExecNodeSetParams.
func (r *Runtime) GraphExecNodeSetParams(t *Thread, exec driver.CUgraphExec, node driver.CUgraphNode,
	p *GraphNodeParams) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := r.nodeParams(cur, p)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphExecNodeSetParams(cur, exec, node, &c))
}

// GraphConditionalHandleCreate is cudaGraphConditionalHandleCreate.
func (r *Runtime) GraphConditionalHandleCreate(t *Thread, out *uint64, graph driver.CUgraph, value,
	flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.GraphConditionalHandleCreate(cur, (*driver.CUgraphConditionalHandle)(unsafe.Pointer(out)),
		graph, r.context(cur), value, flags))
}

// The forms of CUDA 12, without the data of edges.

// GraphAddDependencies_v1 is cudaGraphAddDependencies of CUDA 12.
func (r *Runtime) GraphAddDependencies_v1(t *Thread, graph driver.CUgraph, from, to *driver.CUgraphNode,
	n uint64) Error {
	return r.GraphAddDependencies(t, graph, from, to, nil, n)
}

// GraphRemoveDependencies_v1 is cudaGraphRemoveDependencies of CUDA 12.
func (r *Runtime) GraphRemoveDependencies_v1(t *Thread, graph driver.CUgraph, from, to *driver.CUgraphNode,
	n uint64) Error {
	return r.GraphRemoveDependencies(t, graph, from, to, nil, n)
}

// GraphGetEdges_v1 is cudaGraphGetEdges of CUDA 12.
func (r *Runtime) GraphGetEdges_v1(t *Thread, graph driver.CUgraph, from, to *driver.CUgraphNode, n *uint64) Error {
	return r.GraphGetEdges(t, graph, from, to, nil, n)
}

// GraphNodeGetDependencies_v1 is cudaGraphNodeGetDependencies of CUDA 12.
func (r *Runtime) GraphNodeGetDependencies_v1(t *Thread, node driver.CUgraphNode, out *driver.CUgraphNode,
	n *uint64) Error {
	return r.GraphNodeGetDependencies(t, node, out, nil, n)
}

// GraphNodeGetDependentNodes_v1 is cudaGraphNodeGetDependentNodes of CUDA 12.
func (r *Runtime) GraphNodeGetDependentNodes_v1(t *Thread, node driver.CUgraphNode, out *driver.CUgraphNode,
	n *uint64) Error {
	return r.GraphNodeGetDependentNodes(t, node, out, nil, n)
}

// GraphAddNode_v1 is cudaGraphAddNode of CUDA 12.
func (r *Runtime) GraphAddNode_v1(t *Thread, out *driver.CUgraphNode, graph driver.CUgraph, deps *driver.CUgraphNode,
	n uint64, p *GraphNodeParams) Error {
	return r.GraphAddNode(t, out, graph, deps, nil, n, p)
}

// StreamUpdateCaptureDependencies_v1 is cudaStreamUpdateCaptureDependencies of CUDA 12.
func (r *Runtime) StreamUpdateCaptureDependencies_v1(t *Thread, stream driver.CUstream, nodes *driver.CUgraphNode,
	n uint64, flags uint32) Error {
	return r.StreamUpdateCaptureDependencies(t, stream, nodes, nil, n, flags)
}
