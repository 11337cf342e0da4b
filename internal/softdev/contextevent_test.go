package softdev

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestContextEventsOrder: cuCtxWaitEvent holds back all future work of the context, in streams made later too; neither
// it nor cuCtxRecordEvent goes with a stream of the context that captures, whose capture they invalidate (CUDA driver
// API, cuCtxWaitEvent and cuCtxRecordEvent).
func TestContextEventsOrder(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var first, later driver.CUstream
	var ev driver.CUevent
	must(t, tab.StreamCreate(ctx, &first, uint32(driver.CU_STREAM_NON_BLOCKING)))
	must(t, tab.EventCreate(ctx, &ev, 0))
	gate := make(chan struct{})
	must(t, tab.LaunchHostFunc(ctx, first, driver.CUhostFn{Go: func(uintptr) { <-gate }}, 0))
	must(t, tab.CtxRecordEvent(ctx, ctx, ev))
	must(t, tab.CtxWaitEvent(ctx, ctx, ev))
	must(t, tab.StreamCreate(ctx, &later, uint32(driver.CU_STREAM_NON_BLOCKING)))
	var ran atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, later, driver.CUhostFn{Go: func(uintptr) { ran.Store(true) }}, 0))
	if r := tab.StreamQuery(ctx, later); r != driver.CUDA_ERROR_NOT_READY || ran.Load() {
		t.Errorf("a stream made after cuCtxWaitEvent did not wait: %v", r)
	}
	close(gate)
	must(t, tab.StreamSynchronize(ctx, later))
	if !ran.Load() {
		t.Error("the held back work was not done")
	}

	for name, call := range map[string]func() driver.CUresult{
		"cuCtxRecordEvent": func() driver.CUresult { return tab.CtxRecordEvent(ctx, ctx, ev) },
		"cuCtxWaitEvent":   func() driver.CUresult { return tab.CtxWaitEvent(ctx, ctx, ev) },
	} {
		must(t, tab.StreamBeginCapture_v2(ctx, first, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
		want(t, name, call(), driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
		var g driver.CUgraph
		want(t, "cuStreamEndCapture after "+name, tab.StreamEndCapture(ctx, first, &g),
			driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
		must(t, call())
	}
}

// TestTwoLaunchEvents: a launch may carry a programmatic event and one of its completion; both are recorded (cuda.h,
// CUlaunchAttributeID).
func TestTwoLaunchEvents(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	m := load(t, d, ctx, linkHead+".visible .entry k() { ret; }\n")
	f := fn(t, d, ctx, m, "k")
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)))
	gate := make(chan struct{})
	must(t, tab.LaunchHostFunc(ctx, s, driver.CUhostFn{Go: func(uintptr) { <-gate }}, 0))
	var events [2]driver.CUevent
	attrs := make([]driver.CUlaunchAttribute, 2)
	attrs[0].Id, attrs[1].Id = driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
		driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
	for i := range events {
		must(t, tab.EventCreate(ctx, &events[i], uint32(driver.CU_EVENT_DISABLE_TIMING)))
	}
	attrs[0].Value.ProgrammaticEvent().Event, attrs[1].Value.LaunchCompletionEvent().Event = events[0], events[1]
	config := driver.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1,
		HStream: s, Attrs: &attrs[0], NumAttrs: 2}
	must(t, tab.LaunchKernelEx(ctx, &config, f, nil, nil))
	for i, e := range events {
		want(t, []string{"programmatic", "completion"}[i], tab.EventQuery(ctx, e), driver.CUDA_ERROR_NOT_READY)
	}
	close(gate)
	must(t, tab.StreamSynchronize(ctx, s))
	for _, e := range events {
		must(t, tab.EventQuery(ctx, e))
	}
}

