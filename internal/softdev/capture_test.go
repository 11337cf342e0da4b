package softdev

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// recorded is what driver 580.159.04 on an H200 answered to the calls that testdata/graph.json names.
type recorded map[string]struct {
	Result string
	Out    string // the first output: a number, NULL, non-NULL or untouched
}

func (f recorded) want(t *testing.T, id string, got driver.CUresult) {
	t.Helper()
	e, ok := f[id]
	if !ok {
		t.Fatalf("%s is not recorded", id)
	}
	if e.Result == "CRASH signal 11" { // any error will do
		if got == driver.CUDA_SUCCESS {
			t.Errorf("%s: success, but the driver died", id)
		}
		return
	}
	if got.String() != e.Result {
		t.Errorf("%s: %v, want %s", id, got, e.Result)
	}
}

func (f recorded) out(t *testing.T, id string, got any) {
	t.Helper()
	if e := f[id]; e.Out != fmt.Sprint(got) {
		t.Errorf("%s: output %v, want %s", id, got, e.Out)
	}
}

const graphPTX = `
.version 8.0
.target sm_80
.address_size 64
.extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);
.visible .entry nop() { ret; }
.visible .entry add(.param .u64 p, .param .u32 v) {
	.reg .b64 %rd; .reg .b32 %r<3>;
	ld.param.u64 %rd, [p]; ld.param.u32 %r1, [v]; ld.global.u32 %r2, [%rd]; add.u32 %r2, %r2, %r1; st.global.u32 [%rd], %r2; ret;
}
.visible .entry mul(.param .u64 p, .param .u32 v) {
	.reg .b64 %rd; .reg .b32 %r<3>;
	ld.param.u64 %rd, [p]; ld.param.u32 %r1, [v]; ld.global.u32 %r2, [%rd]; mul.lo.u32 %r2, %r2, %r1; st.global.u32 [%rd], %r2; ret;
}
.visible .entry below(.param .u64 p, .param .u32 v, .param .u64 h) {
	.reg .b64 %rd<2>; .reg .b32 %r<3>; .reg .pred %p;
	ld.param.u64 %rd0, [p]; ld.param.u32 %r1, [v]; ld.param.u64 %rd1, [h]; ld.global.u32 %r2, [%rd0];
	setp.lt.u32 %p, %r2, %r1; selp.u32 %r0, 1, 0, %p;
	{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd1; st.param.b32 [b], %r0; call.uni cudaGraphSetConditional, (a, b); }
	ret;
}
.visible .entry set(.param .u64 h, .param .u32 v) {
	.reg .b64 %rd; .reg .b32 %r;
	ld.param.u64 %rd, [h]; ld.param.u32 %r, [v];
	{ .param .b64 a; .param .b32 b; st.param.b64 [a], %rd; st.param.b32 [b], %r; call.uni cudaGraphSetConditional, (a, b); }
	ret;
}
`

func args(p ...unsafe.Pointer) *unsafe.Pointer { return unsafe.SliceData(p) }

func read32(t *testing.T, tab *driver.Table, ctx driver.CUcontext, p driver.CUdeviceptr) (v uint32) {
	t.Helper()
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	return v
}

