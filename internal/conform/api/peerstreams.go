package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func peerStreamCases(c *cases) {
	var (
		ctx driver.CUcontext
		dev driver.CUdevice
		s   driver.CUstream
		u   uint32
		ms  float32
	)
	streamOf := func(e *Env, c driver.CUcontext, flags int) (s driver.CUstream) {
		e.in(c, func() { s = e.stream(flags) })
		return s
	}
	eventOf := func(e *Env, c driver.CUcontext, flags int) (v driver.CUevent) {
		e.in(c, func() { v = e.event(flags) })
		return v
	}
	c.two("stream/of-other", func(e *Env, a, b driver.CUcontext) {
		s = streamOf(e, b, 1)
		e.Do("cuStreamGetCtx", s, &ctx)
		e.Do("cuStreamGetDevice", s, &dev)
		e.Do("cuStreamGetDevice", nil, &dev)
		e.Do("cuStreamGetCtx", nil, &ctx)
		e.Do("cuStreamQuery", s)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuStreamGetFlags", s, &u)
		q := e.allocIn(b, 64, 1)
		e.Do("cuMemsetD32Async", q, 7, 4, s)
		e.Do("cuStreamSynchronize", s)
		e.in(b, func() { e.block(q) })
		e.Do("cuStreamDestroy_v2", s)
		e.Do("cuCtxGetCurrent", &ctx)
	})
	c.two("stream/launch", func(e *Env, a, b driver.CUcontext) {
		s, t := streamOf(e, b, 1), streamOf(e, a, 1)
		fa, fb := e.fnIn(a, basic, "st1"), e.fnIn(b, basic, "st1")
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		launch := func(f driver.CUfunction, p driver.CUdeviceptr, s any) {
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{p}, nil)
		}
		launch(fb, q, s)
		launch(fa, p, s)
		launch(fb, q, t)
		launch(fb, q, nil)
		launch(fb, q, 1)
		launch(fb, q, 2)
		e.in(b, func() {
			launch(fb, q, t)
			launch(fa, p, t)
			launch(fa, p, nil)
		})
		e.Do("cuCtxSynchronize")
		e.Do("cuStreamSynchronize", s)
		e.block(p)
		e.in(b, func() { e.block(q) })
	})
	c.two("event/of-other", func(e *Env, a, b driver.CUcontext) {
		s, t := streamOf(e, b, 1), streamOf(e, a, 1)
		x, y := eventOf(e, b, 0), eventOf(e, a, 0)
		e.Do("cuEventRecord", x, t)
		e.Do("cuEventRecord", x, nil)
		e.Do("cuEventRecord", y, s)
		e.Do("cuEventRecord", x, s)
		e.Do("cuEventRecord", y, t)
		e.Do("cuEventQuery", eventOf(e, b, 0))
		e.Do("cuEventSynchronize", x)
		e.Do("cuEventSynchronize", y)
		e.Do("cuEventQuery", x)
		e.Do("cuStreamWaitEvent", t, x, 0)
		e.Do("cuStreamWaitEvent", s, y, 0)
		e.Do("cuStreamWaitEvent", nil, x, 0)
		e.Do("cuStreamSynchronize", t)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuEventElapsedTime", hidden{&ms}, x, y)
		e.Do("cuEventElapsedTime_v2", hidden{&ms}, x, y)
		z := eventOf(e, b, 0)
		e.Do("cuEventRecordWithFlags", z, s, 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuEventElapsedTime", hidden{&ms}, x, z)
		e.Do("cuEventDestroy_v2", x)
		e.Do("cuCtxRecordEvent", b, z)
		e.Do("cuCtxRecordEvent", a, z)
		e.Do("cuCtxWaitEvent", a, z)
		e.Do("cuCtxWaitEvent", b, z)
		e.Do("cuCtxRecordEvent", b, y)
	})
	c.two("event/order", func(e *Env, a, b driver.CUcontext) {
		// b's kernel writes, a's copy comes after it by an event
		s, t, x := streamOf(e, b, 1), streamOf(e, a, 1), eventOf(e, b, 2)
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		f := e.fnIn(b, basic, "spin")
		e.in(b, func() { e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{q}, nil) })
		e.Do("cuEventRecord", x, s)
		e.Do("cuStreamWaitEvent", t, x, 0)
		e.Do("cuMemcpyPeerAsync", p, a, q, b, 4, t)
		e.Do("cuStreamSynchronize", t)
		e.block(p)
	})
	c.twoAlone("stream/memory-operations", func(e *Env, a, b driver.CUcontext) {
		t, q := streamOf(e, a, 1), e.allocIn(b, 64, 1)
		e.Do("cuStreamWriteValue32_v2", t, q, 5, 0)
		e.Do("cuStreamSynchronize", t)
		e.enable(a, b)
		if e.Do("cuStreamWriteValue32_v2", t, q, 5, 0) != driver.CUDA_SUCCESS {
			return
		}
		e.Do("cuStreamWaitValue32_v2", t, q, 5, 1)
		e.Do("cuStreamWriteValue64_v2", t, q+8, 6, 0)
		e.Do("cuStreamSynchronize", t)
		e.block(q)
	})
	c.two("stream/host-function", func(e *Env, a, b driver.CUcontext) {
		s := streamOf(e, b, 0)
		q := e.allocIn(b, 64, 1)
		e.Do("cuStreamWriteValue32_v2", s, q, 5, 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuStreamIsCapturing", s, new(driver.CUstreamCaptureStatus))
		e.Do("cuStreamGetPriority", s, new(int32))
	})
}