// TestLaunchEventsRefused: what an event of a launch must not be (recorded: launch-event), whichever attribute names
// it.
func TestLaunchEventsRefused(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	f := fn(t, d, ctx, load(t, d, ctx, linkHead+".visible .entry k() { ret; }\n"), "k")
	const quiet, external = driver.CU_EVENT_DISABLE_TIMING, int32(driver.CU_EVENT_RECORD_EXTERNAL)
	for _, c := range []struct {
		name  string
		made  driver.CUevent_flags
		flags int32
		r     driver.CUresult
	}{
		{"timing", 0, 0, notSupported}, {"between processes", quiet | driver.CU_EVENT_INTERPROCESS, 0, notSupported},
		{"external", quiet, external, driver.CUDA_ERROR_ILLEGAL_STATE}, {"flags 2", quiet, 2, invalidValue},
		{"blocking", quiet | driver.CU_EVENT_BLOCKING_SYNC, 0, success}, // cuda.h names only timing and other processes
	} {
		var e driver.CUevent
		must(t, tab.EventCreate(ctx, &e, uint32(c.made)))
		for _, id := range []driver.CUlaunchAttributeID{driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT,
			driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT} {
			a := driver.CUlaunchAttribute{Id: id}
			a.Value.ProgrammaticEvent().Event, a.Value.ProgrammaticEvent().Flags = e, c.flags // both values begin alike
			config := driver.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1,
				BlockDimZ: 1, Attrs: &a, NumAttrs: 1}
			want(t, c.name, tab.LaunchKernelEx(ctx, &config, f, nil, nil), c.r)
		}
	}
}

// TestNodeOfCapture: no node leaves a graph that a stream captures into, which the capture survives (recorded:
// capture-node/destroyed); when the capture has ended, it does. A conditional node whose body is captured into stays
// too (cuStreamGetCaptureInfo permits no removal of nodes).
func TestNodeOfCapture(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)))
	p := alloc(t, tab, ctx, 16)
	must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	must(t, tab.MemsetD32Async(ctx, p, 1, 1, s))
	var state driver.CUstreamCaptureStatus
	var id, n uint64
	var deps *driver.CUgraphNode
	must(t, tab.StreamGetCaptureInfo_v2(ctx, s, &state, &id, nil, &deps, &n))
	if n != 1 {
		t.Fatalf("%d dependences", n)
	}
	first := *deps
	want(t, "while the stream captures", tab.GraphDestroyNode(ctx, first), driver.CUDA_ERROR_ILLEGAL_STATE)
	must(t, tab.MemsetD32Async(ctx, p, 2, 1, s))
	var g driver.CUgraph
	must(t, tab.StreamEndCapture(ctx, s, &g))
	count := func() (nodes, edges uint64) {
		must(t, tab.GraphGetNodes(ctx, g, nil, &nodes))
		must(t, tab.GraphGetEdges_v2(ctx, g, nil, nil, nil, &edges))
		return nodes, edges
	}
	if n, e := count(); n != 2 || e != 1 {
		t.Errorf("%d nodes, %d edges", n, e)
	}
	var x driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
	must(t, tab.GraphLaunch(ctx, x, s))
	must(t, tab.StreamSynchronize(ctx, s))
	var v uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	if v != 2 {
		t.Errorf("%d, want 2", v)
	}
	must(t, tab.GraphDestroyNode(ctx, first))
	if n, e := count(); n != 1 || e != 0 {
		t.Errorf("%d nodes, %d edges after one was destroyed", n, e)
	}

	var cond driver.CUgraphConditionalHandle
	must(t, tab.GraphConditionalHandleCreate(ctx, &cond, g, ctx, 1, 1))
	np := driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_CONDITIONAL}
	c := np.Conditional()
	c.Handle, c.Type, c.Size, c.Ctx = cond, driver.CU_GRAPH_COND_TYPE_IF, 1, ctx
	var node driver.CUgraphNode
	must(t, tab.GraphAddNode_v2(ctx, &node, g, nil, nil, 0, &np))
	must(t, tab.StreamBeginCaptureToGraph(ctx, s, *c.PhGraph_out, nil, nil, 0, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	want(t, "while a stream captures into a body", tab.GraphDestroyNode(ctx, node), driver.CUDA_ERROR_ILLEGAL_STATE)
	must(t, tab.StreamEndCapture(ctx, s, nil))
	must(t, tab.GraphDestroyNode(ctx, node))
}
