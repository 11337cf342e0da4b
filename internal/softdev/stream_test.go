package softdev

import (
	"bytes"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// hostFn makes a host function of a Go function.
func hostFn(f func()) driver.CUhostFn { return driver.CUhostFn{Go: func(uintptr) { f() }} }

func newTestStream(t testing.TB, tab *driver.Table, ctx driver.CUcontext, flags uint32) driver.CUstream {
	t.Helper()
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, flags))
	return s
}

func newTestEvent(t testing.TB, tab *driver.Table, ctx driver.CUcontext) driver.CUevent {
	t.Helper()
	var e driver.CUevent
	must(t, tab.EventCreate(ctx, &e, 0))
	return e
}

// gate is a host function that holds a stream until it is opened.
type gate struct {
	open    chan struct{}
	entered chan struct{}
}

func newGate() *gate { return &gate{make(chan struct{}), make(chan struct{})} }

func (g *gate) hold(t *testing.T, tab *driver.Table, ctx driver.CUcontext, s driver.CUstream) {
	t.Helper()
	must(t, tab.LaunchHostFunc(ctx, s, hostFn(func() { close(g.entered); <-g.open }), 0))
	<-g.entered
}

const notReady = driver.CUDA_ERROR_NOT_READY

func TestStreamOrder(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, 0)
	var order []int
	for i := range 100 {
		must(t, tab.LaunchHostFunc(ctx, s, hostFn(func() { order = append(order, i) }), 0))
	}
	must(t, tab.StreamSynchronize(ctx, s))
	for i, v := range order {
		if i != v {
			t.Fatalf("operation %d ran as number %d", v, i)
		}
	}
	if len(order) != 100 {
		t.Fatalf("%d operations ran", len(order))
	}
}

// The legacy stream waits for blocking streams and they for it; non-blocking streams do neither (CUDA Driver API,
// "Stream synchronization behavior").
func TestLegacyStream(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	blocking, free := newTestStream(t, tab, ctx, 0), newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	g := newGate()
	g.hold(t, tab, ctx, blocking)
	var legacyRan atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, 0, hostFn(func() { legacyRan.Store(true) }), 0))
	var freeRan atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, free, hostFn(func() { freeRan.Store(true) }), 0))
	must(t, tab.StreamSynchronize(ctx, free))
	if !freeRan.Load() || legacyRan.Load() {
		t.Fatalf("while a blocking stream works: non-blocking ran %v, legacy ran %v", freeRan.Load(), legacyRan.Load())
	}
	want(t, "query of the legacy stream", tab.StreamQuery(ctx, 0), notReady)
	want(t, "query of the blocking stream", tab.StreamQuery(ctx, blocking), notReady)
	want(t, "query of the non-blocking stream", tab.StreamQuery(ctx, free), driver.CUDA_SUCCESS)
	// A second blocking stream is behind the legacy stream's operation.
	second := newTestStream(t, tab, ctx, 0)
	var after atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, second, hostFn(func() { after.Store(legacyRan.Load()) }), 0))
	close(g.open)
	must(t, tab.CtxSynchronize(ctx))
	if !legacyRan.Load() || !after.Load() {
		t.Errorf("legacy ran %v, and before the other blocking stream %v", legacyRan.Load(), after.Load())
	}
	want(t, "query afterwards", tab.StreamQuery(ctx, 0), driver.CUDA_SUCCESS)
	// A synchronous copy is an operation of the legacy stream.
	g = newGate()
	g.hold(t, tab, ctx, blocking)
	p := alloc(t, tab, ctx, 4)
	done := make(chan driver.CUresult)
	go func() {
		v := uint32(1)
		done <- tab.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&v), 4)
	}()
	select {
	case <-done:
		t.Error("a synchronous copy did not wait for the blocking stream")
	case <-time.After(20 * time.Millisecond):
	}
	close(g.open)
	must(t, <-done)
}