func peerModuleCases(c *cases) {
	var (
		p    driver.CUdeviceptr
		n    uint64
		v    int32
		m    driver.CUmodule
		f    driver.CUfunction
		name *byte
	)
	c.two("module/of-other", func(e *Env, a, b driver.CUcontext) {
		e.in(b, func() { m = e.load(basic) })
		e.Do("cuModuleGetGlobal_v2", &p, &n, m, "gvar")
		e.sizes[uint64(p)] = n
		e.Do("cuModuleGetFunction", &f, m, "st1")
		e.Do("cuFuncGetAttribute", &v, 0, f)
		e.Do("cuFuncGetModule", new(driver.CUmodule), f)
		e.Do("cuFuncGetName", &name, f)
		e.Do("cuFuncSetAttribute", f, 8, 1024)
		e.Do("cuOccupancyMaxActiveBlocksPerMultiprocessor", &v, f, 128, 0)
		e.Do("cuFuncLoad", f)
		e.Do("cuMemcpyHtoD_v2", p, raw{"host", []byte{1, 0, 0, 0}}, 4)
		e.word(p)
		e.pointer(p, 1, 2, 9)
		e.Do("cuModuleUnload", m)
	})
	c.two("library", func(e *Env, a, b driver.CUcontext) {
		l := e.library(basic)
		k := e.kernelOf(l, "st1")
		var fa, fb driver.CUfunction
		var pa, pb driver.CUdeviceptr
		e.Do("cuKernelGetFunction", &fa, k)
		e.Do("cuLibraryGetGlobal", &pa, &n, l, "gvar")
		e.Do("cuLibraryGetModule", &m, l)
		e.in(b, func() {
			e.Do("cuKernelGetFunction", &fb, k)
			e.Do("cuLibraryGetGlobal", &pb, &n, l, "gvar")
			e.Do("cuLibraryGetModule", &m, l)
		})
		e.Note("the same function %v, variable %v", fa == fb, pa == pb)
		for dev := range 3 {
			e.Do("cuKernelGetAttribute", &v, 0, k, dev)
			e.Do("cuKernelSetAttribute", 8, 2048, k, dev)
			e.Do("cuKernelGetAttribute", &v, 8, k, dev)
		}
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		e.launch(k, 1, 1, params{p})
		e.Do("cuCtxSynchronize")
		e.block(p)
		e.in(b, func() {
			e.launch(k, 1, 1, params{q})
			e.Do("cuCtxSynchronize")
			e.block(q)
		})
		// the variables of a library are one for each device
		e.Do("cuMemcpyHtoD_v2", pa, raw{"host", []byte{9, 0, 0, 0}}, 4)
		e.word(pa)
		e.word(pb)
		e.Do("cuLibraryGetManaged", &p, &n, l, "mvar")
		e.in(b, func() { e.Do("cuLibraryGetManaged", &p, &n, l, "mvar") })
		s := driver.CUstream(0)
		e.in(b, func() { s = e.stream(1) })
		e.Do("cuLaunchKernel", k, 1, 1, 1, 1, 1, 1, 0, s, params{q}, nil)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuLibraryUnload", l)
	})
	c.two("launch/cooperative-both", func(e *Env, a, b driver.CUcontext) {
		s, t := e.stream(1), driver.CUstream(0)
		e.in(b, func() { t = e.stream(1) })
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		list := [2]driver.CUDA_LAUNCH_PARAMS{
			{Function: e.fnIn(a, basic, "st1"), GridDimX: 2, GridDimY: 1, GridDimZ: 1, BlockDimX: 32, BlockDimY: 1,
				BlockDimZ: 1, HStream: s},
			{Function: e.fnIn(b, basic, "st1"), GridDimX: 2, GridDimY: 1, GridDimZ: 1, BlockDimX: 32, BlockDimY: 1,
				BlockDimZ: 1, HStream: t},
		}
		for i, at := range []*driver.CUdeviceptr{&p, &q} {
			args := &[1]unsafe.Pointer{unsafe.Pointer(at)}
			e.pin(at)
			e.pin(args)
			e.keepAlive(args)
			list[i].KernelParams = &args[0]
		}
		e.pin(&list)
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"both", &list[0]}, 2, 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuStreamSynchronize", t)
		e.block(p)
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"one", &list[1]}, 1, 0)
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"both", &list[0]}, 2, 3)
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"both", &list[0]}, 0, 0)
		list[1].HStream = 0
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"null stream", &list[0]}, 2, 0)
		list[1].HStream = t
		list[1].GridDimX = 3
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"other grid", &list[0]}, 2, 0)
		list[1] = list[0]
		e.Do("cuLaunchCooperativeKernelMultiDevice", in{"the same device", &list[0]}, 2, 0)
		e.Do("cuStreamSynchronize", s)
	})
}

