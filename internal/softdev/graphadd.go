package softdev

import "github.com/gocuda/cuda/internal/driver"

// The calls that add a node, one for each kind; adding is what they have in common.

func (d *Driver) graphAddNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph, deps *driver.CUgraphNode,
	data *driver.CUgraphEdgeData, n uint64, p *driver.CUgraphNodeParams) driver.CUresult {
	return d.addingWith(out, h, deps, data, n, func(g *graph) (nodeWork, driver.CUresult) {
		if p == nil {
			return nil, invalidValue
		}
		return d.work(cur, g, p)
	})
}

func (d *Driver) graphAddEmptyNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64) driver.CUresult {
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return emptyWork{}, success })
}

func (d *Driver) graphAddKernelNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_KERNEL_NODE_PARAMS) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) {
		w, r := d.newKernelWork(cur, p)
		return w, r
	})
}

// kernelParams1 widens the struct of the first version.
func kernelParams1(p *driver.CUDA_KERNEL_NODE_PARAMS_v1) *driver.CUDA_KERNEL_NODE_PARAMS {
	if p == nil {
		return nil
	}
	return &driver.CUDA_KERNEL_NODE_PARAMS{Func: p.Func, GridDimX: p.GridDimX, GridDimY: p.GridDimY,
		GridDimZ: p.GridDimZ, BlockDimX: p.BlockDimX, BlockDimY: p.BlockDimY, BlockDimZ: p.BlockDimZ,
		SharedMemBytes: p.SharedMemBytes, KernelParams: p.KernelParams, Extra: p.Extra}
}

func (d *Driver) graphAddKernelNode1(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_KERNEL_NODE_PARAMS_v1) driver.CUresult {
	return d.graphAddKernelNode(cur, out, h, deps, n, kernelParams1(p))
}

func (d *Driver) graphAddMemcpyNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_MEMCPY3D, ctx driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return d.newCopyWork(cur, p, ctx) })
}

func (d *Driver) graphAddMemsetNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_MEMSET_NODE_PARAMS, ctx driver.CUcontext) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return d.newFillWork(cur, p, ctx) })
}

func (d *Driver) graphAddHostNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_HOST_NODE_PARAMS) driver.CUresult {
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return d.newHostWork(p) })
}

func (d *Driver) graphAddChildGraphNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, child driver.CUgraph) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(g *graph) (nodeWork, driver.CUresult) {
		return d.newChildWork(child, g, driver.CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
	})
}

func (d *Driver) graphAddEventNode(record bool) func(driver.CUcontext, *driver.CUgraphNode, driver.CUgraph,
	*driver.CUgraphNode, uint64, driver.CUevent) driver.CUresult {
	return func(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph, deps *driver.CUgraphNode, n uint64,
		e driver.CUevent) driver.CUresult {
		return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return d.newEventWork(e, record) })
	}
}

func (d *Driver) graphAddBatchMemOpNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS) driver.CUresult {
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return d.newBatchWork(cur, p) })
}

func (d *Driver) graphAddMemAllocNode(cur driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_MEM_ALLOC_NODE_PARAMS) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) {
		if p == nil {
			return nil, invalidValue
		}
		w, r := d.newGraphMemory(cur, p)
		return w, r
	})
}

func (d *Driver) graphAddMemFreeNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	return d.adding(out, h, deps, n, func(g *graph) (nodeWork, driver.CUresult) { return d.newMemFreeWork(g, p) })
}

func (d *Driver) signalBuilder(p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) func() (nodeWork, driver.CUresult) {
	return func() (nodeWork, driver.CUresult) {
		if p == nil {
			return nil, invalidValue
		}
		w, r := newSemaphoreWork(d, p.ExtSemArray, p.ParamsArray, p.NumExtSems)
		return w, r
	}
}

func (d *Driver) waitBuilder(p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) func() (nodeWork, driver.CUresult) {
	return func() (nodeWork, driver.CUresult) {
		if p == nil {
			return nil, invalidValue
		}
		w, r := newSemaphoreWork(d, p.ExtSemArray, p.ParamsArray, p.NumExtSems)
		return w, r
	}
}

func (d *Driver) graphAddSignalNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) driver.CUresult {
	build := d.signalBuilder(p)
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return build() })
}

func (d *Driver) graphAddWaitNode(_ driver.CUcontext, out *driver.CUgraphNode, h driver.CUgraph,
	deps *driver.CUgraphNode, n uint64, p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) driver.CUresult {
	build := d.waitBuilder(p)
	return d.adding(out, h, deps, n, func(*graph) (nodeWork, driver.CUresult) { return build() })
}
