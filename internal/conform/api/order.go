package api

import (
	"encoding/binary"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// orderCases are about what orders work: attributes of streams, events of whole contexts and of launches, nodes that
// leave a capture.
func orderCases(c *cases) {
	for _, id := range []driver.CUlaunchAttributeID{0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 13, 14, 15, 16, 99} {
		for _, t := range []struct {
			name  string
			words []int32
		}{{"zero", nil}, {"one", []int32{1, 1, 1}}, {"four", []int32{4}}, {"minus-one", []int32{-1, -1, -1, -1}}} {
			c.add("stream-attribute/"+itoa(int(id))+"/"+t.name, func(e *Env) {
				s := e.stream(1)
				v := attr(id, t.words...).Value
				var back driver.CUstreamAttrValue
				r := e.Do("cuStreamGetAttribute", s, int(id), hidden{&back})
				if r == driver.CUDA_SUCCESS {
					e.Note("at first %x", back.Pad()[:4])
				}
				if e.Do("cuStreamSetAttribute", s, int(id), in{t.name, &v}) == driver.CUDA_SUCCESS {
					e.Do("cuStreamGetAttribute", s, int(id), hidden{&back})
					e.Note("then %x", back.Pad()[:4])
				}
			})
		}
	}
	// An access policy window (CUaccessPolicyWindow): base, bytes, hit ratio, properties of hits and misses.
	for _, t := range []struct {
		name      string
		bytes     uint64
		ratio     float32
		hit, miss int
	}{{"ok", 1 << 16, 0.5, 2, 1}, {"huge", 1 << 40, 0.5, 2, 1}, {"ratio-2", 1 << 16, 2, 2, 1},
		{"ratio--1", 1 << 16, -1, 2, 1}, {"miss-persisting", 1 << 16, 1, 2, 2}, {"hit-9", 1 << 16, 1, 9, 1},
		{"miss-9", 1 << 16, 1, 2, 9}, {"none", 0, 0, 0, 0}} {
		c.add("stream-attribute/window/"+t.name, func(e *Env) {
			s := e.stream(1)
			p := e.alloc(1 << 16)
			var v driver.CUstreamAttrValue
			*v.AccessPolicyWindow() = driver.CUaccessPolicyWindow{Base_ptr: uintptr(p), Num_bytes: t.bytes,
				HitRatio: t.ratio, HitProp: driver.CUaccessProperty(t.hit), MissProp: driver.CUaccessProperty(t.miss)}
			e.Do("cuStreamSetAttribute", s, 1, in{t.name, &v})
			x := config(1, 1, 0, driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
				Value: v})
			e.Do("cuLaunchKernelEx", in{t.name, x}, e.fn("nop"), nil, nil)
			e.Do("cuCtxSynchronize")
		})
	}
	c.add("stream-attribute/copy", func(e *Env) {
		a, b := e.stream(1), e.stream(1)
		var v driver.CUstreamAttrValue
		binary.NativeEndian.PutUint32(v.Pad()[:], 2)
		e.Do("cuStreamSetAttribute", a, 3, in{"policy 2", &v})
		e.Do("cuStreamCopyAttributes", b, a)
		var back driver.CUstreamAttrValue
		e.Do("cuStreamGetAttribute", b, 3, hidden{&back})
		e.Note("%x", back.Pad()[:4])
		var ctx driver.CUcontext
		e.Must("cuCtxCreate_v2", hidden{&ctx}, 0, 0)
		o := e.stream(1)
		e.Do("cuStreamCopyAttributes", o, a)
		e.Do("cuStreamCopyAttributes", a, o)
		e.Must("cuCtxDestroy_v2", ctx)
	})

	c.add("context-event/order", func(e *Env) {
		ctx, v, s := e.current(), e.event(0), e.stream(1)
		e.Do("cuCtxRecordEvent", ctx, v)
		e.Do("cuCtxWaitEvent", ctx, v)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuEventSynchronize", v)
	})
	for _, mode := range []int{0, 1, 2} {
		for _, fn := range []string{"cuCtxRecordEvent", "cuCtxWaitEvent"} {
			c.add("context-event/while-capturing/"+itoa(mode)+"/"+fn, func(e *Env) {
				ctx, v, s := e.current(), e.event(0), e.stream(1)
				e.Must("cuStreamBeginCapture_v2", s, mode)
				e.Do(fn, ctx, v)
				var g driver.CUgraph
				e.Do("cuStreamEndCapture", s, &g)
				e.Do(fn, ctx, v)
			})
		}
	}
	c.add("context-event/captured", func(e *Env) {
		var ctx driver.CUcontext
		v, s := e.event(0), e.stream(1)
		e.Must("cuStreamBeginCapture_v2", s, 2)
		e.Must("cuEventRecord", v, s)
		e.Must("cuCtxCreate_v2", hidden{&ctx}, 0, 0)
		e.Do("cuCtxWaitEvent", ctx, v)
		var g driver.CUgraph
		e.Do("cuStreamEndCapture", s, &g)
		e.Do("cuCtxWaitEvent", ctx, v)
		e.Do("cuCtxRecordEvent", ctx, v)
		e.Must("cuCtxDestroy_v2", ctx)
	})

	for _, id := range []driver.CUlaunchAttributeID{driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
		driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT} {
		for _, t := range []struct {
			name             string
			flags, recording int
		}{{"timing", 0, 0}, {"blocking", 1, 0}, {"no-timing", 2, 0}, {"interprocess", 6, 0}, {"external", 2, 1},
			{"flags-2", 2, 2}} {
			c.add("launch-event/"+itoa(int(id))+"/"+t.name, func(e *Env) {
				v, s := e.event(t.flags), e.stream(1)
				a := driver.CUlaunchAttribute{Id: id}
				p := a.Value.ProgrammaticEvent()
				p.Event, p.Flags = v, int32(t.recording)
				x := config(1, 1, 0, a)
				x.HStream = s
				e.Do("cuLaunchKernelEx", in{t.name, x}, e.fn("nop"), nil, nil)
				e.Do("cuEventSynchronize", v)
			})
		}
	}
	c.add("launch-event/both", func(e *Env) {
		v, w, s := e.event(2), e.event(2), e.stream(1)
		a, b := driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT},
			driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}
		a.Value.ProgrammaticEvent().Event, b.Value.LaunchCompletionEvent().Event = v, w
		x := config(1, 1, 0, a, b)
		x.HStream = s
		e.Do("cuLaunchKernelEx", in{"both", x}, e.fn("nop"), nil, nil)
		e.Do("cuEventSynchronize", v)
		e.Do("cuEventSynchronize", w)
	})

	c.alone("capture-node/destroyed", func(e *Env) {
		s := e.stream(1)
		p := e.alloc(16)
		e.Must("cuStreamBeginCapture_v2", s, 2)
		e.Must("cuMemsetD32Async", p, 1, 1, s)
		var state driver.CUstreamCaptureStatus
		var id, n uint64
		var g driver.CUgraph
		var deps *driver.CUgraphNode
		e.Must("cuStreamGetCaptureInfo_v2", s, hidden{&state}, hidden{&id}, hidden{&g}, hidden{&deps}, hidden{&n})
		if n != 1 {
			e.Note("%d nodes", n)
			return
		}
		e.Do("cuGraphDestroyNode", unsafe.Slice(deps, n)[0])
		e.Do("cuStreamIsCapturing", s, &state)
		e.Do("cuMemsetD32Async", p, 2, 1, s)
		e.Do("cuStreamEndCapture", s, &g)
	})
	for _, t := range []struct {
		name  string
		src   uint64
		dst   uint64
		lines uint64
	}{{"at-most", 1<<31 - 1, 16, 1}, {"over", 1 << 31, 16, 1}, {"over-dst", 16, 1 << 31, 1},
		{"far-over", 1 << 40, 16, 1}} {
		c.add("copy-pitch/"+t.name, func(e *Env) {
			d := e.alloc(4096)
			m := &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: d, SrcPitch: t.src,
				DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: d + 2048, DstPitch: t.dst, WidthInBytes: 16,
				Height: t.lines}
			e.Do("cuMemcpy2D_v2", in{t.name, m})
			e.Do("cuMemcpy2DUnaligned_v2", in{t.name, m})
			e.Do("cuMemcpy2DAsync_v2", in{t.name, m}, nil)
			e.Do("cuCtxSynchronize")
		})
	}
	c.add("jit/symbols-twice/same-name", func(e *Env) {
		p := e.alloc(64)
		m, r := e.loadWith(reader, append([]opt{{driver.CU_JIT_GLOBAL_SYMBOL_NAMES, []string{"ext", "ext"}},
			{driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES, []uint64{uint64(p), uint64(p) + 4}},
			{driver.CU_JIT_GLOBAL_SYMBOL_COUNT, 2}}, logs(1000)...)...)
		if r == driver.CUDA_SUCCESS {
			d := e.alloc(4)
			e.Must("cuMemsetD32_v2", p, 77, 1)
			e.launch(e.function(m, "k"), 1, 1, params{d})
			e.word(d)
		}
	})
}