// TestCaptureFacts replays the recorded calls of three captures: what is allowed in a capture of each mode, and what
// spoils it.
func TestCaptureFacts(t *testing.T) {
	var facts recorded
	readFacts(t, "graph.json", &facts)
	lock(t)
	d, tab, ctx := open(t, Options{})
	must(t, tab.CtxSetCurrent(0, ctx))
	m := load(t, d, ctx, graphPTX)
	nop := fn(t, d, ctx, m, "nop")
	s, u := newTestStream(t, tab, 0, 1), newTestStream(t, tab, 0, 1)
	b := newTestStream(t, tab, 0, 0)
	var ev driver.CUevent
	must(t, tab.EventCreate(0, &ev, 2))
	p := alloc(t, tab, 0, 4096)
	host := make([]byte, 64)
	hp := unsafe.Pointer(&host[0])
	run := func(h driver.CUstream, block uint32) driver.CUresult {
		return tab.LaunchKernel(0, nop, 1, 1, 1, block, 1, 1, 0, h, nil, nil)
	}
	var c driver.CUstreamCaptureStatus
	status := func(id string, h driver.CUstream) {
		t.Helper()
		facts.want(t, id, tab.StreamIsCapturing(0, h, &c))
		facts.out(t, id, uint32(c))
	}
	end := func(id string, h driver.CUstream) {
		t.Helper()
		g := driver.CUgraph(1)
		facts.want(t, id, tab.StreamEndCapture(0, h, &g))
		if g == 0 {
			facts.out(t, id, "NULL")
			return
		}
		facts.out(t, id, "non-NULL")
		must(t, tab.GraphDestroy(0, g))
	}
	for mode := range driver.CUstreamCaptureMode(3) {
		id := func(s string) string { return fmt.Sprintf("capture/mode%d/%s", mode, s) }
		begin := func() { t.Helper(); must(t, tab.StreamBeginCapture_v2(0, s, mode)) }
		facts.want(t, id("begin"), tab.StreamBeginCapture_v2(0, s, mode))
		facts.want(t, id("begin_again"), tab.StreamBeginCapture_v2(0, s, mode))
		status(id("is"), s)
		facts.want(t, id("launch"), run(s, 1))
		facts.want(t, id("launch_block0"), run(s, 0))
		status(id("is0"), s)
		var q driver.CUdeviceptr
		facts.want(t, id("alloc"), tab.MemAlloc_v2(0, &q, 16))
		status(id("is1"), s)
		facts.want(t, id("memset_async"), tab.MemsetD8Async(0, p, 0, 16, s))
		status(id("is2"), s)
		end(id("end"), s)
		must(t, tab.MemFree_v2(0, q))

		x, other := alloc(t, tab, 0, 64), newTestEvent(t, tab, 0)
		var hostp unsafe.Pointer
		var module driver.CUmodule
		var stream driver.CUstream
		var free, total uint64
		for _, k := range []struct {
			name string
			call func() driver.CUresult
		}{
			{"query", func() driver.CUresult { return tab.StreamQuery(0, s) }},
			{"sync", func() driver.CUresult { return tab.StreamSynchronize(0, s) }},
			{"ctxsync", func() driver.CUresult { return tab.CtxSynchronize(0) }},
			{"copy_sync", func() driver.CUresult { return tab.MemcpyHtoD_v2(0, p, hp, 16) }},
			{"legacy_launch", func() driver.CUresult { return run(0, 1) }},
			{"eventquery", func() driver.CUresult { return tab.EventQuery(0, ev) }},
			{"free", func() driver.CUresult { return tab.MemFree_v2(0, x) }},
			{"other_sync", func() driver.CUresult { return tab.StreamSynchronize(0, u) }},
			{"blocking_launch", func() driver.CUresult { return run(b, 1) }},
			{"destroy_event", func() driver.CUresult { return tab.EventDestroy_v2(0, other) }},
			{"hostalloc", func() driver.CUresult { return tab.MemHostAlloc(0, &hostp, 16, 0) }},
			{"load", func() driver.CUresult { return tab.ModuleLoadData(0, &module, unsafe.Pointer(cstr(graphPTX))) }},
			{"streamcreate", func() driver.CUresult { return tab.StreamCreate(0, &stream, 0) }},
			{"memset_sync", func() driver.CUresult { return tab.MemsetD8_v2(0, p, 0, 16) }},
			{"copy_async_pageable", func() driver.CUresult { return tab.MemcpyHtoDAsync_v2(0, p, hp, 16, s) }},
			{"meminfo", func() driver.CUresult { return tab.MemGetInfo_v2(0, &free, &total) }},
			{"copy_DtoD", func() driver.CUresult { return tab.MemcpyDtoD_v2(0, p, p+64, 16) }},
		} {
			begin()
			must(t, run(s, 1))
			facts.want(t, id(k.name), k.call())
			status(id(k.name)+"/is", s)
			end(id(k.name)+"/end", s)
		}
		if mode < driver.CU_STREAM_CAPTURE_MODE_RELAXED { // in relaxed mode the answer is whether the device was busy
			begin()
			facts.want(t, id("legacy_query"), tab.StreamQuery(0, 0))
			status(id("legacy_query/is"), s)
			end(id("legacy_query/end"), s)
		}
		begin()
		must(t, tab.EventRecord(0, ev, s))
		facts.want(t, id("join/wait"), tab.StreamWaitEvent(0, u, ev, 0))
		status(id("join/t_is"), u)
		facts.want(t, id("join/launch"), run(u, 1))
		end(id("join/end_t"), u)
		facts.want(t, id("join/eventquery"), tab.EventQuery(0, ev))
		end(id("join/end_unjoined"), s)
		status(id("join/t_after"), u)
		begin()
		facts.want(t, id("destroy_stream"), tab.StreamDestroy_v2(0, s))
		s = newTestStream(t, tab, 0, 1)
		must(t, tab.EventRecord(0, ev, u))
		begin()
		facts.want(t, id("wait_outside"), tab.StreamWaitEvent(0, s, ev, 0))
		end(id("wait_outside/end"), s)
	}
	facts.want(t, "capture/begin_legacy", tab.StreamBeginCapture_v2(0, 0, 0))
	facts.want(t, "capture/begin_legacy1", tab.StreamBeginCapture_v2(0, 1, 0))
	facts.want(t, "capture/begin_perthread", tab.StreamBeginCapture_v2(0, 2, 0))
	end("capture/end_perthread", 2)
	facts.want(t, "capture/begin_mode3", tab.StreamBeginCapture_v2(0, s, 3))
	must(t, tab.StreamBeginCapture_v2(0, s, 0))
	facts.want(t, "capture/end_null", tab.StreamEndCapture(0, s, nil))
	status("capture/end_null/is", s)
	mode := driver.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
	facts.want(t, "capture/exchange", tab.ThreadExchangeStreamCaptureMode(0, &mode))
	if mode != driver.CU_STREAM_CAPTURE_MODE_GLOBAL {
		t.Errorf("a thread begins in mode %d", mode)
	}
	mode = 7
	facts.want(t, "capture/exchange_bad", tab.ThreadExchangeStreamCaptureMode(0, &mode))
}

