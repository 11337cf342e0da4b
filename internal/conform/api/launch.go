package api

import (
	"encoding/binary"
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// config is a launch configuration.
func config(grid, block, shared int, attrs ...driver.CUlaunchAttribute) *driver.CUlaunchConfig {
	c := &driver.CUlaunchConfig{GridDimX: uint32(grid), GridDimY: 1, GridDimZ: 1, BlockDimX: uint32(block),
		BlockDimY: 1, BlockDimZ: 1, SharedMemBytes: uint32(shared)}
	if len(attrs) > 0 {
		c.Attrs, c.NumAttrs = &attrs[0], uint32(len(attrs))
	}
	return c
}

// attr is a launch attribute of words.
func attr(id driver.CUlaunchAttributeID, words ...int32) driver.CUlaunchAttribute {
	a := driver.CUlaunchAttribute{Id: id}
	b := a.Value.Pad()
	for i, w := range words {
		binary.NativeEndian.PutUint32(b[4*i:], uint32(w))
	}
	return a
}

func cluster(x, y, z int) driver.CUlaunchAttribute {
	return attr(driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, int32(x), int32(y), int32(z))
}

// words is an extra list: key, address of the bytes, key, address of the size, end.
func (e *Env) extra(text string, data []byte, size uint64) extra {
	n := &size
	e.keepAlive(data)
	e.keepAlive(n)
	e.pin(&data[0])
	e.pin(n)
	return extra{text, []uintptr{1, uintptr(unsafe.Pointer(&data[0])), 2, uintptr(unsafe.Pointer(n)), 0}}
}

func u64s(list ...uint64) []byte {
	var b []byte
	for _, v := range list {
		b = binary.NativeEndian.AppendUint64(b, v)
	}
	return b
}

func launchCases(c *cases) {
	// after waits, so that a case that breaks the device shows it.
	after := func(e *Env) {
		if r := e.T.CtxSynchronize(0); r != driver.CUDA_SUCCESS {
			e.Note("then: %v", r)
		}
	}
	full := func(name, fn string, g, b [3]uint32, shared uint32, stream any) {
		c.add("launch/"+name, func(e *Env) {
			e.Do("cuLaunchKernel", e.fn(fn), g[0], g[1], g[2], b[0], b[1], b[2], shared, stream, nil, nil)
			after(e)
		})
	}
	one := [3]uint32{1, 1, 1}
	full("ok", "nop", one, one, 0, nil)
	for _, b := range [][3]uint32{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {1024, 1, 1}, {1025, 1, 1}, {32, 32, 1}, {32, 32, 2},
		{1, 1024, 1}, {1, 1025, 1}, {1, 1, 64}, {1, 1, 65}, {1024, 1024, 64}, {math.MaxUint32, 1, 1},
		{1 << 16, 1 << 16, 1}} {
		full("block/"+dims(b), "nop", one, b, 0, nil)
	}
	for _, g := range [][3]uint32{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}, {65536, 1, 1}, {0x80000000, 1, 1},
		{math.MaxUint32, 1, 1}, {1, 65535, 1}, {1, 65536, 1}, {1, 1, 65535}, {1, 1, 65536}} {
		full("grid/"+dims(g), "nop", g, one, 0, nil)
	}
	full("grid-and-block-0", "nop", [3]uint32{0, 1, 1}, [3]uint32{0, 1, 1}, 0, nil)
	for _, s := range []uint32{1, 1024, 49152, 49153, 232448, 232449, math.MaxUint32} {
		full("shared/"+itoa(int(s)), "nop", one, one, s, nil)
	}
	for _, s := range []uint32{48128, 48129} {
		c.add("launch/shared-beside-static/"+itoa(int(s)), func(e *Env) {
			e.Do("cuLaunchKernel", e.fn("smem"), 1, 1, 1, 1, 1, 1, s, nil, params{e.alloc(4)}, nil)
			after(e)
		})
	}
	full("stream/legacy", "nop", one, one, 0, 1)
	full("stream/per-thread", "nop", one, one, 0, 2)
	c.alone("launch/stream/garbage", func(e *Env) {
		e.Do("cuLaunchKernel", e.fn("nop"), 1, 1, 1, 1, 1, 1, 0, garbage, nil, nil)
	})
	c.alone("launch/stream/destroyed", func(e *Env) {
		s := e.stream(0)
		f := e.fn("nop")
		e.Do("cuStreamDestroy_v2", s)
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, nil, nil)
	})
	c.alone("launch/function/garbage", func(e *Env) { e.launch(garbage, 1, 1, nil) })
	c.call("launch/function/null", "cuLaunchKernel", nil, 1, 1, 1, 1, 1, 1, 0, nil, nil, nil)
	c.call("launch/function/null-and-grid-0", "cuLaunchKernel", nil, 0, 1, 1, 1, 1, 1, 0, nil, nil, nil)
	c.add("launch/no-context", func(e *Env) {
		f := e.fn("nop")
		e.Must("cuCtxSetCurrent", nil)
		e.launch(f, 1, 1, nil)
		e.launch(nil, 1, 1, nil)
	})
	c.add("launch/other-context-current", func(e *Env) {
		f := e.fn("nop")
		s := e.stream(0)
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		e.launch(f, 1, 1, nil)
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, nil, nil)
		t := e.stream(0)
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, t, nil, nil)
		e.Must("cuCtxDestroy_v2", other)
	})
	p := func(name, fn string, run func(e *Env, f driver.CUfunction, d driver.CUdeviceptr)) {
		c.add("launch/"+name, func(e *Env) {
			run(e, e.fn(fn), e.alloc(64))
			after(e)
		})
	}
	p("params/ok", "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{d})
		e.word(d)
	})
	p("params/three", "st2", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{d, uint32(33), [24]byte{}})
		e.word(d)
	})
	p("params/null-needed", "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) { e.launch(f, 1, 1, nil) })
	p("params/null-entry", "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{nil})
	})
	p("params/null-entry-second", "st2", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{d, nil, [24]byte{}})
	})
	p("params/unneeded", "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.launch(f, 1, 1, params{d})
	})
	ex := func(name, fn string, make func(e *Env, d driver.CUdeviceptr) extra) {
		p("extra/"+name, fn, func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, nil, make(e, d))
			e.word(d)
		})
	}
	ex("ok", "st1", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("8 bytes", u64s(uint64(d)), 8) })
	ex("long", "st1", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("16 bytes", u64s(uint64(d), 0), 16) })
	ex("zero", "st1", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("0 bytes", u64s(uint64(d)), 0) })
	ex("three", "st2", func(e *Env, d driver.CUdeviceptr) extra {
		return e.extra("40 bytes", u64s(uint64(d), 1, 2, 3, 4), 40)
	})
	ex("three-short", "st2", func(e *Env, d driver.CUdeviceptr) extra {
		return e.extra("39 bytes", u64s(uint64(d), 1, 2, 3, 4), 39)
	})
	ex("none-wanted", "nop", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("16 bytes", u64s(0, 0), 16) })
	ex("huge", "st1", func(e *Env, d driver.CUdeviceptr) extra {
		return e.extra("5000 bytes", append(u64s(uint64(d)), make([]byte, 5000)...), 5000)
	})
	ex("end-only", "st1", func(e *Env, d driver.CUdeviceptr) extra { return extra{"end", []uintptr{0}} })
	ex("end-only-nop", "nop", func(e *Env, d driver.CUdeviceptr) extra { return extra{"end", []uintptr{0}} })
	ex("bad-key", "st1", func(e *Env, d driver.CUdeviceptr) extra { return extra{"key 7", []uintptr{7, 0, 0}} })
	ex("no-size", "st1", func(e *Env, d driver.CUdeviceptr) extra {
		x := e.extra("buffer only", u64s(uint64(d)), 8)
		return extra{x.text, []uintptr{x.words[0], x.words[1], 0}}
	})
	ex("no-buffer", "st1", func(e *Env, d driver.CUdeviceptr) extra {
		x := e.extra("size only", u64s(uint64(d)), 8)
		return extra{x.text, []uintptr{x.words[2], x.words[3], 0}}
	})
	ex("size-first", "st1", func(e *Env, d driver.CUdeviceptr) extra {
		x := e.extra("size first", u64s(uint64(d)), 8)
		return extra{x.text, []uintptr{x.words[2], x.words[3], x.words[0], x.words[1], 0}}
	})
	p("extra/both", "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, params{d}, e.extra("8 bytes", u64s(uint64(d)), 8))
	})
	lists := []struct {
		name string
		make func(e *Env, d driver.CUdeviceptr) extra
	}{
		{"end-only", func(*Env, driver.CUdeviceptr) extra { return extra{"end", []uintptr{0}} }},
		{"zero", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("0 bytes", u64s(uint64(d)), 0) }},
		{"no-size", func(e *Env, d driver.CUdeviceptr) extra {
			x := e.extra("buffer only", u64s(uint64(d)), 8)
			return extra{x.text, []uintptr{x.words[0], x.words[1], 0}}
		}},
		{"no-buffer", func(e *Env, d driver.CUdeviceptr) extra {
			x := e.extra("size only", u64s(uint64(d)), 8)
			return extra{x.text, []uintptr{x.words[2], x.words[3], 0}}
		}},
		{"bad-key", func(*Env, driver.CUdeviceptr) extra { return extra{"key 7", []uintptr{7, 0, 0}} }},
		{"8", func(e *Env, d driver.CUdeviceptr) extra { return e.extra("8 bytes", u64s(uint64(d)), 8) }},
	}
	for _, l := range lists {
		p("extra/both/"+l.name, "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, params{d}, l.make(e, d))
			e.word(d)
		})
		p("extra/both-nop/"+l.name, "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, params{d}, l.make(e, d))
		})
		p("extra/nop/"+l.name, "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, nil, nil, l.make(e, d))
		})
		p("extra/both-ex/"+l.name, "st1", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Do("cuLaunchKernelEx", in{"config", config(1, 1, 0)}, f, params{d}, l.make(e, d))
			e.word(d)
		})
	}
	for _, k := range []struct {
		fn    string
		block int
	}{{"req32", 32}, {"req32", 31}, {"req32", 64}, {"max64", 64}, {"max64", 65}, {"max64", 128}} {
		p("bounds/"+k.fn+"/"+itoa(k.block), k.fn, func(e *Env, f driver.CUfunction, _ driver.CUdeviceptr) {
			e.launch(f, 1, k.block, nil)
		})
	}
	p("bounds/max64/8x8", "max64", func(e *Env, f driver.CUfunction, _ driver.CUdeviceptr) {
		e.Do("cuLaunchKernel", f, 1, 1, 1, 8, 8, 1, 0, nil, nil, nil)
	})
	for _, fn := range []string{"clus2", "expl"} {
		for g := 1; g < 5; g++ {
			p("cluster-kernel/"+fn+"/"+itoa(g), fn, func(e *Env, f driver.CUfunction, _ driver.CUdeviceptr) {
				e.launch(f, g, 1, nil)
			})
		}
	}
	for _, g := range [][2]int{{1, 1}, {132 * 32, 1}, {132*32 + 1, 1}, {264, 1024}, {265, 1024}, {528, 512}, {529, 512},
		{1056, 256}, {1057, 256}, {0, 1}, {1, 0}} {
		p("cooperative/"+itoa(g[0])+"x"+itoa(g[1]), "nop", func(e *Env, f driver.CUfunction, _ driver.CUdeviceptr) {
			e.Do("cuLaunchCooperativeKernel", f, g[0], 1, 1, g[1], 1, 1, 0, nil, nil)
		})
	}
	c.call("launch/cooperative/null", "cuLaunchCooperativeKernel", nil, 1, 1, 1, 1, 1, 1, 0, nil, nil)

	x := func(name, fn string, cfg *driver.CUlaunchConfig) {
		p("ex/"+name, fn, func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			var list any
			if fn == "dsm" {
				list = params{d}
			}
			e.Do("cuLaunchKernelEx", in{"config", cfg}, f, list, nil)
		})
	}
	x("ok", "nop", config(1, 1, 0))
	x("grid-0", "nop", config(0, 1, 0))
	x("block-1025", "nop", config(1, 1025, 0))
	p("ex/null-config", "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.Do("cuLaunchKernelEx", nil, f, nil, nil)
	})
	p("ex/null-function", "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
		e.Do("cuLaunchKernelEx", in{"config", config(1, 1, 0)}, nil, nil, nil)
	})
	c.alone("launch/ex/null-attributes", func(e *Env) {
		cfg := config(1, 1, 0)
		cfg.NumAttrs = 1
		e.Do("cuLaunchKernelEx", in{"config", cfg}, e.fn("nop"), nil, nil)
	})
	for _, k := range []struct{ x, grid int }{{0, 1}, {1, 1}, {2, 1}, {2, 2}, {2, 3}, {3, 3}, {4, 4}, {5, 5}, {8, 8},
		{9, 9}, {16, 16}, {16, 8}, {17, 17}, {32, 32}} {
		x("cluster/"+itoa(k.x)+"/grid-"+itoa(k.grid), "nop", config(k.grid, 1, 0, cluster(k.x, 1, 1)))
	}
	x("cluster/y-0", "nop", config(2, 1, 0, cluster(2, 0, 1)))
	x("cluster/y-2-of-grid-1", "nop", config(2, 1, 0, cluster(2, 2, 1)))
	x("cluster/twice", "nop", config(4, 1, 0, cluster(2, 1, 1), cluster(4, 1, 1)))
	x("cluster/clus2-same", "clus2", config(2, 1, 0, cluster(2, 1, 1)))
	x("cluster/clus2-other", "clus2", config(4, 1, 0, cluster(4, 1, 1)))
	x("cluster/expl", "expl", config(2, 1, 0, cluster(2, 1, 1)))
	x("cluster/shared-100000", "dsm", config(8, 1, 100000, cluster(8, 1, 1)))
	for _, n := range []int{9, 16, 17, 32} {
		p("ex/cluster/non-portable/"+itoa(n), "nop", func(e *Env, f driver.CUfunction, d driver.CUdeviceptr) {
			e.Must("cuFuncSetAttribute", f, 14, 1)
			e.Do("cuLaunchKernelEx", in{"config", config(n, 1, 0, cluster(n, 1, 1))}, f, nil, nil)
		})
	}
	for _, v := range []int32{0, 1, 2, -1} {
		x("cooperative/"+itoa(int(v)), "nop", config(1, 1, 0, attr(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, v)))
	}
	x("cooperative/too-large", "nop", config(132*32+1, 1, 0, attr(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1)))
	x("cooperative/with-cluster", "nop", config(2, 1, 0, attr(driver.CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 1),
		cluster(2, 1, 1)))
	for id := range driver.CUlaunchAttributeID(20) {
		if id == driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION {
			continue
		}
		x("attribute/"+itoa(int(id))+"/zero", "nop", config(1, 1, 0, attr(id)))
		if id != driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT &&
			id != driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT {
			x("attribute/"+itoa(int(id))+"/one", "nop", config(1, 1, 0, attr(id, 1)))
			x("attribute/"+itoa(int(id))+"/minus-one", "nop", config(1, 1, 0, attr(id, -1)))
		}
	}
	x("attribute/99", "nop", config(1, 1, 0, attr(99)))
	x("attribute/4294967295", "nop", config(1, 1, 0, attr(math.MaxUint32)))
	x("priority/99", "nop", config(1, 1, 0, attr(8, 99)))
	x("carveout/101", "nop", config(1, 1, 0, attr(14, 101)))
	x("carveout/100", "nop", config(1, 1, 0, attr(14, 100)))
	x("schedule/2", "nop", config(1, 1, 0, attr(5, 2)))
	x("schedule/9", "nop", config(1, 1, 0, attr(5, 9)))
	x("domain/9", "nop", config(1, 1, 0, attr(10, 9)))
	x("preferred-cluster", "nop", config(4, 1, 0, cluster(2, 1, 1), attr(11, 4, 1, 1)))
	x("preferred-cluster-odd", "nop", config(4, 1, 0, cluster(2, 1, 1), attr(11, 3, 1, 1)))
	x("preferred-cluster-alone", "nop", config(4, 1, 0, attr(11, 4, 1, 1)))
	c.add("launch/ex/completion-event", func(e *Env) {
		v := e.event(2)
		a := attr(driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
		*(*driver.CUevent)(unsafe.Pointer(a.Value.Pad())) = v
		e.Do("cuLaunchKernelEx", in{"config", config(1, 1, 0, a)}, e.fn("nop"), nil, nil)
		after(e)
		e.Do("cuEventQuery", v)
	})
	c.add("launch/ex/programmatic-event", func(e *Env) {
		v := e.event(2)
		a := attr(driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
		*(*driver.CUevent)(unsafe.Pointer(a.Value.Pad())) = v
		e.Do("cuLaunchKernelEx", in{"config", config(1, 1, 0, a)}, e.fn("nop"), nil, nil)
		after(e)
		e.Do("cuEventQuery", v)
	})
	ran := 0
	c.add("launch/host-function", func(e *Env) {
		ran = 0
		fn := driver.CUhostFn{Go: func(uintptr) { ran++ }}
		s := e.stream(0)
		e.Do("cuLaunchHostFunc", s, named("count", fn), 0)
		e.Do("cuLaunchHostFunc", nil, named("count", fn), 0)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuCtxSynchronize")
		e.Note("ran %d times", ran)
		e.Do("cuLaunchHostFunc", s, driver.CUhostFn{}, 0)
	})
	c.add("launch/host-function/calls-the-driver", func(e *Env) {
		var r driver.CUresult
		fn := driver.CUhostFn{Go: func(uintptr) {
			var p driver.CUdeviceptr
			r = e.T.MemAlloc_v2(0, &p, 16)
		}}
		s := e.stream(0)
		e.Do("cuLaunchHostFunc", s, named("cuMemAlloc", fn), 0)
		e.Do("cuStreamSynchronize", s)
		e.Note("inside: %v", r)
	})
	c.add("launch/order", func(e *Env) {
		f := e.fn("st2")
		d := e.alloc(8)
		for _, v := range []uint32{1, 2, 3} {
			e.launch(f, 1, 1, params{d, v, [24]byte{}})
		}
		e.word(d)
	})
}

func dims(d [3]uint32) string { return itoa(int(d[0])) + "x" + itoa(int(d[1])) + "x" + itoa(int(d[2])) }

// faultCases: what an asynchronous error does to later calls. Each breaks its process's device.
func faultCases(c *cases) {
	for _, b := range bad {
		c.alone("fault/"+b.name, func(e *Env) {
			m := e.load(b.text)
			f := e.function(m, "k")
			d := e.alloc(64)
			s := e.stream(0)
			v := e.event(0)
			var ctx driver.CUcontext
			e.Must("cuCtxGetCurrent", &ctx)
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{d}, nil)
			e.Do("cuStreamSynchronize", s)
			e.Do("cuStreamSynchronize", s)
			e.Do("cuStreamQuery", s)
			e.Do("cuCtxSynchronize")
			e.Do("cuEventRecord", v, s)
			e.Do("cuEventQuery", v)
			e.Do("cuEventSynchronize", v)
			var p driver.CUdeviceptr
			e.Do("cuMemAlloc_v2", &p, 16)
			e.Do("cuMemsetD8_v2", d, 0, 4)
			var w uint32
			e.Do("cuMemcpyDtoH_v2", hidden{&w}, d, 4)
			e.Do("cuMemFree_v2", d)
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{d}, nil)
			e.Do("cuLaunchKernel", f, 0, 1, 1, 1, 1, 1, 0, s, params{d}, nil)
			e.Do("cuModuleGetFunction", &f, m, "k")
			var q driver.CUmodule
			e.Do("cuModuleLoadData", &q, ptx("PTX", head))
			var n int32
			e.Do("cuFuncGetAttribute", &n, 0, f)
			e.Do("cuModuleUnload", m)
			e.Do("cuStreamDestroy_v2", s)
			e.Do("cuEventDestroy_v2", v)
			e.Do("cuEventCreate", &v, 0)
			e.Do("cuStreamCreate", in{"&", &s}, 0) // the driver leaves a number there that is no stream
			var dev driver.CUdevice
			e.Do("cuCtxGetDevice", &dev)
			e.Do("cuDeviceGetAttribute", &n, 1, 0)
			var other driver.CUcontext
			e.Do("cuCtxGetCurrent", &other)
			e.Do("cuCtxSetCurrent", ctx)
			e.Do("cuCtxCreate_v2", &other, 0, 0)
			e.Do("cuDevicePrimaryCtxRetain", &other, 0)
			e.Do("cuDevicePrimaryCtxReset_v2", 0)
			e.Do("cuDevicePrimaryCtxRetain", &other, 0)
			e.Do("cuCtxSynchronize")
			e.Do("cuMemAlloc_v2", &p, 16)
		})
	}
	c.alone("fault/seen-by/copy", func(e *Env) {
		f := e.function(e.load(bad[0].text), "k")
		d := e.alloc(64)
		e.launch(f, 1, 1, params{d})
		var w uint32
		e.Do("cuMemcpyDtoH_v2", hidden{&w}, d, 4)
		e.Do("cuCtxSynchronize")
	})
	c.alone("fault/seen-by/free", func(e *Env) {
		f := e.function(e.load(bad[0].text), "k")
		d := e.alloc(64)
		e.launch(f, 1, 1, params{d})
		e.Do("cuMemFree_v2", d)
	})
	c.alone("fault/seen-by/unload", func(e *Env) {
		m := e.load(bad[0].text)
		d := e.alloc(64)
		e.launch(e.function(m, "k"), 1, 1, params{d})
		e.Do("cuCtxSynchronize")
		e.Do("cuModuleUnload", m)
	})
	c.alone("fault/seen-by/event", func(e *Env) {
		v := e.event(0)
		d := e.alloc(64)
		e.launch(e.function(e.load(bad[0].text), "k"), 1, 1, params{d})
		e.Do("cuEventRecord", v, nil)
		e.Do("cuEventSynchronize", v)
		e.Do("cuEventQuery", v)
	})
	c.alone("fault/seen-by/library-unload", func(e *Env) {
		l := e.library(bad[0].text)
		d := e.alloc(64)
		e.launch(e.kernelOf(l, "k"), 1, 1, params{d})
		e.Do("cuLibraryUnload", l)
		e.Do("cuCtxSynchronize")
	})
	c.alone("fault/other-context", func(e *Env) {
		var a, b driver.CUcontext
		e.Must("cuCtxCreate_v2", &a, 0, 0)
		e.Must("cuCtxCreate_v2", &b, 0, 0)
		d := e.alloc(64)
		e.Must("cuCtxSetCurrent", a)
		f := e.function(e.load(bad[0].text), "k")
		e.launch(f, 1, 1, params{uint64(0)})
		e.Do("cuCtxSynchronize")
		e.Must("cuCtxSetCurrent", b)
		e.Do("cuCtxSynchronize")
		e.Do("cuMemsetD8_v2", d, 1, 16)
		e.Do("cuCtxDestroy_v2", a)
		e.Do("cuCtxSynchronize")
	})
	c.alone("fault/library-calls", func(e *Env) {
		l := e.library(basic)
		k := e.kernelOf(l, "nop")
		d := e.alloc(64)
		e.launch(e.function(e.load(bad[0].text), "k"), 1, 1, params{d})
		e.Do("cuCtxSynchronize")
		var count uint32
		var m driver.CUmodule
		var f driver.CUfunction
		var v int32
		var name *byte
		var p driver.CUdeviceptr
		var n uint64
		e.Do("cuLibraryGetKernelCount", &count, l)
		e.Do("cuLibraryGetKernel", &k, l, "nop")
		e.Do("cuLibraryGetModule", &m, l)
		e.Do("cuLibraryGetGlobal", &p, &n, l, "gvar")
		e.Do("cuKernelGetFunction", &f, k)
		e.Do("cuKernelGetAttribute", &v, 0, k, 0)
		e.Do("cuKernelGetName", &name, k)
		e.launch(k, 1, 1, nil)
		var other driver.CUlibrary
		e.Do("cuLibraryLoadData", &other, basicImage(), nil, nil, 0, nil, nil, 0)
		e.Do("cuLibraryUnload", l)
		var s driver.CUlinkState
		e.Do("cuLinkCreate_v2", 0, nil, nil, &s)
	})
}