func peerContextCases(c *cases) {
	var (
		ctx, own driver.CUcontext
		dev      driver.CUdevice
		u        uint32
		n        int32
		size     uint64
	)
	c.two("context/devices", func(e *Env, a, b driver.CUcontext) {
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxPushCurrent_v2", b)
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxGetDevice_v2", &dev, a)
		e.Do("cuCtxGetDevice_v2", &dev, b)
		e.Do("cuCtxGetId", b, hidden{new(uint64)})
		e.Do("cuCtxSynchronize_v2", a)
		e.Do("cuCtxSetLimit", 0, 4096)
		e.Do("cuCtxGetLimit", &size, 0)
		e.Do("cuCtxPopCurrent_v2", &ctx)
		e.Do("cuCtxGetLimit", &size, 0)
		e.Do("cuDevicePrimaryCtxGetState", 1, &u, &n)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 1, 4)
		e.Do("cuDevicePrimaryCtxGetState", 1, &u, &n)
		e.Do("cuDevicePrimaryCtxGetState", 0, &u, &n)
		e.Do("cuDevicePrimaryCtxSetFlags_v2", 1, 0)
		e.Do("cuCtxAttach", &ctx, 0)
		e.Do("cuCtxCreate_v2", &own, 0, 1)
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxDestroy_v2", own)
		e.Do("cuCtxGetDevice", &dev)
		e.Do("cuCtxGetCurrent", &ctx)
	})
	c.two("context/memory-of-other", func(e *Env, a, b driver.CUcontext) {
		q := e.allocIn(b, 4096, 3)
		e.Do("cuMemFree_v2", q)
		e.Do("cuMemFree_v2", q)
		q = e.allocIn(b, 4096, 3)
		e.Do("cuMemFreeAsync", q, nil)
		e.Do("cuCtxSynchronize")
		var h driver.CUipcMemHandle
		q = e.allocIn(b, 4096, 3)
		e.Do("cuIpcGetMemHandle", hidden{&h}, q)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuMemFree_v2", q)
		e.Must("cuCtxSetCurrent", a)
	})
	c.twoAlone("context/reset-owner", func(e *Env, a, b driver.CUcontext) {
		e.enable(a, b)
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		e.Do("cuDevicePrimaryCtxReset_v2", 1)
		e.Do("cuMemcpyDtoD_v2", p, q, 16)
		e.Do("cuCtxSynchronize")
		e.launch(e.fnIn(a, peerPTX(peerForms[0].body), "k"), 1, 1, params{q, p})
		e.Do("cuCtxSynchronize")
	})
	c.twoAlone("context/destroy-user", func(e *Env, a, b driver.CUcontext) {
		e.Must("cuCtxCreate_v2", &own, 0, 1)
		e.symbol(uint64(own), "CUcontext")
		e.Do("cuCtxEnablePeerAccess", a, 0)
		e.Do("cuCtxDestroy_v2", own)
		e.Must("cuCtxSetCurrent", a)
		p := e.allocIn(a, 64, 1)
		e.block(p)
	})
}