// TestCaptureRules are rules of the CUDA Programming Guide and the reference of the results that no recording has.
func TestCaptureRules(t *testing.T) {
	lock(t)
	d, tab, ctx := open(t, Options{})
	must(t, tab.CtxSetCurrent(0, ctx))
	m := load(t, d, ctx, graphPTX)
	nop := fn(t, d, ctx, m, "nop")
	run := func(h driver.CUstream) driver.CUresult {
		return tab.LaunchKernel(0, nop, 1, 1, 1, 1, 1, 1, 0, h, nil, nil)
	}
	a, b := newTestStream(t, tab, 0, 1), newTestStream(t, tab, 0, 1)
	ev := newTestEvent(t, tab, 0)
	var g driver.CUgraph
	// Work that is not joined.
	must(t, tab.StreamBeginCapture_v2(0, a, 0))
	must(t, tab.EventRecord(0, ev, a))
	must(t, tab.StreamWaitEvent(0, b, ev, 0))
	must(t, run(b))
	want(t, "unjoined", tab.StreamEndCapture(0, a, &g), driver.CUDA_ERROR_STREAM_CAPTURE_UNJOINED)
	want(t, "after it", tab.StreamQuery(0, b), driver.CUDA_SUCCESS)
	// A blocking stream that captures cannot be waited for by the legacy stream.
	blocking := newTestStream(t, tab, 0, 0)
	must(t, tab.StreamBeginCapture_v2(0, blocking, 2))
	want(t, "legacy launch", run(0), driver.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
	want(t, "end", tab.StreamEndCapture(0, blocking, &g), driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	want(t, "legacy launch after", run(0), driver.CUDA_SUCCESS)
	// Two captures do not merge.
	must(t, tab.StreamBeginCapture_v2(0, a, 0))
	must(t, tab.StreamBeginCapture_v2(0, b, 0))
	must(t, tab.EventRecord(0, ev, a))
	want(t, "merge", tab.StreamWaitEvent(0, b, ev, 0), driver.CUDA_ERROR_STREAM_CAPTURE_MERGE)
	want(t, "end", tab.StreamEndCapture(0, a, &g), driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	want(t, "end", tab.StreamEndCapture(0, b, &g), driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	// An event recorded in a capture has no time.
	must(t, tab.StreamBeginCapture_v2(0, a, 2))
	must(t, tab.EventRecord(0, ev, a))
	want(t, "query", tab.EventQuery(0, ev), driver.CUDA_ERROR_CAPTURED_EVENT)
	want(t, "end", tab.StreamEndCapture(0, a, &g), driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
	must(t, tab.EventRecord(0, ev, a))
	want(t, "query", tab.EventQuery(0, ev), driver.CUDA_SUCCESS)
	// Other threads: a global capture binds them, unless they have exchanged their mode.
	must(t, tab.StreamBeginCapture_v2(0, a, 0))
	var wrong, free, bound driver.CUresult
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		mode := driver.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
		var p driver.CUdeviceptr
		tab.ThreadExchangeStreamCaptureMode(0, &mode)
		free = tab.MemAlloc_v2(ctx, &p, 16)
		tab.ThreadExchangeStreamCaptureMode(0, &mode)
		bound = tab.MemAlloc_v2(ctx, &p, 16)
		wrong = tab.StreamEndCapture(0, a, &g)
	}()
	<-done
	want(t, "end in another thread", wrong, driver.CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
	want(t, "unsafe call with mode thread-local", free, driver.CUDA_SUCCESS)
	want(t, "unsafe call with mode global", bound, driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	// the wrong thread has ended it (recorded: internal/conform/sequence)
	want(t, "end", tab.StreamEndCapture(0, a, &g), driver.CUDA_ERROR_ILLEGAL_STATE)
}

// TestCapture captures a fork and a join with every kind of work, and runs the graph twice.
func TestCapture(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, graphPTX)
	add, mul := fn(t, d, ctx, m, "add"), fn(t, d, ctx, m, "mul")
	a, b := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
	e, f := newTestEvent(t, tab, ctx), newTestEvent(t, tab, ctx)
	p := alloc(t, tab, ctx, 64)
	q := p + 4
	out := make([]uint32, 2)
	op := address(t, &out[0])
	var calls atomic.Int32
	var tmp driver.CUdeviceptr
	must(t, tab.StreamBeginCapture_v2(ctx, a, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	must(t, tab.MemsetD32Async(ctx, p, 5, 2, a))
	must(t, tab.EventRecord(ctx, e, a))
	must(t, tab.StreamWaitEvent(ctx, b, e, 0))
	v := uint32(3)
	must(t, launch1(tab, ctx, add, a, unsafe.Pointer(&p), unsafe.Pointer(&v))) // p = 8
	v = 7
	must(t, launch1(tab, ctx, mul, b, unsafe.Pointer(&q), unsafe.Pointer(&v))) // q = 35
	must(t, tab.EventRecord(ctx, f, b))
	must(t, tab.StreamWaitEvent(ctx, a, f, 0))
	must(t, tab.MemAllocAsync(ctx, &tmp, 16, a))
	must(t, tab.MemcpyDtoDAsync_v2(ctx, tmp, p, 8, a))
	must(t, tab.LaunchHostFunc(ctx, a, hostFn(func() { calls.Add(1) }), 0))
	must(t, tab.StreamWriteValue32_v2(ctx, a, tmp+4, 36, 0))
	must(t, tab.MemcpyDtoHAsync_v2(ctx, foreign(uint64(op)), tmp, 8, a))
	must(t, tab.MemFreeAsync(ctx, tmp, a))
	var st driver.CUstreamCaptureStatus
	var id, n uint64
	var cg, g driver.CUgraph
	var deps *driver.CUgraphNode
	must(t, tab.StreamGetCaptureInfo_v2(ctx, a, &st, &id, &cg, &deps, &n))
	var kind driver.CUgraphNodeType
	must(t, tab.GraphNodeGetType(ctx, *deps, &kind))
	if st != 1 || id == 0 || n != 1 || kind != driver.CU_GRAPH_NODE_TYPE_MEM_FREE {
		t.Errorf("status %d id %d, %d dependences, kind %d", st, id, n, kind)
	}
	must(t, tab.StreamEndCapture(ctx, a, &g))
	if g != cg || out[0] != 0 || calls.Load() != 0 {
		t.Errorf("graph %#x, captured %#x; %v %d: something ran", g, cg, out, calls.Load())
	}
	must(t, tab.GraphGetNodes(ctx, g, nil, &n))
	if n != 9 {
		t.Errorf("%d nodes", n)
	}
	var roots, edges uint64
	must(t, tab.GraphGetRootNodes(ctx, g, nil, &roots))
	must(t, tab.GraphGetEdges_v2(ctx, g, nil, nil, nil, &edges))
	if roots != 1 || edges != 9 { // a fork to two and a join: one edge more than a chain
		t.Errorf("%d roots, %d edges", roots, edges)
	}
	var x driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	for i := range int32(2) {
		out[0], out[1] = 0, 0
		must(t, tab.GraphLaunch(ctx, x, b))
		must(t, tab.StreamSynchronize(ctx, b))
		if out[0] != 8 || out[1] != 36 || calls.Load() != i+1 || read32(t, tab, ctx, q) != 35 {
			t.Errorf("launch %d: %v, %d calls, q %d", i, out, calls.Load(), read32(t, tab, ctx, q))
		}
	}
	must(t, tab.GraphExecDestroy(ctx, x))
	must(t, tab.GraphDestroy(ctx, g))
	// A launch of a graph in a capture becomes a child graph; a capture can go into a graph that is there.
	must(t, tab.GraphCreate(ctx, &g, 0))
	var first driver.CUgraphNode
	v = 1
	kp := &driver.CUDA_KERNEL_NODE_PARAMS{Func: add, GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1,
		BlockDimZ: 1, KernelParams: args(unsafe.Pointer(&p), unsafe.Pointer(&v))}
	must(t, tab.GraphAddKernelNode_v2(ctx, &first, g, nil, 0, kp))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.StreamBeginCaptureToGraph(ctx, a, g, &first, nil, 1, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	must(t, tab.GraphLaunch(ctx, x, a))
	must(t, tab.StreamEndCapture(ctx, a, &cg))
	if cg != g {
		t.Errorf("capture to graph %#x gave %#x", g, cg)
	}
	var y driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &y, g, 0))
	must(t, tab.MemsetD32_v2(ctx, p, 0, 1))
	must(t, tab.GraphLaunch(ctx, y, a))
	must(t, tab.StreamSynchronize(ctx, a))
	if got := read32(t, tab, ctx, p); got != 2 {
		t.Errorf("node and child graph: %d", got)
	}
	// Dependences can be replaced while capturing.
	must(t, tab.StreamBeginCapture_v2(ctx, a, 2))
	must(t, launch1(tab, ctx, add, a, unsafe.Pointer(&p), unsafe.Pointer(&v)))
	must(t, tab.StreamUpdateCaptureDependencies_v2(ctx, a, nil, nil, 0,
		uint32(driver.CU_STREAM_SET_CAPTURE_DEPENDENCIES)))
	must(t, launch1(tab, ctx, add, a, unsafe.Pointer(&p), unsafe.Pointer(&v)))
	must(t, tab.StreamEndCapture(ctx, a, &g))
	must(t, tab.GraphGetRootNodes(ctx, g, nil, &roots))
	if roots != 2 {
		t.Errorf("%d roots after the dependences were set to none", roots)
	}
}

// Waits for values (CUstreamWaitValue_flags) hold a stream up until somebody writes, the host included.
func TestStreamMemOps(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	s, u := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
	p := alloc(t, tab, ctx, 64)
	must(t, tab.MemsetD32_v2(ctx, p, 0, 16))
	// Recorded on an H200 (group stream/memop).
	want(t, "write32_unaligned", tab.StreamWriteValue32_v2(ctx, s, p+2, 5, 0), bad)
	want(t, "write64_unaligned", tab.StreamWriteValue64_v2(ctx, s, p+4, 5, 0), bad)
	want(t, "write_flags9", tab.StreamWriteValue32_v2(ctx, s, p, 5, 9), bad)
	want(t, "wait_flags99", tab.StreamWaitValue32_v2(ctx, s, p, 5, 99), bad)
	want(t, "write_null", tab.StreamWriteValue32_v2(ctx, s, 0, 5, 0), bad)
	var host uint32
	want(t, "write_host", tab.StreamWriteValue32_v2(ctx, s, driver.CUdeviceptr(address(t, &host)), 5, 0), bad)
	want(t, "batch0", tab.StreamBatchMemOp_v2(ctx, s, 0, nil, 0), driver.CUDA_SUCCESS)
	for _, c := range []struct {
		flags        driver.CUstreamWaitValue_flags
		value, holds uint64
	}{
		{driver.CU_STREAM_WAIT_VALUE_GEQ, 10, 11}, {driver.CU_STREAM_WAIT_VALUE_EQ, 10, 10},
		{driver.CU_STREAM_WAIT_VALUE_AND, 6, 4},
		{driver.CU_STREAM_WAIT_VALUE_NOR, 1, 0},
	} {
		for _, wide := range []bool{false, true} {
			blocked := uint64(0)
			if c.flags == driver.CU_STREAM_WAIT_VALUE_NOR {
				blocked = ^uint64(0)
			}
			must(t, tab.StreamWriteValue64_v2(ctx, s, p, blocked, 0))
			if wide {
				must(t, tab.StreamWaitValue64_v2(ctx, s, p, c.value, uint32(c.flags)))
			} else {
				must(t, tab.StreamWaitValue32_v2(ctx, s, p, uint32(c.value), uint32(c.flags)))
			}
			time.Sleep(2 * time.Millisecond)
			want(t, fmt.Sprintf("flags %d, not yet", c.flags), tab.StreamQuery(ctx, s), notReady)
			must(t, tab.StreamWriteValue64_v2(ctx, u, p, c.holds, 0))
			must(t, tab.StreamSynchronize(ctx, s))
		}
	}
	// A batch: write, barrier, wait.
	ops := make([]driver.CUstreamBatchMemOpParams, 3)
	w := ops[0].WriteValue()
	w.Operation, w.Address = driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, p+8
	*w.Value() = 77
	ops[1].MemoryBarrier().Operation = driver.CU_STREAM_MEM_OP_BARRIER
	x := ops[2].WaitValue()
	x.Operation, x.Address, x.Flags = driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, p+8, uint32(driver.CU_STREAM_WAIT_VALUE_EQ)
	*x.Value() = 77
	must(t, tab.StreamBatchMemOp_v2(ctx, s, 3, &ops[0], 0))
	must(t, tab.StreamSynchronize(ctx, s))
	if v := read32(t, tab, ctx, p+8); v != 77 {
		t.Errorf("batch wrote %d", v)
	}
	w.Operation = 99
	want(t, "unknown operation", tab.StreamBatchMemOp_v2(ctx, s, 1, &ops[0], 0), bad)
}
