package softdev

import (
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// soon is what f answers, which must not take long.
func soon(t *testing.T, what string, f func() driver.CUresult) driver.CUresult {
	t.Helper()
	done := make(chan driver.CUresult, 1)
	go func() { done <- f() }()
	select {
	case r := <-done:
		return r
	case <-time.After(20 * time.Second): // the machine may be busy
		t.Fatalf("%s does not return", what)
		return success
	}
}

// endless are ways to queue work without an end in a context. Behind is an event of another context, whose work has no
// end either.
var endless = map[string]func(t *testing.T, d *Driver, ctx driver.CUcontext, behind driver.CUevent){
	"kernel": func(t *testing.T, d *Driver, ctx driver.CUcontext, _ driver.CUevent) {
		m := load(t, d, ctx, faultPTX)
		must(t, launch1(d.Table(), ctx, fn(t, d, ctx, m, "spin"), 0))
	},
	"graph": func(t *testing.T, d *Driver, ctx driver.CUcontext, _ driver.CUevent) {
		tab := d.Table()
		m := load(t, d, ctx, faultPTX)
		s := newTestStream(t, tab, ctx, 1)
		must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
		must(t, launch1(tab, ctx, fn(t, d, ctx, m, "spin"), s))
		var g driver.CUgraph
		var x driver.CUgraphExec
		must(t, tab.StreamEndCapture(ctx, s, &g))
		must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
		must(t, tab.GraphLaunch(ctx, x, s))
	},
	"value": func(t *testing.T, d *Driver, ctx driver.CUcontext, _ driver.CUevent) {
		tab := d.Table()
		p := alloc(t, tab, ctx, 64)
		must(t, tab.MemsetD32_v2(ctx, p, 0, 16))
		must(t, tab.StreamWaitValue32_v2(ctx, 0, p, 7, uint32(driver.CU_STREAM_WAIT_VALUE_EQ)))
	},
	"event of another context": func(t *testing.T, d *Driver, ctx driver.CUcontext, behind driver.CUevent) {
		tab := d.Table()
		must(t, tab.StreamWaitEvent(ctx, newTestStream(t, tab, ctx, 1), behind, 0))
	},
	"event of another context, in a graph": func(t *testing.T, d *Driver, ctx driver.CUcontext, behind driver.CUevent) {
		tab := d.Table()
		var g driver.CUgraph
		var x driver.CUgraphExec
		var n driver.CUgraphNode
		must(t, tab.GraphCreate(ctx, &g, 0))
		must(t, tab.GraphAddEventWaitNode(ctx, &n, g, nil, 0, behind))
		must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
		must(t, tab.GraphLaunch(ctx, x, newTestStream(t, tab, ctx, 1)))
	},
}

// spinning makes a context with a kernel that does not end, and an event behind it.
func spinning(t *testing.T, d *Driver) (other driver.CUcontext, s driver.CUstream, behind driver.CUevent) {
	t.Helper()
	tab := d.Table()
	must(t, tab.CtxCreate_v2(0, &other, 0, 0))
	s = newTestStream(t, tab, other, 1)
	must(t, tab.EventCreate(other, &behind, 0))
	must(t, launch1(tab, other, fn(t, d, other, load(t, d, other, faultPTX), "spin"), s))
	must(t, tab.EventRecord(other, behind, s))
	return other, s, behind
}

// TestEndOfEndlessWork: a context is destroyed, by whichever call, although its work has no end. That work is stopped,
// the call says so, and no other context is worse for it. The CUDA Driver API gives these calls "error codes from
// previous, asynchronous launches", and does not say that they wait.
func TestEndOfEndlessWork(t *testing.T) {
	ends := map[string]struct {
		make func(t *testing.T, tab *driver.Table) (ctx driver.CUcontext, end func() driver.CUresult)
	}{
		"cuCtxDestroy": {func(t *testing.T, tab *driver.Table) (ctx driver.CUcontext, end func() driver.CUresult) {
			must(t, tab.CtxCreate_v2(0, &ctx, 0, 0))
			return ctx, func() driver.CUresult { return tab.CtxDestroy_v2(0, ctx) }
		}},
		"cuDevicePrimaryCtxReset": {func(t *testing.T, tab *driver.Table) (ctx driver.CUcontext,
			end func() driver.CUresult) {
			must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
			return ctx, func() driver.CUresult { return tab.DevicePrimaryCtxReset_v2(0, 0) }
		}},
		"cuDevicePrimaryCtxRelease": {func(t *testing.T, tab *driver.Table) (ctx driver.CUcontext,
			end func() driver.CUresult) {
			must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
			return ctx, func() driver.CUresult { return tab.DevicePrimaryCtxRelease_v2(0, 0) }
		}},
	}
	for how, e := range ends {
		for what, queue := range endless {
			t.Run(how+"/"+what, func(t *testing.T) {
				d, tab := bare(t, Options{})
				d.endLimit = 50 * time.Millisecond
				other, s, behind := spinning(t, d)
				ctx, end := e.make(t, tab)
				queue(t, d, ctx, behind)
				done := make(chan driver.CUresult, 1)
				go func() { done <- soon(t, how, end) }()
				for first := true; first || len(done) == 0; first = false {
					var flags uint32
					var active int32
					must(t, soon(t, "cuDevicePrimaryCtxGetState", func() driver.CUresult {
						return tab.DevicePrimaryCtxGetState(0, 0, &flags, &active)
					}))
					time.Sleep(10 * time.Millisecond)
				}
				want(t, how, <-done, driver.CUDA_ERROR_LAUNCH_TIMEOUT)
				want(t, "the other context's work", tab.StreamQuery(other, s), driver.CUDA_ERROR_NOT_READY)
				var next driver.CUcontext
				must(t, tab.CtxCreate_v2(0, &next, 0, 0))
				must(t, tab.CtxSynchronize(next))
				must(t, tab.CtxDestroy_v2(0, next))
			})
		}
	}
}

// TestEndOfLongWork: work that goes on is waited for, however long all of it takes.
func TestEndOfLongWork(t *testing.T) {
	d, tab := bare(t, Options{})
	d.endLimit = 200 * time.Millisecond
	var ctx driver.CUcontext
	must(t, tab.CtxCreate_v2(0, &ctx, 0, 0))
	n := 0
	for range 40 {
		must(t, tab.LaunchHostFunc(ctx, 0, driver.CUhostFn{Go: func(uintptr) {
			n++
			time.Sleep(10 * time.Millisecond)
		}}, 0))
	}
	must(t, tab.CtxDestroy_v2(0, ctx))
	if n != 40 {
		t.Errorf("%d of 40 operations have run", n)
	}
}

// TestInterruptOfEndlessWork: Interrupt ends whatever a context waits for, and leaves the other one's work alone where
// faults stay in their contexts.
func TestInterruptOfEndlessWork(t *testing.T) {
	for what, queue := range endless {
		t.Run(what, func(t *testing.T) {
			d, tab := bare(t, Options{Recover: true})
			other, s, behind := spinning(t, d)
			var ctx driver.CUcontext
			must(t, tab.CtxCreate_v2(0, &ctx, 0, 0))
			queue(t, d, ctx, behind)
			time.AfterFunc(20*time.Millisecond, func() { d.Interrupt(ctx) })
			want(t, "cuCtxSynchronize", soon(t, "cuCtxSynchronize", func() driver.CUresult {
				return tab.CtxSynchronize(ctx)
			}), driver.CUDA_ERROR_LAUNCH_TIMEOUT)
			soon(t, "cuCtxDestroy", func() driver.CUresult { return tab.CtxDestroy_v2(0, ctx) })
			want(t, "the other context's work", tab.StreamQuery(other, s), driver.CUDA_ERROR_NOT_READY)
		})
	}
}