func peerGraphCases(c *cases) {
	var (
		g driver.CUgraph
		n driver.CUgraphNode
		x driver.CUgraphExec
	)
	finish := func(e *Env) {
		if e.Do("cuGraphInstantiateWithFlags", &x, g, 0) == driver.CUDA_SUCCESS {
			e.Do("cuGraphLaunch", x, nil)
			e.Do("cuCtxSynchronize")
			e.Do("cuGraphExecDestroy", x)
		}
		e.Do("cuGraphDestroy", g)
	}
	c.two("graph/kernels", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 1)
		e.Must("cuGraphCreate", &g, 0)
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"a", e.kernelParams(e.fnIn(a, basic, "st1"), 1, 1, p)})
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"b", e.kernelParams(e.fnIn(b, basic, "st1"), 1, 1, q)})
		k := e.kernelParams(e.fnIn(b, basic, "st1"), 1, 1, q)
		k.Ctx = a
		e.Do("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"b in a", k})
		finish(e)
		e.block(p)
		e.in(b, func() { e.block(q) })
	})
	c.two("graph/copies", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		e.Must("cuGraphCreate", &g, 0)
		y := driver.CUDA_MEMCPY3D{SrcMemoryType: 2, SrcDevice: q, SrcPitch: 16, SrcHeight: 1, DstMemoryType: 2,
			DstDevice: p, DstPitch: 16, DstHeight: 1, WidthInBytes: 16, Height: 1, Depth: 1}
		e.Do("cuGraphAddMemcpyNode", &n, g, nil, 0, in{"b to a", &y}, a)
		e.Do("cuGraphAddMemcpyNode", &n, g, nil, 0, in{"b to a", &y}, b)
		m := driver.CUDA_MEMSET_NODE_PARAMS{Dst: q + 32, Value: 9, ElementSize: 4, Width: 2, Height: 1}
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, in{"b", &m}, b)
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0, in{"b", &m}, a)
		finish(e)
		e.block(p)
		e.in(b, func() { e.block(q + 32) })
	})
	c.two("graph/memory", func(e *Env, a, b driver.CUcontext) {
		for _, l := range []driver.CUmemLocation{onDevice, onSecond} {
			desc := [1]driver.CUmemAccessDesc{{Location: l, Flags: 3}}
			e.pin(&desc)
			m := driver.CUDA_MEM_ALLOC_NODE_PARAMS_v1{Bytesize: 4096, AccessDescCount: 1, AccessDescs: &desc[0],
				PoolProps: driver.CUmemPoolProps{AllocType: 1, Location: onSecond}}
			e.Must("cuGraphCreate", &g, 0)
			e.Do("cuGraphAddMemAllocNode", &n, g, nil, 0, in{"memory of the second", &m})
			at := named("memory", m.Dptr)
			s := driver.CUDA_MEMSET_NODE_PARAMS{Dst: m.Dptr, Value: 9, ElementSize: 4, Width: 2, Height: 1}
			first := [1]driver.CUgraphNode{n}
			e.Do("cuGraphAddMemsetNode", &n, g, in{"alloc", &first[0]}, 1, in{"memory", &s}, a)
			e.Do("cuGraphAddMemFreeNode", &n, g, in{"alloc", &first[0]}, 1, at)
			finish(e)
		}
	})
	c.two("graph/capture", func(e *Env, a, b driver.CUcontext) {
		p, q := e.allocIn(a, 64, 1), e.allocIn(b, 64, 5)
		s, t := e.stream(1), driver.CUstream(0)
		x, y := e.event(2), driver.CUevent(0)
		f := e.fnIn(b, basic, "st1")
		e.in(b, func() { t, y = e.stream(1), e.event(2) })
		e.Do("cuStreamBeginCapture_v2", s, 2)
		e.Do("cuMemcpyPeerAsync", p, a, q, b, 16, s)
		e.Do("cuEventRecord", x, s)
		e.Do("cuStreamWaitEvent", t, x, 0)
		e.in(b, func() { e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, t, params{q}, nil) })
		e.Do("cuEventRecord", y, t)
		e.Do("cuStreamWaitEvent", s, y, 0)
		e.Do("cuMemcpyPeerAsync", p+16, a, q, b, 4, s)
		e.Do("cuStreamEndCapture", s, &g)
		finish(e)
		e.block(p)
	})
}