func TestEvents(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	for flags, expect := range map[uint32]driver.CUresult{0: 0, 1: 0, 2: 0, 3: 0, 4: bad, 5: bad, 6: 0, 7: 0, 8: bad,
		16: bad} {
		var e driver.CUevent
		want(t, "create", tab.EventCreate(ctx, &e, flags), expect)
	}
	s := newTestStream(t, tab, ctx, 0)
	a, b := newTestEvent(t, tab, ctx), newTestEvent(t, tab, ctx)
	var ms float32
	want(t, "query before a record", tab.EventQuery(ctx, a), driver.CUDA_SUCCESS)
	want(t, "synchronize before a record", tab.EventSynchronize(ctx, a), driver.CUDA_SUCCESS)
	want(t, "elapsed before a record", tab.EventElapsedTime(ctx, &ms, a, b), driver.CUDA_ERROR_INVALID_HANDLE)
	must(t, tab.EventRecord(ctx, a, s))
	must(t, tab.LaunchHostFunc(ctx, s, hostFn(func() { time.Sleep(5 * time.Millisecond) }), 0))
	must(t, tab.EventRecord(ctx, b, s))
	must(t, tab.EventSynchronize(ctx, b))
	must(t, tab.EventElapsedTime(ctx, &ms, a, b))
	if ms < 5 || ms > 5000 {
		t.Errorf("%v ms for a wait of 5", ms)
	}
	must(t, tab.EventElapsedTime_v2(ctx, &ms, b, a))
	if ms > -5 {
		t.Errorf("reversed: %v ms", ms)
	}
	must(t, tab.EventElapsedTime(ctx, &ms, a, a))
	if ms != 0 {
		t.Errorf("to itself: %v ms", ms)
	}
	var untimed driver.CUevent
	must(t, tab.EventCreate(ctx, &untimed, 2))
	must(t, tab.EventRecord(ctx, untimed, s))
	must(t, tab.StreamSynchronize(ctx, s))
	want(t, "elapsed without timing", tab.EventElapsedTime(ctx, &ms, a, untimed), driver.CUDA_ERROR_INVALID_HANDLE)
	want(t, "elapsed into NULL", tab.EventElapsedTime(ctx, nil, a, b), driver.CUDA_ERROR_INVALID_HANDLE)

	g := newGate()
	g.hold(t, tab, ctx, s)
	must(t, tab.EventRecord(ctx, a, s))
	want(t, "query of a pending event", tab.EventQuery(ctx, a), notReady)
	want(t, "elapsed to a pending event", tab.EventElapsedTime(ctx, &ms, b, a), notReady)
	// A wait means what the event captured by then, even if it is recorded again or destroyed.
	other := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	must(t, tab.StreamWaitEvent(ctx, other, a, 0))
	third := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	must(t, tab.EventRecord(ctx, a, third)) // at once: third is idle
	want(t, "query after another record", tab.EventQuery(ctx, a), driver.CUDA_SUCCESS)
	must(t, tab.EventDestroy_v2(ctx, a))
	var ran atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, other, hostFn(func() { ran.Store(true) }), 0))
	time.Sleep(5 * time.Millisecond)
	if ran.Load() {
		t.Error("the stream did not wait for the event")
	}
	close(g.open)
	must(t, tab.StreamSynchronize(ctx, other))
	if !ran.Load() {
		t.Error("the stream never went on")
	}
	want(t, "destroy twice", tab.EventDestroy_v2(ctx, a), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "query of a destroyed event", tab.EventQuery(ctx, a), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "record of a destroyed event", tab.EventRecord(ctx, a, s), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
	want(t, "wait flags", tab.StreamWaitEvent(ctx, s, b, 2), bad)
	want(t, "record flags 1", tab.EventRecordWithFlags(ctx, b, s, 1), driver.CUDA_ERROR_ILLEGAL_STATE)
	want(t, "record flags 2", tab.EventRecordWithFlags(ctx, b, s, 2), bad)
}

