package softdev

import (
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// A stream that has joined a capture may be destroyed before the capture ends, as cuda-core's GraphBuilder.join does on
// the driver; one with work that is not joined leaves the capture unjoined.
func TestDestroyedInCapture(t *testing.T) {
	for _, joined := range []bool{true, false} {
		_, tab, ctx := open(t, Options{Profiles: []string{""}})
		s, u := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1)
		var p driver.CUdeviceptr
		must(t, tab.MemAlloc_v2(ctx, &p, 8))
		var fork, join driver.CUevent
		must(t, tab.EventCreate(ctx, &fork, 2))
		must(t, tab.EventCreate(ctx, &join, 2))
		must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
		must(t, tab.EventRecord(ctx, fork, s))
		must(t, tab.StreamWaitEvent(ctx, u, fork, 0))
		must(t, tab.MemsetD32Async(ctx, p, 1, 1, u))
		if joined {
			must(t, tab.EventRecord(ctx, join, u))
			must(t, tab.StreamWaitEvent(ctx, s, join, 0))
		}
		must(t, tab.StreamDestroy_v2(ctx, u))
		must(t, tab.MemsetD32Async(ctx, p+4, 2, 1, s))
		var g driver.CUgraph
		r := tab.StreamEndCapture(ctx, s, &g)
		if !joined {
			if r != driver.CUDA_ERROR_STREAM_CAPTURE_UNJOINED {
				t.Errorf("unjoined: %v", r)
			}
			continue
		}
		must(t, r)
		n := uint64(0)
		must(t, tab.GraphGetEdges(ctx, g, nil, nil, &n))
		if n != 1 {
			t.Errorf("%d edges", n)
		}
	}
}
