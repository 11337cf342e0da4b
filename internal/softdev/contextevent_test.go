package softdev

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TestContextEventsOrder: cuCtxWaitEvent holds back all future work of the context, in streams made later too; neither it nor cuCtxRecordEvent goes with a stream of the context that
// captures, whose capture they invalidate (CUDA driver API, cuCtxWaitEvent and cuCtxRecordEvent).
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
		want(t, "cuStreamEndCapture after "+name, tab.StreamEndCapture(ctx, first, &g), driver.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED)
		must(t, call())
	}
}

// TestTwoLaunchEvents: a launch may carry a programmatic event and one of its completion; both are recorded (cuda.h, CUlaunchAttributeID).
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
	attrs[0].Id, attrs[1].Id = driver.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, driver.CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT
	for i := range events {
		must(t, tab.EventCreate(ctx, &events[i], uint32(driver.CU_EVENT_DISABLE_TIMING)))
	}
	attrs[0].Value.ProgrammaticEvent().Event, attrs[1].Value.LaunchCompletionEvent().Event = events[0], events[1]
	config := driver.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1, HStream: s, Attrs: &attrs[0], NumAttrs: 2}
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

// TestDestroyedNodeOfCapture: a node that is destroyed is nothing that later nodes of the capture come after, nor what an event stands for.
func TestDestroyedNodeOfCapture(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var s, other driver.CUstream
	var ev driver.CUevent
	must(t, tab.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)))
	must(t, tab.StreamCreate(ctx, &other, uint32(driver.CU_STREAM_NON_BLOCKING)))
	must(t, tab.EventCreate(ctx, &ev, 0))
	p := alloc(t, tab, ctx, 16)
	must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
	must(t, tab.MemsetD32Async(ctx, p, 1, 1, s))
	must(t, tab.EventRecord(ctx, ev, s))
	var state driver.CUstreamCaptureStatus
	var id, n uint64
	var deps *driver.CUgraphNode
	must(t, tab.StreamGetCaptureInfo_v2(ctx, s, &state, &id, nil, &deps, &n))
	if n != 1 {
		t.Fatalf("%d dependences", n)
	}
	must(t, tab.GraphDestroyNode(ctx, *deps))
	must(t, tab.StreamWaitEvent(ctx, other, ev, 0))
	must(t, tab.MemsetD32Async(ctx, p, 2, 1, other))
	must(t, tab.EventRecord(ctx, ev, other))
	must(t, tab.StreamWaitEvent(ctx, s, ev, 0))
	must(t, tab.MemsetD32Async(ctx, p, 3, 1, s))
	var g, clone driver.CUgraph
	must(t, tab.StreamEndCapture(ctx, s, &g))
	must(t, tab.GraphClone(ctx, &clone, g))
	var x driver.CUgraphExec
	must(t, tab.GraphInstantiateWithFlags(ctx, &x, clone, 0))
	must(t, tab.GraphLaunch(ctx, x, s))
	must(t, tab.StreamSynchronize(ctx, s))
	var v uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	if v != 3 {
		t.Errorf("%d, want 3", v)
	}
}