// An event and a stream know their context; the legacy stream is the current one's.
func TestWithoutCurrentContext(t *testing.T) {
	lock(t)
	_, tab, ctx := open(t, Options{})
	s, e := newTestStream(t, tab, ctx, 0), newTestEvent(t, tab, ctx)
	var other driver.CUevent
	want(t, "create", tab.EventCreate(0, &other, 0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "record", tab.EventRecord(0, e, s), driver.CUDA_SUCCESS)
	want(t, "record in the legacy stream", tab.EventRecord(0, e, 0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "query", tab.EventQuery(0, e), driver.CUDA_SUCCESS)
	want(t, "synchronize", tab.StreamSynchronize(0, s), driver.CUDA_SUCCESS)
	want(t, "synchronize the legacy stream", tab.StreamSynchronize(0, 0), driver.CUDA_ERROR_INVALID_CONTEXT)
	want(t, "destroy", tab.EventDestroy_v2(0, e), driver.CUDA_SUCCESS)
}

func TestStreamObjects(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var s driver.CUstream
	for _, flags := range []uint32{2, 3, 4, 0xffffffff} {
		want(t, "flags", tab.StreamCreate(ctx, &s, flags), bad)
	}
	for _, c := range []struct{ ask, get int32 }{{0, 0}, {-1, -1}, {-5, -5}, {-6, -5}, {5, 0}, {-100, -5}, {100, 0}} {
		must(t, tab.StreamCreateWithPriority(ctx, &s, 1, c.ask))
		var p int32
		var f uint32
		must(t, tab.StreamGetPriority(ctx, s, &p))
		must(t, tab.StreamGetFlags(ctx, s, &f))
		if p != c.get || f != 1 {
			t.Errorf("priority %d: %d flags %d", c.ask, p, f)
		}
		must(t, tab.StreamDestroy_v2(ctx, s))
	}
	ids := map[uint64]bool{}
	s = newTestStream(t, tab, ctx, 0)
	for _, h := range []driver.CUstream{s, 0, driver.CU_STREAM_PER_THREAD} {
		var id uint64
		var c driver.CUcontext
		var dev driver.CUdevice
		must(t, tab.StreamGetId(ctx, h, &id))
		must(t, tab.StreamGetCtx(ctx, h, &c))
		must(t, tab.StreamGetDevice(ctx, h, &dev))
		if ids[id] || c != ctx || dev != 0 {
			t.Errorf("stream %#x: id %d, context %#x, device %d", h, id, c, dev)
		}
		ids[id] = true
		var g driver.CUgraph
		want(t, "end of no capture", tab.StreamEndCapture(ctx, h, &g), driver.CUDA_ERROR_ILLEGAL_STATE)
		want(t, "capture mode 9", tab.StreamBeginCapture_v2(ctx, h, 9), bad)
		var v driver.CUstreamAttrValue
		want(t, "attribute 99", tab.StreamGetAttribute(ctx, h, 99, &v), bad)
		want(t, "NULL host function", tab.LaunchHostFunc(ctx, h, driver.CUhostFn{}, 0), bad)
		want(t, "C function without a C library", tab.LaunchHostFunc(ctx, h, driver.CUhostFn{C: 1}, 0),
			driver.CUDA_ERROR_NOT_SUPPORTED)
	}
	for _, h := range []driver.CUstream{3, 0x1234} { // the driver dies
		want(t, "no stream", tab.StreamQuery(ctx, h), driver.CUDA_ERROR_INVALID_HANDLE)
	}
	// A destroyed stream finishes its work.
	g := newGate()
	g.hold(t, tab, ctx, s)
	var ran atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, s, hostFn(func() { ran.Store(true) }), 0))
	must(t, tab.StreamDestroy_v2(ctx, s))
	want(t, "destroyed", tab.StreamQuery(ctx, s), driver.CUDA_ERROR_INVALID_HANDLE) // the driver dies
	close(g.open)
	must(t, tab.CtxSynchronize(ctx))
	if !ran.Load() {
		t.Error("the work of a destroyed stream was dropped")
	}
}

// cuCtxRecordEvent and cuCtxWaitEvent (CUDA Driver API): all work of a context, and all work to come.
func TestContextEvents(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	a, b, e := newTestStream(t, tab, ctx, 1), newTestStream(t, tab, ctx, 1), newTestEvent(t, tab, ctx)
	g := newGate()
	g.hold(t, tab, ctx, a)
	must(t, tab.CtxRecordEvent(ctx, ctx, e))
	want(t, "query", tab.EventQuery(ctx, e), notReady)
	must(t, tab.CtxWaitEvent(ctx, ctx, e))
	var ran atomic.Bool
	must(t, tab.LaunchHostFunc(ctx, b, hostFn(func() { ran.Store(true) }), 0))
	time.Sleep(5 * time.Millisecond)
	if ran.Load() {
		t.Error("the other stream did not wait")
	}
	close(g.open)
	must(t, tab.StreamSynchronize(ctx, b))
	want(t, "query", tab.EventQuery(ctx, e), driver.CUDA_SUCCESS)
	want(t, "no context", tab.CtxRecordEvent(ctx, 0, e), driver.CUDA_ERROR_INVALID_CONTEXT)
}

