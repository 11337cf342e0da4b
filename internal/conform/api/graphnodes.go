package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// batchOp is one memory operation.
func batchOp(kind driver.CUstreamBatchMemOpType, p driver.CUdeviceptr, value uint64,
	flags uint32) (o driver.CUstreamBatchMemOpParams) {
	switch kind {
	case driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, driver.CU_STREAM_MEM_OP_WAIT_VALUE_64:
		w := o.WaitValue()
		w.Address, w.Flags = p, flags
		*w.Value64() = value
	case driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, driver.CU_STREAM_MEM_OP_WRITE_VALUE_64:
		w := o.WriteValue()
		w.Address, w.Flags = p, flags
		*w.Value64() = value
	case driver.CU_STREAM_MEM_OP_BARRIER:
		o.MemoryBarrier().Flags = flags
	}
	*o.Operation() = kind
	return o
}

func graphNodeCases(c *cases) {
	var (
		n   driver.CUgraphNode
		x   driver.CUgraphExec
		g2  driver.CUgraph
		p   driver.CUdeviceptr
		ev  driver.CUevent
		typ driver.CUgraphNodeType
	)
	// run instantiates and launches.
	run := func(e *Env, g driver.CUgraph) {
		if e.Do("cuGraphInstantiateWithFlags", &x, g, 0) == driver.CUDA_SUCCESS {
			e.Do("cuGraphLaunch", x, nil)
			e.Do("cuCtxSynchronize")
		}
	}
	c.add("graph/node/kernel", func(e *Env) {
		g, d := e.graph(), e.alloc(64)
		m := e.load(basic)
		f, smem := e.function(m, "st1"), e.function(m, "smem")
		k := e.kernelParams(f, 1, 32, d)
		var got driver.CUDA_KERNEL_NODE_PARAMS
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"st1", k})
		node := n
		e.Do("cuGraphKernelNodeGetParams_v2", node, fields{&got})
		e.Do("cuGraphKernelNodeGetParams_v2", node, nil)
		e.Do("cuGraphNodeGetType", node, &typ)
		var old driver.CUDA_KERNEL_NODE_PARAMS_v1
		e.Do("cuGraphKernelNodeGetParams", node, fields{&old})
		for _, t := range []struct {
			name string
			k    *driver.CUDA_KERNEL_NODE_PARAMS
		}{{"grid-2", e.kernelParams(f, 2, 1, d+16)}, {"grid-0", e.kernelParams(f, 0, 1, d)},
			{"block-1025", e.kernelParams(f, 1, 1025, d)}, {"no-params", e.kernelParams(f, 1, 1, 0)},
			{"no-function", e.kernelParams(0, 1, 1, d)},
			{"other-function", e.kernelParams(smem, 1, 1, d)}} {
			e.Do("cuGraphKernelNodeSetParams_v2", node, in{t.name, t.k})
		}
		k = e.kernelParams(f, 1, 1, d)
		k.SharedMemBytes = 1 << 20
		e.Do("cuGraphKernelNodeSetParams_v2", node, in{"shared-1M", k})
		e.Do("cuGraphKernelNodeSetParams_v2", node, nil)
		e.Do("cuGraphKernelNodeGetParams_v2", node, fields{&got})
		e.Do("cuGraphKernelNodeSetParams_v2", node, in{"st1", e.kernelParams(f, 1, 1, d)})
		run(e, g)
		e.word(d)
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, node, in{"st1+16", e.kernelParams(f, 1, 1, d+16)})
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, node, in{"smem", e.kernelParams(smem, 1, 1, d+32)})
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, node, in{"grid-0", e.kernelParams(f, 0, 1, d)})
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, e.empty(g), in{"st1", e.kernelParams(f, 1, 1, d)})
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, node, nil)
		e.Do("cuGraphExecKernelNodeSetParams_v2", nil, node, in{"st1", e.kernelParams(f, 1, 1, d)})
		e.Do("cuGraphExecKernelNodeSetParams_v2", x, node, in{"st1+16", e.kernelParams(f, 1, 1, d+16)})
		e.Do("cuGraphLaunch", x, nil)
		e.word(d + 16)
		both := e.kernelParams(f, 1, 1, d)
		both.Kern = e.kernelOf(e.library(basic), "st1")
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"function-and-kernel", both})
		both = e.kernelParams(0, 1, 1, d)
		both.Kern = e.kernelOf(e.library(basic), "st1")
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"kernel", both})
		e.Do("cuGraphKernelNodeGetParams_v2", n, fields{&got})
	})
	c.add("graph/node/kernel/attributes", func(e *Env) {
		g := e.graph()
		f := e.fn("nop")
		var a, b driver.CUgraphNode
		e.Must("cuGraphAddKernelNode_v2", &a, g, nil, 0, in{"nop", e.kernelParams(f, 1, 1, 0)})
		e.Must("cuGraphAddKernelNode_v2", &b, g, nil, 0, in{"nop", e.kernelParams(f, 1, 1, 0)})
		for id := range 20 {
			// The union's words that the attribute has are few; the others keep what was there.
			var v driver.CUlaunchAttributeValue
			e.Do("cuGraphKernelNodeGetAttribute", a, id, in{"value", &v})
			e.Note("%x", v.Pad()[:16])
		}
		set := func(name string, at driver.CUlaunchAttribute) {
			e.Do("cuGraphKernelNodeSetAttribute", a, int(at.Id), in{name, &at.Value})
		}
		set("cooperative", attr(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1))
		set("cluster-2", cluster(2, 1, 1))
		set("priority--1", attr(driver.CU_LAUNCH_ATTRIBUTE_PRIORITY, -1))
		set("priority-100", attr(driver.CU_LAUNCH_ATTRIBUTE_PRIORITY, 100))
		set("carveout-50", attr(driver.CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50))
		set("serialization", attr(driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 1))
		set("sync-policy", attr(driver.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, 1))
		set("domain-1", attr(driver.CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, 1))
		set("unknown", attr(99, 1))
		e.Do("cuGraphKernelNodeCopyAttributes", b, a)
		e.Do("cuGraphKernelNodeCopyAttributes", b, e.empty(g))
		for _, id := range []int{2, 4, 8, 14} {
			var v driver.CUlaunchAttributeValue
			e.Do("cuGraphKernelNodeGetAttribute", b, id, in{"value", &v})
			e.Note("%x", v.Pad()[:16])
		}
		e.Do("cuGraphKernelNodeGetAttribute", e.empty(g), 2, in{"value", &driver.CUlaunchAttributeValue{}})
		e.Do("cuGraphKernelNodeGetAttribute", a, 2, nil)
	})
	c.add("graph/node/memset", func(e *Env) {
		g, d := e.graph(), e.alloc(4096)
		ctx := e.current()
		ms := func(p driver.CUdeviceptr, pitch, value, element, w, h int) *driver.CUDA_MEMSET_NODE_PARAMS {
			return &driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, Pitch: uint64(pitch), Value: uint32(value),
				ElementSize: uint32(element), Width: uint64(w), Height: uint64(h)}
		}
		var got driver.CUDA_MEMSET_NODE_PARAMS
		for _, t := range []struct {
			name string
			p    *driver.CUDA_MEMSET_NODE_PARAMS
		}{{"ok", ms(d, 0, 7, 4, 4, 1)}, {"pitch", ms(d, 64, 7, 1, 16, 4)}, {"pitch-short", ms(d, 8, 7, 1, 16, 4)},
			{"element-0", ms(d, 0, 7, 0, 4, 1)}, {"element-8", ms(d, 0, 7, 8, 4, 1)}, {"width-0", ms(d, 0, 7, 4, 0, 1)},
			{"height-0", ms(d, 0, 7, 4, 4, 0)}, {"odd", ms(d+1, 0, 7, 4, 4, 1)},
			{"wide-value", ms(d, 0, 0x1234, 1, 4, 1)}, {"beyond", ms(d, 0, 7, 4, 1025, 1)},
			{"null", ms(0, 0, 7, 4, 4, 1)}, {"unknown", ms(garbage, 0, 7, 4, 4, 1)}} {
			if e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, in{t.name, t.p}, ctx) == driver.CUDA_SUCCESS {
				e.Do("cuGraphMemsetNodeGetParams", n, fields{&got})
				e.Do("cuGraphDestroyNode", n)
			}
		}
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, nil, ctx)
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, in{"ok", ms(d, 0, 7, 4, 4, 1)}, nil)
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, in{"ok", ms(d, 0, 7, 4, 4, 1)}, ctx)
		node := n
		e.Do("cuGraphMemsetNodeSetParams", node, in{"element-3", ms(d, 0, 7, 3, 4, 1)})
		e.Do("cuGraphMemsetNodeSetParams", node, in{"2d", ms(d, 64, 7, 4, 4, 2)})
		e.Do("cuGraphMemsetNodeSetParams", node, in{"ok", ms(d, 0, 7, 4, 4, 1)})
		run(e, g)
		e.word(d)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, in{"value-9", ms(d+64, 0, 9, 4, 4, 1)}, ctx)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, in{"2d", ms(d+64, 64, 9, 4, 4, 2)}, ctx)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, in{"element-1", ms(d+64, 0, 9, 1, 4, 1)}, ctx)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, in{"element-3", ms(d+64, 0, 9, 3, 4, 1)}, ctx)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, in{"value-9", ms(d+64, 0, 9, 4, 4, 1)}, nil)
		e.Do("cuGraphExecMemsetNodeSetParams", x, node, nil, ctx)
		e.Do("cuGraphLaunch", x, nil)
		e.word(d + 64)
	})
	c.add("graph/node/memcpy", func(e *Env) {
		g, d := e.graph(), e.alloc(4096)
		ctx := e.current()
		e.Must("cuMemsetD32_v2", d, 5, 16)
		cp := func(dst, src driver.CUdeviceptr, w, h, depth int) *driver.CUDA_MEMCPY3D {
			return &driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: src,
				DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: dst, WidthInBytes: uint64(w), Height: uint64(h),
				Depth: uint64(depth)}
		}
		pitched := cp(d+1024, d, 16, 2, 1)
		pitched.SrcPitch, pitched.DstPitch = 64, 64
		short := cp(d+1024, d, 16, 2, 1)
		short.SrcPitch, short.DstPitch = 8, 64
		typed := cp(d+1024, d, 16, 1, 1)
		typed.SrcMemoryType = 9
		var got driver.CUDA_MEMCPY3D
		for _, t := range []struct {
			name string
			p    *driver.CUDA_MEMCPY3D
		}{{"ok", cp(d+1024, d, 64, 1, 1)}, {"pitched", pitched}, {"short", short}, {"type-9", typed},
			{"width-0", cp(d+1024, d, 0, 1, 1)}, {"height-0", cp(d+1024, d, 64, 0, 1)},
			{"depth-0", cp(d+1024, d, 64, 1, 0)},
			{"beyond", cp(d+1024, d, 5000, 1, 1)}, {"null", cp(0, d, 64, 1, 1)}} {
			if e.Do("cuGraphAddMemcpyNode", &n, g, nil, 0, in{t.name, t.p}, ctx) == driver.CUDA_SUCCESS {
				e.Do("cuGraphMemcpyNodeGetParams", n, fields{&got})
				e.Do("cuGraphDestroyNode", n)
			}
		}
		e.Do("cuGraphAddMemcpyNode", &n, g, nil, 0, in{"ok", cp(d+1024, d, 64, 1, 1)}, nil)
		e.Do("cuGraphAddMemcpyNode", &n, g, nil, 0, in{"ok", cp(d+1024, d, 64, 1, 1)}, ctx)
		node := n
		e.Do("cuGraphMemcpyNodeSetParams", node, in{"width-32", cp(d+1024, d, 32, 1, 1)})
		e.Do("cuGraphMemcpyNodeSetParams", node, in{"width-0", cp(d+1024, d, 0, 1, 1)})
		e.Do("cuGraphMemcpyNodeSetParams", node, nil)
		run(e, g)
		e.word(d + 1024)
		e.Do("cuGraphExecMemcpyNodeSetParams", x, node, in{"elsewhere", cp(d+2048, d, 16, 1, 1)}, ctx)
		e.Do("cuGraphExecMemcpyNodeSetParams", x, node, in{"pitched", pitched}, ctx)
		e.Do("cuGraphExecMemcpyNodeSetParams", x, node, in{"elsewhere", cp(d+2048, d, 16, 1, 1)}, nil)
		e.Do("cuGraphLaunch", x, nil)
		e.word(d + 2048)
	})
	c.add("graph/node/host", func(e *Env) {
		g := e.graph()
		e.Do("cuGraphAddHostNode", &n, g, nil, 0, in{"null", &driver.CUDA_HOST_NODE_PARAMS{}})
		e.Do("cuGraphAddHostNode", &n, g, nil, 0, nil)
		var got driver.CUDA_HOST_NODE_PARAMS
		e.Do("cuGraphHostNodeGetParams", e.empty(g), fields{&got})
	})
	c.add("graph/node/event", func(e *Env) {
		g := e.graph()
		a, b := e.event(0), e.event(0)
		e.symbol(uint64(a), "CUevent")
		e.symbol(uint64(b), "CUevent")
		var r, w driver.CUgraphNode
		e.Do("cuGraphAddEventRecordNode", &r, g, nil, 0, a)
		e.Do("cuGraphAddEventWaitNode", &w, g, e.nodeList(r), 1, b)
		e.Do("cuGraphAddEventRecordNode", &n, g, nil, 0, nil)
		e.Do("cuGraphAddEventWaitNode", &n, g, nil, 0, nil)
		e.Do("cuGraphEventRecordNodeGetEvent", r, &ev)
		e.Do("cuGraphEventWaitNodeGetEvent", w, &ev)
		e.Do("cuGraphEventWaitNodeGetEvent", r, &ev)
		e.Do("cuGraphEventRecordNodeSetEvent", r, b)
		e.Do("cuGraphEventRecordNodeGetEvent", r, &ev)
		e.Do("cuGraphEventRecordNodeSetEvent", r, nil)
		e.Do("cuGraphEventWaitNodeSetEvent", w, a)
		run(e, g)
		e.Do("cuEventQuery", b)
		e.Do("cuGraphExecEventRecordNodeSetEvent", x, r, a)
		e.Do("cuGraphExecEventWaitNodeSetEvent", x, w, b)
		e.Do("cuGraphExecEventWaitNodeSetEvent", x, r, b)
		e.Do("cuGraphExecEventRecordNodeSetEvent", x, r, nil)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuEventSynchronize", a)
	})
	c.add("graph/node/batch", func(e *Env) {
		g, d := e.graph(), e.alloc(64)
		ctx := e.current()
		ops := []driver.CUstreamBatchMemOpParams{batchOp(driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, d, 5, 0),
			batchOp(driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, d, 5, 1),
			batchOp(driver.CU_STREAM_MEM_OP_WRITE_VALUE_64, d+8, 6, 0)}
		bp := func(ctx driver.CUcontext, count int, flags uint32) *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS {
			e.pin(&ops[0])
			return &driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: ctx, Count: uint32(count), ParamArray: &ops[0],
				Flags: flags}
		}
		e.keepAlive(ops)
		for _, t := range []struct {
			name string
			p    *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS
		}{{"3", bp(ctx, 3, 0)}, {"0", bp(ctx, 0, 0)}, {"flags", bp(ctx, 3, 1)}, {"no-context", bp(0, 3, 0)},
			{"no-list", &driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: ctx, Count: 3}}} {
			if e.Do("cuGraphAddBatchMemOpNode", &n, g, nil, 0, in{t.name, t.p}) == driver.CUDA_SUCCESS &&
				t.name != "3" {
				e.Do("cuGraphDestroyNode", n)
			}
		}
		e.nodes("cuGraphGetNodes", g, 4)
		run(e, g)
		e.word(d)
		e.word(d + 8)
	})
	for _, wrong := range []string{"ok", "type-0", "managed", "host", "device-9", "size-0", "handles", "access-device",
		"access-9", "access-host", "max-size"} {
		c.add("graph/node/alloc/"+wrong, func(e *Env) {
			g := e.graph()
			a := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onDevice},
				Bytesize: 1000}
			access := &driver.CUmemAccessDesc{Location: onDevice, Flags: 3}
			e.keepAlive(access)
			switch wrong {
			case "type-0":
				a.PoolProps.AllocType = 0
			case "managed":
				a.PoolProps.AllocType = 2
			case "host":
				a.PoolProps.Location = onHost
			case "device-9":
				a.PoolProps.Location.Id = 9
			case "size-0":
				a.Bytesize = 0
			case "handles":
				a.PoolProps.HandleTypes = 1
			case "access-device":
				a.AccessDescs, a.AccessDescCount = access, 1
			case "access-9":
				access.Location.Id = 9
				a.AccessDescs, a.AccessDescCount = access, 1
			case "access-host":
				access.Location = onHost
				a.AccessDescs, a.AccessDescCount = access, 1
			case "max-size":
				a.PoolProps.MaxSize = 1 << 20
			}
			e.pin(access)
			if e.Do("cuGraphAddMemAllocNode", &n, g, nil, 0, in{wrong, a}) != driver.CUDA_SUCCESS {
				return
			}
			alloc, at := n, named("memory", a.Dptr)
			var got driver.CUDA_MEM_ALLOC_NODE_PARAMS
			e.Do("cuGraphMemAllocNodeGetParams", alloc, in{"params", &got})
			e.Note("bytes %d, type %d, location %v, the same address: %v", got.Bytesize, got.PoolProps.AllocType,
				got.PoolProps.Location, got.Dptr == a.Dptr)
			e.pointer(at, 1, 2, 8, 9, 10, 13, 17)
			e.Do("cuGraphAddMemFreeNode", &n, g, nil, 0, at)
			e.Do("cuGraphAddMemFreeNode", &n, g, e.nodeList(alloc), 1, at)
			free := n
			e.Do("cuGraphAddMemFreeNode", &n, g, e.nodeList(alloc), 1, at)
			e.Do("cuGraphAddMemFreeNode", &n, g, e.nodeList(alloc), 1, garbage)
			e.Do("cuGraphMemFreeNodeGetParams", free, hidden{&p})
			e.Do("cuGraphDestroyNode", free)
			e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(alloc), e.nodeList(free), nil, 1)
			var h driver.CUgraph
			e.Do("cuGraphClone", &h, g)
			e.Do("cuGraphAddChildGraphNode", &n, e.graph(), nil, 0, g)
			run(e, g)
			e.Do("cuGraphLaunch", x, nil)
			var y driver.CUgraphExec
			e.Do("cuGraphInstantiateWithFlags", &y, g, 0)
			e.Do("cuGraphExecDestroy", x)
			e.Do("cuGraphInstantiateWithFlags", &y, g, 0)
			e.Do("cuCtxSynchronize")
		})
	}
	c.alone("graph/node/alloc/freed", func(e *Env) {
		g, d := e.graph(), e.alloc(64)
		a := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onDevice},
			Bytesize: 1000}
		e.Must("cuGraphAddMemAllocNode", &n, g, nil, 0, in{"params", a})
		alloc, at := n, named("memory", a.Dptr)
		e.Do("cuGraphAddMemsetNode", &n, g, e.nodeList(alloc), 1,
			in{"memset", &driver.CUDA_MEMSET_NODE_PARAMS{Dst: a.Dptr, Value: 33, ElementSize: 4, Width: 4, Height: 1}},
			e.current())
		cp := &driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: a.Dptr,
			DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: d, WidthInBytes: 16, Height: 1, Depth: 1}
		e.Do("cuGraphAddMemcpyNode", &n, g, e.nodeList(n), 1, in{"memcpy", cp}, e.current())
		e.Do("cuGraphAddMemFreeNode", &n, g, e.nodeList(n), 1, at)
		run(e, g)
		e.word(d)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuGraphUpload", x, nil)
		e.Do("cuMemFree_v2", at)
		e.Do("cuGraphExecUpdate_v2", x, g, fields{new(driver.CUgraphExecUpdateResultInfo)})
		e.Do("cuCtxSynchronize")
		e.Do("cuGraphDestroy", g)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuCtxSynchronize")
	})
	c.alone("graph/node/alloc/not-launched", func(e *Env) {
		a := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onDevice},
			Bytesize: 1000}
		e.Must("cuGraphAddMemAllocNode", &n, e.graph(), nil, 0, in{"params", a})
		e.Do("cuMemcpyDtoH_v2", new(uint32), named("memory", a.Dptr), 4)
	})
	c.alone("graph/node/alloc/not-freed", func(e *Env) {
		g := e.graph()
		a := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onDevice},
			Bytesize: 1 << 20}
		e.Must("cuGraphAddMemAllocNode", &n, g, nil, 0, in{"params", a})
		at := named("memory", a.Dptr)
		e.Must("cuGraphInstantiateWithFlags", &x, g, 0)
		var used uint64
		show := func() {
			for id := range 4 {
				e.Do("cuDeviceGetGraphMemAttribute", 0, id, &used)
			}
		}
		show()
		e.Do("cuMemFree_v2", at)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuCtxSynchronize")
		show()
		e.Do("cuMemsetD8_v2", at, 3, 1<<20)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuMemFreeAsync", at, nil)
		e.Do("cuCtxSynchronize")
		e.Do("cuMemFreeAsync", at, nil)
		show()
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuMemFree_v2", at)
		e.Do("cuGraphExecDestroy", x)
		e.Do("cuGraphDestroy", g)
		e.Do("cuDeviceGraphMemTrim", 0)
		show()
		zero, one := uint64(0), uint64(1)
		for id := range 5 {
			e.Do("cuDeviceSetGraphMemAttribute", 0, id, in{"0", &zero})
			e.Do("cuDeviceSetGraphMemAttribute", 0, id, in{"1", &one})
		}
		show()
		e.Do("cuDeviceGetGraphMemAttribute", 0, 4, &used)
		e.Do("cuDeviceGetGraphMemAttribute", 9, 0, &used)
		e.Do("cuDeviceGetGraphMemAttribute", 0, 0, nil)
		e.Do("cuDeviceGraphMemTrim", 9)
	})
	c.alone("graph/node/alloc/auto-free", func(e *Env) {
		g := e.graph()
		a := &driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onDevice},
			Bytesize: 1 << 20}
		e.Must("cuGraphAddMemAllocNode", &n, g, nil, 0, in{"params", a})
		e.Must("cuGraphInstantiateWithFlags", &x, g, 1)
		for range 3 {
			e.Do("cuGraphLaunch", x, nil)
		}
		e.Do("cuMemFree_v2", named("memory", a.Dptr))
		e.Do("cuCtxSynchronize")
	})
	for _, t := range []struct {
		name        string
		kind, size  int
		value, flag int
	}{{"if", 0, 1, 1, 1}, {"if-0", 0, 1, 0, 1}, {"if-else", 0, 2, 0, 1}, {"if-3", 0, 3, 1, 1}, {"while-0", 1, 1, 0, 1},
		{"while-2", 1, 2, 0, 1}, {"switch-1", 2, 3, 1, 1}, {"switch-9", 2, 3, 9, 1}, {"switch-0", 2, 0, 0, 1},
		{"kind-3", 3, 1, 1, 1},
		{"no-default", 0, 1, 1, 0}, {"flag-2", 0, 1, 1, 2}} {
		c.add("graph/node/conditional/"+t.name, func(e *Env) {
			g, d := e.graph(), e.alloc(64)
			ctx := e.current()
			var h driver.CUgraphConditionalHandle
			if e.Do("cuGraphConditionalHandleCreate", hidden{&h}, g, ctx, t.value, t.flag) != driver.CUDA_SUCCESS {
				return
			}
			x0 := &driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_CONDITIONAL}
			*x0.Conditional() = driver.CUDA_CONDITIONAL_NODE_PARAMS{Handle: h,
				Type: driver.CUgraphConditionalNodeType(t.kind), Size: uint32(t.size), Ctx: ctx}
			if e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, in{"conditional", x0}) != driver.CUDA_SUCCESS {
				e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
				return
			}
			e.Do("cuGraphNodeGetType", n, &typ)
			bodies := x0.Conditional().PhGraph_out
			e.Note("bodies: %v", bodies != nil)
			if bodies == nil {
				return
			}
			for i, body := range unsafe.Slice(bodies, t.size) {
				set := &driver.CUDA_MEMSET_NODE_PARAMS{Dst: d + 4*driver.CUdeviceptr(i), Value: uint32(10 + i),
					ElementSize: 4, Width: 1, Height: 1}
				e.Do("cuGraphAddMemsetNode", &n, named("body", body), nil, 0, in{"memset", set}, ctx)
			}
			e.Do("cuGraphClone", &g2, g)
			run(e, g)
			for i := range driver.CUdeviceptr(3) {
				e.word(d + 4*i)
			}
		})
	}
	c.add("graph/node/conditional/handle", func(e *Env) {
		g := e.graph()
		var h driver.CUgraphConditionalHandle
		e.Do("cuGraphConditionalHandleCreate", nil, g, e.current(), 0, 0)
		e.Do("cuGraphConditionalHandleCreate", hidden{&h}, nil, e.current(), 0, 0)
		e.Do("cuGraphConditionalHandleCreate", hidden{&h}, g, nil, 0, 0)
		e.Do("cuGraphConditionalHandleCreate", hidden{&h}, g, e.current(), 5, 0)
		e.empty(g)
		e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
		p := &driver.CUDA_GRAPH_INSTANTIATE_PARAMS{}
		e.Do("cuGraphInstantiateWithParams", &x, g, in{"params", p})
		e.Note("result %d", p.Result_out)
	})
	c.add("graph/node/general", func(e *Env) {
		g, d := e.graph(), e.alloc(64)
		f := e.fn("st1")
		x0 := &driver.CUgraphNodeParams{}
		for typ := range 16 {
			x0.Type = driver.CUgraphNodeType(typ)
			if typ != int(driver.CU_GRAPH_NODE_TYPE_EMPTY) {
				e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, in{"zeros of type " + itoa(typ), x0})
			}
		}
		x0.Type = driver.CU_GRAPH_NODE_TYPE_EMPTY
		e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, in{"empty", x0})
		e.Do("cuGraphAddNode", &n, g, nil, 0, in{"empty", x0})
		x0.Reserved0[0] = 1
		e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, in{"reserved", x0})
		e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, nil)
		k := e.kernelParams(f, 1, 1, d)
		x0 = &driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_KERNEL}
		*x0.Kernel() = driver.CUDA_KERNEL_NODE_PARAMS_v3{Func: f, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1,
			BlockDimY: 1, BlockDimZ: 1, KernelParams: k.KernelParams}
		e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0, in{"kernel", x0})
		node := n
		x0.Kernel().GridDimX = 2
		e.Do("cuGraphNodeSetParams", node, in{"grid-2", x0})
		x0.Kernel().GridDimX = 0
		e.Do("cuGraphNodeSetParams", node, in{"grid-0", x0})
		x0.Kernel().GridDimX = 1
		run(e, g)
		e.word(d)
		e.Do("cuGraphExecNodeSetParams", x, node, in{"kernel", x0})
		x0.Type = driver.CU_GRAPH_NODE_TYPE_MEMSET
		e.Do("cuGraphNodeSetParams", node, in{"memset", x0})
		e.Do("cuGraphExecNodeSetParams", x, node, in{"memset", x0})
		e.Do("cuGraphExecNodeSetParams", x, node, nil)
		e.Do("cuGraphNodeSetParams", e.empty(g), in{"kernel", x0})
	})
}
