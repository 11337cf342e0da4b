package api

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func memOpCases(c *cases) {
	c.add("memop/write", func(e *Env) {
		s, d := e.stream(1), e.alloc(64)
		for _, flags := range []int{0, 1, 2} {
			for _, off := range []driver.CUdeviceptr{0, 4, 2} {
				e.Do("cuStreamWriteValue32_v2", s, d+off, 5, flags)
				e.Do("cuStreamWriteValue64_v2", s, d+off, 6, flags)
			}
		}
		e.Do("cuStreamWriteValue32_v2", s, d+62, 5, 0)
		e.Do("cuStreamWriteValue32_v2", s, nil, 5, 0)
		e.Do("cuStreamWriteValue32_v2", s, garbage, 5, 0)
		e.Do("cuStreamWriteValue32_v2", nil, d+16, 7, 0)
		e.Do("cuStreamWriteValue64_v2", nil, d+24, 1<<40+8, 0)
		e.Do("cuStreamWriteValue32", s, d+32, 9, 0)
		e.Do("cuStreamWriteValue64", s, d+40, 9, 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuCtxSynchronize")
		for off := driver.CUdeviceptr(0); off < 48; off += 4 {
			e.word(d + off)
		}
	})
	c.add("memop/wait", func(e *Env) {
		s, d := e.stream(1), e.alloc(64)
		e.Must("cuMemsetD32_v2", d, 5, 16)
		e.Must("cuCtxSynchronize")
		// Each of these is so already.
		for flags, v := range []int{5, 5, 4, 1 << 30} { // GEQ, EQ, AND, NOR
			e.Do("cuStreamWaitValue32_v2", s, d, v, flags)
		}
		e.Do("cuStreamWaitValue32_v2", s, d, 3, 0)
		e.Do("cuStreamWaitValue64_v2", s, d, 5, 0)
		e.Do("cuStreamWaitValue32_v2", s, d, 5, 4)
		e.Do("cuStreamWaitValue32_v2", s, d, 5, 1<<30)
		e.Do("cuStreamWaitValue32_v2", s, d+2, 5, 0)
		e.Do("cuStreamWaitValue64_v2", s, d+4, 5, 0)
		e.Do("cuStreamWaitValue32_v2", s, nil, 5, 0)
		e.Do("cuStreamWaitValue32_v2", s, garbage, 5, 0)
		e.Do("cuStreamWaitValue32", s, d, 5, 0)
		e.Do("cuStreamWaitValue64", s, d, 5, 0)
		e.Do("cuStreamSynchronize", s)
	})
	c.add("memop/batch", func(e *Env) {
		s, d := e.stream(1), e.alloc(64)
		const w32, w64 = driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, driver.CU_STREAM_MEM_OP_WRITE_VALUE_64
		do := func(name string, count, flags int, ops ...driver.CUstreamBatchMemOpParams) {
			e.Do("cuStreamBatchMemOp_v2", s, count, in{name, &ops[0]}, flags)
		}
		do("write,wait", 2, 0, batchOp(w32, d, 5, 0), batchOp(driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, d, 5, 1))
		do("write-64,wait-64", 2, 0, batchOp(w64, d+8, 6, 0), batchOp(driver.CU_STREAM_MEM_OP_WAIT_VALUE_64, d+8, 6, 1))
		do("barrier", 1, 0, batchOp(driver.CU_STREAM_MEM_OP_BARRIER, 0, 0, 0))
		do("barrier-1", 1, 0, batchOp(driver.CU_STREAM_MEM_OP_BARRIER, 0, 0, 1))
		do("barrier-2", 1, 0, batchOp(driver.CU_STREAM_MEM_OP_BARRIER, 0, 0, 2))
		do("flush", 1, 0, batchOp(driver.CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES, 0, 0, 0))
		do("unknown", 1, 0, batchOp(99, 0, 0, 0))
		do("empty", 0, 0, batchOp(w32, d, 5, 0))
		do("flags", 1, 1, batchOp(w32, d, 5, 0))
		do("second-bad", 2, 0, batchOp(w32, d+16, 9, 0), batchOp(w32, d+2, 5, 0))
		many := make([]driver.CUstreamBatchMemOpParams, 257)
		for i := range many {
			many[i] = batchOp(w32, d+32, uint64(i), 0)
		}
		do("256", 256, 0, many...)
		do("257", 257, 0, many...)
		e.Do("cuStreamBatchMemOp_v2", s, 1, nil, 0)
		e.Do("cuStreamBatchMemOp_v2", nil, 1, in{"write", &many[0]}, 0)
		e.Do("cuStreamBatchMemOp", s, 1, in{"write", &many[0]}, 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuCtxSynchronize")
		for _, off := range []driver.CUdeviceptr{0, 8, 16, 32} {
			e.word(d + off)
		}
	})
}

func greenCases(c *cases) {
	var (
		r    driver.CUdevResource
		g    driver.CUgreenCtx
		desc driver.CUdevResourceDesc
		ctx  driver.CUcontext
		s    driver.CUstream
		n    uint32
		id   uint64
	)
	show := func(e *Env, name string, r *driver.CUdevResource) {
		sm := r.Sm()
		e.Note("%s: type %d, %d multiprocessors, at least %d, aligned to %d", name, r.Type, sm.SmCount,
			sm.MinSmPartitionSize, sm.SmCoscheduledAlignment)
	}
	whole := func(e *Env) *driver.CUdevResource {
		r := new(driver.CUdevResource)
		e.Must("cuDeviceGetDevResource", 0, in{"resource", r}, 1)
		return r
	}
	c.add("green/resource", func(e *Env) {
		for _, typ := range []int{0, 1, 2, 1000, 10000} {
			if e.Do("cuDeviceGetDevResource", 0, in{"&", &r}, typ) == driver.CUDA_SUCCESS {
				show(e, "device", &r)
			}
			if e.Do("cuCtxGetDevResource", e.current(), in{"&", &r}, typ) == driver.CUDA_SUCCESS {
				show(e, "context", &r)
			}
		}
		e.Do("cuDeviceGetDevResource", 9, in{"&", &r}, 1)
		e.Do("cuDeviceGetDevResource", 0, nil, 1)
		e.Do("cuCtxGetDevResource", nil, in{"&", &r}, 1)
		e.Do("cuCtxGetDevResource", e.current(), nil, 1)
	})
	for _, flags := range []int{0, 1, 2, 3, 4} {
		for _, least := range []int{0, 1, 2, 7, 8, 9, 16, 17, 64, 66, 100, 132, 133, 1000} {
			c.add("green/split/"+itoa(flags)+"/"+itoa(least), func(e *Env) {
				w := whole(e)
				n = 0
				e.Do("cuDevSmResourceSplitByCount", nil, inOut{&n}, in{"device", w}, nil, flags, least)
				out := new([4]driver.CUdevResource)
				rest := new(driver.CUdevResource)
				n = 3
				if e.Do("cuDevSmResourceSplitByCount", in{"&", &out[0]}, inOut{&n}, in{"device", w}, in{"&", rest},
					flags, least) != driver.CUDA_SUCCESS {
					return
				}
				for i := range min(n, 3) {
					show(e, "group "+itoa(int(i)), &out[i])
				}
				show(e, "rest", rest)
				n = 2
				e.Do("cuDevSmResourceSplitByCount", in{"&", &out[2]}, inOut{&n}, in{"group 0", &out[0]}, in{"&", rest},
					flags, 8)
			})
		}
	}
	c.add("green/split/nulls", func(e *Env) {
		w := whole(e)
		n = 1
		e.Do("cuDevSmResourceSplitByCount", in{"&", &r}, nil, in{"device", w}, nil, 0, 8)
		e.Do("cuDevSmResourceSplitByCount", in{"&", &r}, inOut{&n}, nil, nil, 0, 8)
		n = 0
		e.Do("cuDevSmResourceSplitByCount", in{"&", &r}, inOut{&n}, in{"device", w}, nil, 0, 8)
		n = 1
		e.Do("cuDevSmResourceSplitByCount", in{"&", &r}, inOut{&n}, in{"zeros", &driver.CUdevResource{}}, nil, 0, 8)
	})
	c.alone("green/context", func(e *Env) {
		w := whole(e)
		var part driver.CUdevResource
		n = 1
		e.Must("cuDevSmResourceSplitByCount", in{"&", &part}, inOut{&n}, in{"device", w}, nil, 0, 16)
		e.Do("cuDevResourceGenerateDesc", hidden{&desc}, in{"part", &part}, 0)
		e.Do("cuDevResourceGenerateDesc", hidden{&desc}, nil, 1)
		e.Do("cuDevResourceGenerateDesc", nil, in{"part", &part}, 1)
		e.Do("cuDevResourceGenerateDesc", hidden{&desc}, in{"zeros", &driver.CUdevResource{}}, 1)
		if e.Do("cuDevResourceGenerateDesc", hidden{&desc}, in{"part", &part}, 1) != driver.CUDA_SUCCESS {
			return
		}
		d := named("desc", desc)
		e.Do("cuGreenCtxCreate", &g, d, 0, 0)
		e.Do("cuGreenCtxCreate", &g, d, 0, 2)
		e.Do("cuGreenCtxCreate", &g, d, 9, 1)
		e.Do("cuGreenCtxCreate", nil, d, 0, 1)
		e.Do("cuGreenCtxCreate", &g, nil, 0, 1)
		if e.Do("cuGreenCtxCreate", &g, d, 0, 1) != driver.CUDA_SUCCESS {
			return
		}
		if e.Do("cuGreenCtxGetDevResource", g, in{"&", &r}, 1) == driver.CUDA_SUCCESS {
			show(e, "green", &r)
		}
		e.Do("cuGreenCtxGetDevResource", g, in{"&", &r}, 0)
		e.Do("cuGreenCtxGetDevResource", g, nil, 1)
		e.Do("cuGreenCtxGetId", g, hidden{&id})
		e.Do("cuGreenCtxGetId", g, nil)
		primary := e.current()
		e.symbol(uint64(primary), "CUcontext")
		e.Do("cuCtxFromGreenCtx", &ctx, g)
		green := ctx
		e.Do("cuCtxFromGreenCtx", nil, g)
		if e.Do("cuCtxGetDevResource", green, in{"&", &r}, 1) == driver.CUDA_SUCCESS {
			show(e, "its context", &r)
		}
		var api uint32
		e.Do("cuCtxGetApiVersion", green, &api)
		for _, flags := range []int{0, 1, 2} {
			if e.Do("cuGreenCtxStreamCreate", &s, g, flags, 0) != driver.CUDA_SUCCESS {
				continue
			}
			var of driver.CUgreenCtx
			var prio int32
			e.Do("cuStreamGetGreenCtx", s, &of)
			e.Do("cuStreamGetCtx", s, &ctx)
			e.Do("cuStreamGetCtx_v2", s, &ctx, &of)
			e.Do("cuStreamGetPriority", s, &prio)
			p := e.alloc(64)
			e.Do("cuMemsetD32Async", p, 7, 1, s)
			v := e.event(0)
			e.Do("cuEventRecord", v, s)
			e.Do("cuGreenCtxRecordEvent", g, v)
			e.Do("cuGreenCtxWaitEvent", g, v)
			e.Do("cuStreamSynchronize", s)
			e.word(p)
			e.Do("cuStreamDestroy_v2", s)
		}
		e.Do("cuGreenCtxStreamCreate", &s, g, 1, -100)
		e.Do("cuGreenCtxStreamCreate", nil, g, 1, 0)
		e.Do("cuStreamGetGreenCtx", e.stream(0), &g)
		e.Do("cuCtxSetCurrent", green)
		e.Do("cuCtxGetCurrent", &ctx)
		var dev driver.CUdevice
		e.Do("cuCtxGetDevice", &dev)
		f := e.fn("nop")
		e.launch(f, 1, 1, nil)
		e.Do("cuCtxSynchronize")
		s = e.stream(1)
		e.symbol(uint64(s), "CUstream")
		e.Do("cuStreamGetGreenCtx", s, &g)
		e.Do("cuCtxSetCurrent", primary)
	})
	c.alone("green/destroy", func(e *Env) {
		w := whole(e)
		e.Must("cuDevResourceGenerateDesc", hidden{&desc}, in{"device", w}, 1)
		e.Must("cuGreenCtxCreate", &g, named("desc", desc), 0, 1)
		e.Do("cuGreenCtxDestroy", g)
		e.Do("cuGreenCtxDestroy", nil)
		e.Do("cuCtxSynchronize")
	})
}

func serviceCases(c *cases) {
	c.alone("coredump/attributes", func(e *Env) {
		for _, fn := range []string{"cuCoredumpGetAttribute", "cuCoredumpGetAttributeGlobal"} {
			for id := range 10 {
				v := new([8]byte)
				size := uint64(8)
				e.Do(fn, id, hidden{v}, inOut{&size})
				size = 0
				e.Do(fn, id, nil, inOut{&size})
				if id < 5 || id == 7 {
					e.Note("value %x", v[:4])
				}
			}
		}
		e.Do("cuCoredumpGetAttribute", 1, hidden{new([8]byte)}, nil)
	})
	for _, fn := range []string{"cuCoredumpSetAttribute", "cuCoredumpSetAttributeGlobal"} {
		c.alone("coredump/set/"+fn, func(e *Env) {
			for id := range 10 {
				off := new([8]byte)
				for _, n := range []uint64{0, 1, 4, 8} {
					size := n
					e.Do(fn, id, in{"zeros", off}, inOut{&size})
				}
				e.Do(fn, id, nil, inOut{new(uint64)})
				e.Do(fn, id, in{"zeros", off}, nil)
			}
		})
	}
	c.alone("logs", func(e *Env) {
		var it driver.CUlogIterator
		var h driver.CUlogsCallbackHandle
		size := uint64(64)
		buf := raw{"buffer", make([]byte, 64)}
		count := 0
		fn := driver.CUlogsCallback{Go: func(uintptr, driver.CUlogLevel, *byte, uint64) { count++ }}
		e.Do("cuLogsCurrent", hidden{&it}, 0)
		e.Do("cuLogsCurrent", hidden{&it}, 1)
		e.Do("cuLogsCurrent", nil, 0)
		e.Must("cuLogsCurrent", hidden{&it}, 0)
		e.Do("cuLogsRegisterCallback", named("fn", fn), 0, hidden{&h})
		registered := h
		e.Do("cuMemAlloc_v2", nil, 16)
		e.Do("cuLogsDumpToMemory", in{"iterator", &it}, buf, hidden{&size}, 1)
		e.Do("cuLogsDumpToMemory", in{"iterator", &it}, nil, inOut{&size}, 0)
		e.Do("cuLogsDumpToMemory", in{"iterator", &it}, buf, nil, 0)
		e.Do("cuLogsDumpToFile", in{"iterator", &it}, e.dir+"/log", 0)
		e.Do("cuLogsDumpToFile", in{"iterator", &it}, e.dir+"/log", 1)
		e.Do("cuLogsDumpToFile", in{"iterator", &it}, e.dir+"/none/log", 0)
		e.Do("cuLogsDumpToFile", nil, e.dir+"/log", 0)
		e.Do("cuLogsDumpToFile", in{"iterator", &it}, nil, 0)
		e.Do("cuLogsUnregisterCallback", named("registered", registered))
		e.Do("cuLogsRegisterCallback", named("none", driver.CUlogsCallback{}), 0, hidden{&h})
	})
	c.add("profiler", func(e *Env) {
		e.Do("cuProfilerStart")
		e.Do("cuProfilerStart")
		e.Do("cuProfilerStop")
		e.Do("cuProfilerStop")
		e.Do("cuProfilerInitialize", "a", "b", 0)
	})
	c.add("device/atomics", func(e *Env) {
		ops := new([14]driver.CUatomicOperation)
		for i := range ops {
			ops[i] = driver.CUatomicOperation(i)
		}
		got := new([13]uint32)
		e.Do("cuDeviceGetHostAtomicCapabilities", got, in{"0..12", &ops[0]}, 13, 0)
		e.Do("cuDeviceGetHostAtomicCapabilities", got, in{"0..13", &ops[0]}, 0, 0)
		e.Do("cuDeviceGetHostAtomicCapabilities", new([1]uint32), in{"13", &ops[13]}, 1, 0)
		e.Do("cuDeviceGetHostAtomicCapabilities", new([1]uint32), in{"0", &ops[0]}, 1, 9)
		e.Do("cuDeviceGetP2PAtomicCapabilities", new([1]uint32), in{"0", &ops[0]}, 1, 0, 0)
		e.Do("cuDeviceGetP2PAtomicCapabilities", new([1]uint32), in{"0", &ops[0]}, 1, 0, 9)
		e.Do("cuDeviceGetP2PAtomicCapabilities", nil, in{"0", &ops[0]}, 1, 0, 0)
	})
	c.add("device/nvsci", func(e *Env) {
		e.Do("cuDeviceGetNvSciSyncAttributes", nil, 0, 1)
		e.Do("cuDeviceGetNvSciSyncAttributes", nil, 9, 1)
	})
	c.add("device/notification", func(e *Env) {
		var h driver.CUasyncCallbackHandle
		fn := driver.CUasyncCallback{Go: func(*driver.CUasyncNotificationInfo, uintptr,
			driver.CUasyncCallbackHandle) {
		}}
		e.Do("cuDeviceRegisterAsyncNotification", 0, named("fn", fn), 0, hidden{&h})
		registered := named("registered", h)
		e.Do("cuDeviceRegisterAsyncNotification", 9, named("fn", fn), 0, hidden{&h})
		e.Do("cuDeviceRegisterAsyncNotification", 0, named("fn", fn), 0, nil)
		e.Do("cuDeviceRegisterAsyncNotification", 0, named("none", driver.CUasyncCallback{}), 0, hidden{&h})
		e.Do("cuDeviceUnregisterAsyncNotification", 0, registered)
		e.Do("cuDeviceUnregisterAsyncNotification", 0, nil)
	})
	c.add("device/absent", func(e *Env) {
		var n uint64
		var h driver.CUmemGenericAllocationHandle
		e.Do("cuMulticastGetGranularity", &n, in{"prop", &driver.CUmulticastObjectProp{NumDevices: 1, Size: granule}},
			0)
		e.Do("cuMulticastCreate", &h, in{"prop", &driver.CUmulticastObjectProp{NumDevices: 1, Size: granule}})
		e.Do("cuMulticastAddDevice", nil, 0)
		e.Do("cuFlushGPUDirectRDMAWrites", 1, 100)
		e.Do("cuFlushGPUDirectRDMAWrites", 1, 200)
		e.Do("cuFlushGPUDirectRDMAWrites", 9, 100)
		var luid [8]byte
		var mask uint32
		e.Do("cuDeviceGetLuid", in{"&", &luid[0]}, &mask, 0)
	})
	type tiled struct {
		name         string
		typ, rank    int
		dims         [5]uint64
		strides      [5]uint64
		box, element [5]uint32
		interleave   int
		swizzle      int
		promotion    int
		fill         int
		off          uintptr
	}
	ok := tiled{"ok", 7, 2, [5]uint64{64, 64, 1, 1, 1}, [5]uint64{256, 16384, 16384, 16384, 16384},
		[5]uint32{16, 16, 1, 1, 1}, [5]uint32{1, 1, 1, 1, 1}, 0, 0, 0, 0, 0}
	with := func(name string, edit func(t *tiled)) tiled {
		t := ok
		t.name = name
		edit(&t)
		return t
	}
	for _, t := range []tiled{ok, with("rank-0", func(t *tiled) {
		t.rank = 0
	}), with("rank-1", func(t *tiled) {
		t.rank = 1
	}), with("rank-5", func(t *tiled) { t.rank = 5 }), with("rank-6", func(t *tiled) { t.rank = 6 }),
		with("type-12", func(t *tiled) {
			t.typ = 12
		}), with("type-13", func(t *tiled) {
			t.typ = 13
		}), with("type-16", func(t *tiled) { t.typ = 16 }), with("dim-0", func(t *tiled) { t.dims[0] = 0 }),
		with("dim-large", func(t *tiled) {
			t.dims[0] = 1 << 33
		}), with("stride-odd", func(t *tiled) {
			t.strides[0] = 250
		}), with("stride-0", func(t *tiled) {
			t.strides[0] = 0
		}), with("stride-short", func(t *tiled) { t.strides[0] = 128 }),
		with("box-0", func(t *tiled) {
			t.box[0] = 0
		}), with("box-257", func(t *tiled) {
			t.box[1] = 257
		}), with("box-3", func(t *tiled) { t.box[0] = 3 }), with("element-0", func(t *tiled) { t.element[0] = 0 }),
		with("element-8", func(t *tiled) {
			t.element[1] = 8
		}), with("element-9", func(t *tiled) {
			t.element[1] = 9
		}), with("interleave-1", func(t *tiled) {
			t.interleave = 1
		}), with("interleave-2", func(t *tiled) { t.interleave = 2 }),
		with("interleave-3", func(t *tiled) {
			t.interleave = 3
		}), with("swizzle-1", func(t *tiled) {
			t.swizzle = 1
		}), with("swizzle-3", func(t *tiled) {
			t.swizzle = 3
		}), with("swizzle-1-wide", func(t *tiled) { t.swizzle, t.box[0] = 1, 64 }),
		with("swizzle-7", func(t *tiled) {
			t.swizzle = 7
		}), with("promotion-3", func(t *tiled) {
			t.promotion = 3
		}), with("promotion-4", func(t *tiled) { t.promotion = 4 }), with("fill-1", func(t *tiled) { t.fill = 1 }),
		with("fill-2", func(t *tiled) {
			t.fill = 2
		}), with("fill-1-integer", func(t *tiled) {
			t.fill, t.typ = 1, 2
		}), with("address-odd", func(t *tiled) { t.off = 8 })} {
		c.add("tensor-map/tiled/"+t.name, func(e *Env) {
			p := uintptr(e.alloc(64 << 10))
			m := new([2]driver.CUtensorMap)
			at := (*driver.CUtensorMap)(unsafe.Pointer((uintptr(unsafe.Pointer(m)) + 63) &^ 63))
			e.keepAlive(m)
			r := e.Do("cuTensorMapEncodeTiled", in{"map", at}, t.typ, t.rank, named("memory", p+t.off),
				in{"dims", &t.dims[0]}, in{"strides", &t.strides[0]}, in{"box", &t.box[0]},
				in{"element", &t.element[0]}, t.interleave, t.swizzle,
				t.promotion, t.fill)
			if r == driver.CUDA_SUCCESS {
				e.Do("cuTensorMapReplaceAddress", in{"map", at}, named("memory", p+1024))
				e.Do("cuTensorMapReplaceAddress", in{"map", at}, named("memory", p+8))
				e.Do("cuTensorMapReplaceAddress", nil, named("memory", p))
			}
		})
	}
}