// The symbols with _ptds and _ptsz use the calling thread's own default stream, which is in step with the legacy
// stream.
func TestPerThreadStream(t *testing.T) {
	lock(t)
	_, tab, ctx := open(t, Options{})
	g := newGate()
	g.hold(t, tab.PerThread, ctx, 0)
	want(t, "legacy", tab.StreamQuery(ctx, 0), notReady)
	want(t, "this thread's", tab.PerThread.StreamQuery(ctx, 0), notReady)
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		want(t, "another thread's", tab.PerThread.StreamQuery(ctx, 0), driver.CUDA_SUCCESS)
	}()
	wg.Wait()
	close(g.open)
	must(t, tab.PerThread.StreamSynchronize(ctx, 0))
	p, v := alloc(t, tab, ctx, 4), uint32(5)
	must(t, tab.PerThread.MemcpyHtoD_v2(ctx, p, unsafe.Pointer(&v), 4))
	must(t, tab.PerThread.MemsetD8_v2(ctx, p, 1, 2))
	must(t, tab.PerThread.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	if v != 0x101 {
		t.Errorf("%#x", v)
	}
}

// Calls of the API from a host function are refused (CUDA Driver API, cuLaunchHostFunc), however the context is named.
func TestHostFunctionCalls(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, 0)
	var in, other driver.CUresult
	ready := make(chan struct{})
	must(t, tab.LaunchHostFunc(ctx, s, hostFn(func() {
		in = tab.StreamQuery(ctx, 0)
		go func() { // not the host function's thread
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var n int32
			other = tab.DeviceGetCount(0, &n)
			close(ready)
		}()
		<-ready
	}), 0))
	must(t, tab.StreamSynchronize(ctx, s))
	want(t, "in the host function", in, driver.CUDA_ERROR_NOT_PERMITTED)
	want(t, "beside it", other, driver.CUDA_SUCCESS)
	var status driver.CUresult = 99
	must(t, tab.StreamAddCallback(ctx, s, driver.CUstreamCallback{Go: func(h driver.CUstream, r driver.CUresult,
		data uintptr) {
		if h == s && data == 42 {
			status = r
		}
	}}, 42, 0))
	must(t, tab.StreamSynchronize(ctx, s))
	want(t, "callback", status, driver.CUDA_SUCCESS)
	want(t, "callback flags", tab.StreamAddCallback(ctx, s,
		driver.CUstreamCallback{Go: func(driver.CUstream, driver.CUresult, uintptr) {}}, 0, 1), bad)
}

const faultPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry trapper() { trap; }
.visible .entry wild(.param .u64 p) { .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [p]; mov.u32 %r, 1; st.global.u32 [%rd], %r; ret; }
.visible .entry spin() { L: bra L; }
.visible .entry nop() { ret; }
`

func launch1(tab *driver.Table, ctx driver.CUcontext, f driver.CUfunction, s driver.CUstream,
	params ...unsafe.Pointer) driver.CUresult {
	return tab.LaunchKernel(ctx, f, 1, 1, 1, 1, 1, 1, 0, s, unsafe.SliceData(params), nil)
}

// A fault breaks the device for the process: recorded on an H200 for every way to fault.
func TestFault(t *testing.T) {
	for _, c := range []struct {
		kernel string
		addr   driver.CUdeviceptr
		result driver.CUresult
		report string
	}{
		{"trapper", 0, driver.CUDA_ERROR_LAUNCH_FAILED, "trap in kernel trapper"},
		{"wild", 0x10, driver.CUDA_ERROR_ILLEGAL_ADDRESS, "kernel wild"},
		{"wild", 2, driver.CUDA_ERROR_MISALIGNED_ADDRESS, "kernel wild"},
	} {
		d, tab, ctx := open(t, Options{})
		m := load(t, d, ctx, faultPTX)
		s, e, p := newTestStream(t, tab, ctx, 0), newTestEvent(t, tab, ctx), alloc(t, tab, ctx, 64)
		nop := fn(t, d, ctx, m, "nop")
		addr := c.addr
		if addr == 2 {
			addr += p
		}
		params := []unsafe.Pointer{unsafe.Pointer(&addr)}
		if c.kernel == "trapper" {
			params = nil
		}
		must(t, launch1(tab, ctx, fn(t, d, ctx, m, c.kernel), s, params...))
		want(t, c.kernel, tab.StreamSynchronize(ctx, s), c.result)
		if got := d.LastDetail(ctx); !strings.Contains(got, c.report) {
			t.Errorf("report %q", got)
		}
		var q driver.CUdeviceptr
		var v uint32
		var u uint64
		var x int32
		var host [4]byte
		var st driver.CUstream
		var ev driver.CUevent
		var mod driver.CUmodule
		var cc driver.CUcontext
		for what, got := range map[string]driver.CUresult{
			"synchronize": tab.StreamSynchronize(ctx, s), "context": tab.CtxSynchronize(ctx),
			"query": tab.StreamQuery(ctx, s), "legacy": tab.StreamSynchronize(ctx, 0),
			"event query": tab.EventQuery(ctx, e), "alloc": tab.MemAlloc_v2(ctx, &q, 16),
			"copy":            tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&host), p, 4),
			"copy of nothing": tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&host), p, 0), "launch": launch1(tab, ctx, nop, s),
			"bad launch": tab.LaunchKernel(ctx, nop, 0, 1, 1, 1, 1, 1, 0, s, nil, nil),
			"info":       tab.MemGetInfo_v2(ctx, &u, &u),
			"load":       tab.ModuleLoadData(ctx, &mod, unsafe.Pointer(cstr(faultPTX))),
			"function":   tab.ModuleGetFunction(ctx, new(driver.CUfunction), m, cstr("nop")),
			"attribute":  tab.FuncGetAttribute(ctx, &x, 0, nop), "range": tab.MemGetAddressRange_v2(ctx, &q, &u, p),
			"stream": tab.StreamCreate(ctx, &st, 0),
			"event":  tab.EventCreate(ctx, &ev, 0), "record": tab.EventRecord(ctx, e, s),
			"limit": tab.CtxGetLimit(ctx, &u, 0), "host": tab.MemHostAlloc(ctx, new(unsafe.Pointer), 16, 0),
			"new context": tab.CtxCreate_v4(ctx, &cc, nil, 0, 0), "free": tab.MemFree_v2(ctx, p),
			"event destroy": tab.EventDestroy_v2(ctx, e), "stream destroy": tab.StreamDestroy_v2(ctx, s),
			"unload": tab.ModuleUnload(ctx, m),
		} {
			want(t, c.kernel+", then "+what, got, c.result)
		}
		want(t, "pointer attribute", tab.PointerGetAttribute(ctx, unsafe.Pointer(&v), 2, p), driver.CUDA_SUCCESS)
		want(t, "device", tab.CtxGetDevice(ctx, new(driver.CUdevice)), driver.CUDA_SUCCESS)
		want(t, "device attribute", tab.DeviceGetAttribute(ctx, &x, 1, 0), driver.CUDA_SUCCESS)
		want(t, "reset", tab.DevicePrimaryCtxReset_v2(0, 0), driver.CUDA_SUCCESS)
		want(t, "alloc after reset", tab.MemAlloc_v2(ctx, &q, 16), driver.CUDA_ERROR_CONTEXT_IS_DESTROYED)
		want(t, "retain after reset", tab.DevicePrimaryCtxRetain(0, &cc, 0), c.result)
	}
}

// With Options.Recover the fault stays in its context (no counterpart on hardware).
func TestRecover(t *testing.T) {
	lock(t)
	d, tab, ctx := open(t, Options{Recover: true})
	var broken driver.CUcontext
	must(t, tab.CtxCreate_v4(0, &broken, nil, 0, 0))
	m := load(t, d, broken, faultPTX)
	must(t, launch1(tab, broken, fn(t, d, broken, m, "trapper"), 0))
	want(t, "fault", tab.CtxSynchronize(broken), driver.CUDA_ERROR_LAUNCH_FAILED)
	want(t, "other context", tab.CtxSynchronize(ctx), driver.CUDA_SUCCESS)
	must(t, tab.CtxDestroy_v2(0, broken))
	must(t, tab.CtxCreate_v4(0, &broken, nil, 0, 0))
	want(t, "new context", tab.CtxSynchronize(broken), driver.CUDA_SUCCESS)
}

// Close ends kernels that would never end, and goroutines and memory with them.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 3 {
		d, err := New(Options{})
		if err != nil {
			t.Fatal(err)
		}
		tab := d.Table()
		must(t, tab.Init(0, 0))
		var ctx driver.CUcontext
		must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
		m := load(t, d, ctx, faultPTX)
		for range 3 {
			must(t, launch1(tab, ctx, fn(t, d, ctx, m, "spin"), newTestStream(t, tab, ctx, 1)))
		}
		alloc(t, tab, ctx, 1<<20)
		want(t, "running", tab.CtxSynchronize(0), driver.CUDA_ERROR_INVALID_CONTEXT)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines, before %d", runtime.NumGoroutine(), before)
}

const printPTX = `
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 text[8] = {116, 37, 100, 10, 0};
.visible .entry say(.param .u32 v)
{
	.local .align 8 .b8 buf[8];
	.reg .b32 %r<3>;
	.reg .b64 %rd<4>;
	ld.param.u32 %r1, [v];
	mov.u64 %rd1, buf;
	cvta.local.u64 %rd2, %rd1;
	st.local.u32 [%rd1], %r1;
	mov.u64 %rd3, text;
	cvta.global.u64 %rd3, %rd3;
	{
	.param .b64 p0;
	.param .b64 p1;
	.param .b32 q;
	st.param.b64 [p0], %rd3;
	st.param.b64 [p1], %rd2;
	call.uni (q), vprintf, (p0, p1);
	}
	ret;
}
`

// What kernels print comes out in order, when the program synchronises (CUDA Programming Guide, "Formatted Output").
func TestPrintf(t *testing.T) {
	var out bytes.Buffer
	d, tab, ctx := open(t, Options{Stdout: &out})
	f := fn(t, d, ctx, load(t, d, ctx, printPTX), "say")
	s := newTestStream(t, tab, ctx, 0)
	g := newGate()
	for v := range uint32(3) {
		must(t, launch1(tab, ctx, f, s, unsafe.Pointer(&v)))
	}
	g.hold(t, tab, ctx, s) // the launches have run
	if out.Len() != 0 {
		t.Errorf("%q came out before the program synchronised", out.String())
	}
	close(g.open)
	must(t, tab.StreamSynchronize(ctx, s))
	if got := out.String(); got != "t0\nt1\nt2\n" {
		t.Errorf("%q", got)
	}
}

// Many goroutines on one context, each with its own stream and memory, with the context named in each call.
func TestConcurrency(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	f := fn(t, d, ctx, load(t, d, ctx, addPTX), "add")
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var s driver.CUstream
			var e driver.CUevent
			if tab.StreamCreate(ctx, &s, uint32(g%2)) != 0 || tab.EventCreate(ctx, &e, 0) != 0 {
				t.Error("create")
				return
			}
			for round := range 20 {
				const n = 256
				var p driver.CUdeviceptr
				if r := tab.MemAllocAsync(ctx, &p, n*4, s); r != 0 {
					t.Error(r)
					return
				}
				k := uint32(round)
				params := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&k)}
				host := make([]uint32, n)
				for _, r := range []driver.CUresult{
					tab.MemsetD32Async(ctx, p, uint32(g), n, s),
					tab.LaunchKernel(ctx, f, 2, 1, 1, n/2, 1, 1, 0, s, &params[0], nil),
					tab.EventRecord(ctx, e, s),
					tab.StreamWaitEvent(ctx, 0, e, 0),
					tab.MemcpyDtoHAsync_v2(ctx, unsafe.Pointer(&host[0]), p, n*4, s),
					tab.StreamSynchronize(ctx, s),
					tab.MemFreeAsync(ctx, p, s),
				} {
					if r != 0 {
						t.Error(r)
						return
					}
				}
				for _, v := range host {
					if v != uint32(g)+k+5 {
						t.Errorf("got %d, want %d", v, uint32(g)+k+5)
						return
					}
				}
			}
			if tab.EventDestroy_v2(ctx, e) != 0 || tab.StreamDestroy_v2(ctx, s) != 0 {
				t.Error("destroy")
			}
		}()
	}
	wg.Wait()
	must(t, tab.CtxSynchronize(ctx))
}

// A thread of the driver's that comes in for the first time does so from a host function, and stays known as one that
// runs it.
func TestThreadStartsInHostFunction(t *testing.T) {
	d, tab, ctx := open(t, Options{Profiles: []string{""}})
	var r driver.CUresult
	f := driver.CUhostFn{Go: func(uintptr) {
		d.StartThread()
		var p driver.CUdeviceptr
		r = tab.MemAlloc_v2(0, &p, 16)
	}}
	must(t, tab.LaunchHostFunc(ctx, 0, f, 0))
	must(t, tab.CtxSynchronize(ctx))
	if r != driver.CUDA_ERROR_NOT_PERMITTED {
		t.Errorf("an allocation in a host function: %v", r)
	}
}
