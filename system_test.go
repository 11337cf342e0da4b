package cuda_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"
	"unsafe"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
)

func TestOpen(t *testing.T) {
	t.Setenv("GOCUDA_DEVICE", "software")
	sys, err := cuda.Open()
	check(t, err)
	if sys.Kind() != cuda.Software || !strings.HasPrefix(sys.String(), "software: ") || sys.Why() != nil {
		t.Errorf("%v %v %v", sys.Kind(), sys, sys.Why())
	}
	major, minor, err := sys.Version()
	check(t, err)
	if major != 13 || minor != 0 { // the profile h200
		t.Errorf("version %d.%d", major, minor)
	}
	d, err := sys.Device(0)
	check(t, err)
	in, err := d.Info()
	check(t, err)
	// The profile h200, measured on the GPU: profiles/h200.json.
	if in.Major != 9 || in.Minor != 0 || in.WarpSize != 32 || in.Multiprocessors != 132 || in.MaxBlock.X != 1024 ||
		!in.ClusterLaunch {
		t.Errorf("%+v", in)
	}
	if _, err := sys.Device(1); !errors.Is(err, cuda.ErrInvalidDevice) {
		t.Errorf("device 1: %v", err)
	}
	check(t, sys.Close())
	if err := sys.Close(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("second Close: %v", err)
	}
	if _, err := d.Primary(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("Primary after Close: %v", err)
	}
	t.Setenv("GOCUDA_DEVICE", "abacus")
	if _, err := cuda.Open(); err == nil || !strings.Contains(err.Error(), `GOCUDA_DEVICE="abacus"`) {
		t.Errorf("unknown device: %v", err)
	}
	if _, err := cuda.Open(cuda.WithSoftware("abacus")); err == nil || !strings.Contains(err.Error(), "abacus") {
		t.Errorf("unknown profile: %v", err)
	}
	if _, err := cuda.Open(cuda.WithDriver(), cuda.WithDriverLibrary("/does/not/exist.so")); err == nil {
		t.Error("a driver library that is not there: no error")
	}
}

func TestContexts(t *testing.T) {
	sys := cudatest.System(t)
	d := sys.Devices()[0]
	a, err := d.Primary()
	check(t, err)
	b, err := d.NewContext(cuda.SchedBlockingSync)
	check(t, err)
	if a.Handle() == b.Handle() {
		t.Error("the primary context twice")
	}
	// Nothing stays current on the thread.
	runtime.LockOSThread()
	cur, err := sys.API().CtxGetCurrent()
	runtime.UnlockOSThread()
	if err != nil || cur != 0 {
		t.Errorf("current context %v %v, want none", cur, err)
	}
	check(t, b.With(func() error {
		cur, err := sys.API().CtxGetCurrent()
		if cur != b.Handle() {
			t.Errorf("current in With: %v, want %v", cur, b.Handle())
		}
		return err
	}))
	x, err := cuda.Alloc[int32](b, 1)
	check(t, err)
	s, err := a.NewStream(cuda.StreamOptions{})
	check(t, err)
	if err := x.FillAsync(s, 1); !errors.Is(err, cuda.ErrInvalidContext) {
		t.Errorf("stream of another context: %v", err)
	}
	var open *cuda.OpenError
	if err := b.Close(); !errors.As(err, &open) || open.Open != 1 || len(open.Leaks) != 1 ||
		!strings.Contains(open.Leaks[0].String(), "buffer of 4 bytes made at") ||
		!strings.Contains(open.Leaks[0].Stack[0], "system_test.go") {
		t.Errorf("Close with an open buffer: %v", err)
	}
	check(t, x.Close())
	if err := x.Close(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("second Close of a buffer: %v", err)
	}
	if err := x.Fill(1); !errors.Is(err, cuda.ErrClosed) || !errors.Is(err, cuda.ErrInvalidHandle) {
		t.Errorf("use of a closed buffer: %v", err)
	}
	check(t, b.Close())
	if _, err := cuda.Alloc[int32](b, 1); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("Alloc in a closed context: %v", err)
	}
	check(t, s.Close())
	check(t, a.Close())
}

func TestTwoDevices(t *testing.T) {
	cudatest.SoftwareOnly(t)
	sys := cudatest.System(t, cuda.WithSoftware("h200", "h200"))
	if len(sys.Devices()) != 2 {
		t.Fatalf("%d devices", len(sys.Devices()))
	}
	a, err := sys.Context(0)
	check(t, err)
	b, err := sys.Context(1)
	check(t, err)
	x, err := cuda.Upload(a, count(100))
	check(t, err)
	y, err := cuda.Alloc[int32](b, 100)
	check(t, err)
	check(t, cuda.Copy(y.View, x.View))
	cudatest.Equal(t, y.View, count(100))
	for _, c := range []io.Closer{x, y, a, b} {
		check(t, c.Close())
	}
}

func TestStreamsAndEvents(t *testing.T) {
	c := cudatest.Open(t)
	s, u := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true}),
		cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true, Priority: -1})
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	x := cudatest.Alloc[uint32](t, c, 1000)
	gate := make(chan struct{})
	check(t, s.HostFunc(func() { <-gate }))
	start, err := s.Record()
	check(t, err)
	check(t, k.Launch(s, cuda.Linear(1000), cuda.Ptr(x), cuda.Val(uint32(1)), cuda.Val(uint32(1000))))
	end, err := s.Record()
	check(t, err)
	check(t, u.WaitEvent(end))
	check(t, k.Launch(u, cuda.Linear(10), cuda.Ptr(x), cuda.Val(uint32(2)), cuda.Val(uint32(10))))
	if done, err := u.Done(); done || err != nil {
		t.Errorf("Done before the gate: %v %v", done, err)
	}
	if done, err := end.Done(); done || err != nil {
		t.Errorf("event done before the gate: %v %v", done, err)
	}
	close(gate)
	check(t, u.Synchronize())
	if done, err := u.Done(); !done || err != nil {
		t.Errorf("Done after Synchronize: %v %v", done, err)
	}
	if d, err := end.Since(start); err != nil || d < 0 || d > time.Minute {
		t.Errorf("time of the kernel: %v %v", d, err)
	}
	got := cudatest.Download(t, x.View)
	if got[9] != 2 || got[10] != 1 {
		t.Errorf("%v", got[8:12])
	}
	check(t, start.Close())
	check(t, end.Close())
	if err := u.WaitEvent(end); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("wait for a closed event: %v", err)
	}
}

func TestHostFuncPanic(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{})
	check(t, s.HostFunc(func() { panic("boom") }))
	var p *cuda.PanicError
	if err := s.Synchronize(); !errors.As(err, &p) || p.Value != "boom" ||
		!strings.Contains(p.Stack, "TestHostFuncPanic") {
		t.Errorf("%v", err)
	}
	check(t, s.Synchronize()) // told once
	var inside error
	check(t, s.HostFunc(func() { _, _, inside = c.MemoryInfo() }))
	check(t, s.Synchronize())
	if !errors.Is(inside, cuda.ErrNotPermitted) {
		t.Errorf("a call inside a host function: %v", inside)
	}
}

func TestModules(t *testing.T) {
	c := cudatest.Open(t)
	// The driver's cache of compilations keeps no log: the text is a new one.
	text := fmt.Appendf(nil, "// %d\n%s", time.Now().UnixNano(), kernelsPTX)
	files := fstest.MapFS{"k/kernels.ptx": &fstest.MapFile{Data: text}}
	m, err := c.LoadFS(files, "k/kernels.ptx", cuda.VerboseLog())
	check(t, err)
	names, err := m.Kernels()
	check(t, err)
	if len(names) != 6 || !strings.Contains(strings.Join(names, " "), "addbias") {
		t.Errorf("kernels %v", names)
	}
	if !strings.Contains(m.Log(), "fill") {
		t.Errorf("verbose log %q does not name the kernel", m.Log())
	}
	k, err := m.Kernel("addbias")
	check(t, err)
	if again, _ := m.Kernel("addbias"); again != k {
		t.Error("the same name gives another *Kernel")
	}
	bias, err := cuda.GlobalOf[uint32](m, "bias")
	check(t, err)
	cudatest.Equal(t, bias, []uint32{5}) // the initial value in the PTX
	check(t, bias.CopyFrom([]uint32{100}))
	x := cudatest.Upload(t, c, []uint32{1, 2})
	check(t, k.Launch(nil, cuda.Linear(2), cuda.Ptr(x), cuda.Val(uint32(2))))
	cudatest.Equal(t, x.View, []uint32{101, 102})
	co, err := cuda.GlobalOf[float32](m, "coefficient")
	check(t, err)
	cudatest.Equal(t, co, []float32{1, 2, 3, 4})
	if _, err := cuda.GlobalOf[[3]uint32](m, "coefficient"); !errors.Is(err, cuda.ErrInvalidValue) ||
		!strings.Contains(err.Error(), "16 bytes") {
		t.Errorf("16 bytes as [3]uint32: %v", err)
	}
	notFound := func(err error, symbol string) {
		t.Helper()
		var e *cuda.Error
		if !errors.As(err, &e) || e.Code != cuda.ErrNotFound || e.Symbol != symbol {
			t.Errorf("%v, want ErrNotFound of %s", err, symbol)
		}
	}
	_, err = m.Kernel("nothing")
	notFound(err, "nothing")
	// The error tells what there is, what may be meant first.
	_, err = m.Kernel("bias")
	notFound(err, "bias")
	if err != nil && !strings.Contains(err.Error(), "did you mean `addbias`? there are addbias, ") {
		t.Errorf("%v", err)
	}
	_, err = m.Kernel("flil") // two characters exchanged
	notFound(err, "flil")
	if err != nil && !strings.Contains(err.Error(), "did you mean `fill`? there are fill, ") {
		t.Errorf("%v", err)
	}
	_, err = m.Global("nothing")
	notFound(err, "nothing")
	if _, err := c.LoadFS(files, "k/other.ptx"); !errors.Is(err, cuda.ErrFileNotFound) ||
		!strings.Contains(err.Error(), "k/other.ptx") {
		t.Errorf("no such file: %v", err)
	}
	check(t, m.Close())
	if err := k.Launch(nil, cuda.Linear(2), cuda.Ptr(x), cuda.Val(uint32(2))); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("launch after Close of the module: %v", err)
	}
	if _, err := m.Kernel("fill"); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("Kernel after Close: %v", err)
	}
}

func TestCompilerLog(t *testing.T) {
	c := cudatest.Open(t)
	_, err := c.Load([]byte(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { add.u33 %r1, %r2, %r3; ret; }\n"))
	var e *cuda.Error
	if !errors.As(err, &e) || e.Code != cuda.ErrInvalidPTX || !strings.Contains(e.Log, "line 4") {
		t.Errorf("%v, want ErrInvalidPTX with a log that has the line", err)
	}
	if err != nil && !strings.Contains(err.Error(), "line 4") {
		t.Errorf("the message has no log: %v", err)
	}
	if _, err := c.Load(nil); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("empty image: %v", err)
	}
}

func TestLibrary(t *testing.T) {
	sys := cudatest.System(t)
	l, err := sys.LoadLibrary(kernelsPTX)
	check(t, err)
	d := sys.Devices()[0]
	a, err := d.Primary()
	check(t, err)
	b, err := d.NewContext(0)
	check(t, err)
	for i, c := range []*cuda.Context{a, b} {
		bias, err := cuda.GlobalOf[uint32](l.In(c), "bias")
		check(t, err)
		check(t, bias.CopyFrom([]uint32{uint32(10 * (i + 1))})) // each context has its own
	}
	for i, c := range []*cuda.Context{a, b} {
		k, err := l.In(c).Kernel("addbias")
		check(t, err)
		x, err := cuda.Upload(c, []uint32{1})
		check(t, err)
		check(t, k.Launch(nil, cuda.Linear(1), cuda.Ptr(x), cuda.Val(uint32(1))))
		cudatest.Equal(t, x.View, []uint32{uint32(10*(i+1) + 1)})
		check(t, x.Close())
	}
	if _, err := l.In(a).Kernel("nothing"); !errors.Is(err, cuda.ErrNotFound) ||
		!strings.Contains(err.Error(), "there are addbias, fill, forever") {
		t.Errorf("no such kernel: %v", err)
	}
	names, err := l.Kernels()
	check(t, err)
	if len(names) != 6 {
		t.Errorf("kernels %v", names)
	}
	for _, c := range []io.Closer{l, a, b} {
		check(t, c.Close())
	}
}

func TestKernelAttributes(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	in, err := k.Info()
	check(t, err)
	if in.MaxThreads != 1024 || in.StaticShared != 0 || in.Registers < 1 {
		t.Errorf("%+v", in)
	}
	check(t, k.SetMaxDynamicShared(100<<10))
	in, err = k.Info()
	check(t, err)
	if in.MaxDynamicShared != 100<<10 {
		t.Errorf("%+v", in)
	}
	n, err := k.Occupancy(256, 0)
	check(t, err)
	if n < 1 || n > 32 {
		t.Errorf("%d blocks of 256 threads", n)
	}
	all, err := k.ResidentBlocks(256, 0)
	check(t, err)
	sms, err := c.Multiprocessors()
	check(t, err)
	if all != n*sms {
		t.Errorf("%d resident blocks, want %d x %d", all, n, sms)
	}
	block, grid, err := k.BestBlock(nil, 0)
	check(t, err)
	if block < 32 || block > 1024 || grid < sms {
		t.Errorf("best block %d, grid %d", block, grid)
	}
	if _, err := k.Occupancy(0, 0); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("blocks without threads: %v", err)
	}
}

// TestFault: the error of a kernel that wrote through a null pointer tells where, and later errors tell what broke the
// context.
func TestFault(t *testing.T) {
	cudatest.SoftwareOnly(t)
	c := cudatest.OpenBroken(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "wild")
	check(t, k.Launch(nil, cuda.LinearBlock(3*32, 32)))
	err := c.Synchronize()
	var e *cuda.Error
	if !errors.As(err, &e) || e.Code != cuda.ErrIllegalAddress || !e.Sticky() {
		t.Fatalf("%v, want ErrIllegalAddress", err)
	}
	for _, want := range []string{"kernel wild", "block (1,0,0)", "thread (3,0,0)", "PTX line"} {
		if !strings.Contains(e.Detail, want) {
			t.Errorf("detail %q does not have %q", e.Detail, want)
		}
	}
	_, later := cuda.Alloc[int32](c, 1)
	if !errors.Is(later, cuda.ErrIllegalAddress) ||
		!strings.Contains(later.Error(), "the context was broken earlier: cuCtxSynchronize") ||
		!strings.Contains(later.Error(), "kernel wild") {
		t.Errorf("later error: %v", later)
	}
	if c.Err() == nil {
		t.Error("Err is nil")
	}
}

func TestRecovery(t *testing.T) {
	cudatest.SoftwareOnly(t)
	sys := cudatest.System(t, cuda.WithRecovery(), cuda.WithoutChecks())
	d := sys.Devices()[0]
	for range 2 {
		c, err := d.Primary()
		check(t, err)
		m, err := c.Load(kernelsPTX)
		check(t, err)
		k, err := m.Kernel("wild")
		check(t, err)
		check(t, k.Launch(nil, cuda.LinearBlock(64, 32)))
		if err := c.Synchronize(); !errors.Is(err, cuda.ErrIllegalAddress) || strings.Contains(err.Error(), "earlier") {
			t.Errorf("%v, want a new ErrIllegalAddress", err)
		}
		if err := m.Close(); err != nil && !errors.Is(err, cuda.ErrIllegalAddress) {
			t.Error(err)
		}
		check(t, c.Close())
	}
}

// TestWaitEnds: a context.Context ends a wait; the software device stops the kernel.
func TestWaitEnds(t *testing.T) {
	cudatest.SoftwareOnly(t)
	c := cudatest.OpenBroken(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "forever")
	x := cudatest.Alloc[uint32](t, c, 1)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	check(t, s.Wait(context.Background()))
	gone, cancelNow := context.WithCancel(context.Background())
	cancelNow()
	if err := s.Wait(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("context that had ended: %v", err)
	}
	if c.Err() != nil {
		t.Errorf("a wait that never began broke the context: %v", c.Err())
	}
	check(t, k.Launch(s, cuda.LinearBlock(64, 32), cuda.Ptr(x)))
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	begin := time.Now()
	err := s.Wait(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cuda.ErrLaunchTimeout) ||
		!strings.Contains(err.Error(), "kernel forever") {
		t.Errorf("%v, want DeadlineExceeded and the kernel that was stopped", err)
	}
	if d := time.Since(begin); d > 2*time.Second {
		t.Errorf("the wait ended after %v", d)
	}
	if err := s.Synchronize(); !errors.Is(err, cuda.ErrLaunchTimeout) {
		t.Errorf("after it: %v, want ErrLaunchTimeout", err)
	}
}

// TestWaitEndsAtOnce: a context.Context that had ended before the wait stops what runs, too; and the kernel has really
// stopped: nothing changes memory any more, and a new context works.
func TestWaitEndsAtOnce(t *testing.T) {
	cudatest.SoftwareOnly(t)
	sys := cudatest.System(t, cuda.WithRecovery())
	d := sys.Devices()[0]
	c, err := d.NewContext(cuda.SchedAuto)
	check(t, err)
	m, err := c.Load([]byte(`.version 8.0
.target sm_80
.address_size 64
.visible .entry count(.param .u64 .ptr .global x)
{
	.reg .b64 %p;
	.reg .b32 %v;
	ld.param.u64 %p, [x];
again:
	atom.global.sys.add.u32 %v, [%p], 1;
	bra again;
}
`))
	check(t, err)
	k, err := m.Kernel("count")
	check(t, err)
	x, err := cuda.AllocManaged[uint32](c, 1)
	check(t, err)
	n := (*atomic.Uint32)(unsafe.Pointer(&x.Data()[0]))
	check(t, k.Launch(nil, cuda.LinearBlock(128, 32), cuda.Ptr(x)))
	for n.Load() == 0 { // the launch runs when somebody waits, or by itself
		if _, err := c.Default().Done(); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	gone, cancel := context.WithCancelCause(context.Background())
	reason := errors.New("enough")
	cancel(reason)
	if err := c.Wait(gone); !errors.Is(err, reason) || !errors.Is(err, cuda.ErrLaunchTimeout) ||
		!strings.Contains(err.Error(), "kernel count") {
		t.Errorf("%v, want the reason and the kernel that was stopped", err)
	}
	last := n.Load()
	time.Sleep(20 * time.Millisecond)
	if now := n.Load(); now != last {
		t.Errorf("the kernel still runs: %d, then %d", last, now)
	}
	for _, r := range []io.Closer{x, m} {
		if err := r.Close(); err != nil && !errors.Is(err, cuda.ErrLaunchTimeout) {
			t.Error(err)
		}
	}
	check(t, c.Close())
	c, err = sys.Context(0)
	check(t, err)
	check(t, c.Synchronize())
	check(t, c.Close())
}

func TestWaitSucceeds(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "fill")
	x := cudatest.Alloc[uint32](t, c, 8)
	s := cudatest.Stream(t, c, cuda.StreamOptions{})
	check(t, k.Launch(s, cuda.Linear(8), cuda.Ptr(x), cuda.Val(uint32(6)), cuda.Val(uint32(8))))
	e, err := s.Record()
	check(t, err)
	defer func() { check(t, e.Close()) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	check(t, e.Wait(ctx))
	check(t, s.Wait(ctx))
	check(t, c.Wait(ctx))
	cudatest.Equal(t, x.View, []uint32{6, 6, 6, 6, 6, 6, 6, 6})
}

func TestScope(t *testing.T) {
	c := cudatest.Open(t)
	sc := cuda.NewScope()
	a, err := cuda.Alloc[int32](c, 1)
	check(t, err)
	b, err := cuda.Alloc[int32](c, 1)
	check(t, err)
	sc.Add(a, b)
	var order []string
	failure := errors.New("first")
	sc.Defer(func() error { order = append(order, "first"); return failure })
	sc.Defer(func() error { order = append(order, "second"); return nil })
	check(t, a.Close()) // by hand: no error of the scope
	if err := sc.Close(); !errors.Is(err, failure) || strings.Join(order, " ") != "second first" {
		t.Errorf("%v %v", err, order)
	}
	if err := b.Close(); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("the scope has not closed b: %v", err)
	}
	check(t, sc.Close())
}

// TestLeakReport: the collector reports what was lost, with its place, and frees nothing.
func TestLeakReport(t *testing.T) {
	reports := make(chan cuda.Leak, 1)
	sys, err := cuda.Open(cuda.WithSoftware(), cuda.WithLeakReports(func(l cuda.Leak) { reports <- l }))
	check(t, err)
	c, err := sys.Context(0)
	check(t, err)
	ptr := lose(t, c)
	deadline := time.After(10 * time.Second)
	for {
		runtime.GC()
		select {
		case l := <-reports:
			if l.Kind != "buffer" || l.Bytes != 400 || len(l.Stack) == 0 ||
				!strings.Contains(l.Stack[0], "system_test.go") {
				t.Errorf("%+v", l)
			}
			if _, size, err := c.API().MemGetAddressRange(ptr); err != nil || size != 400 {
				t.Errorf("the lost memory: %d bytes, %v; want 400, not freed", size, err)
			}
			check(t, c.API().MemFree(ptr))
			return
		case <-deadline:
			t.Fatal("no report")
		case <-time.After(time.Millisecond):
		}
	}
}

//go:noinline
func lose(t *testing.T, c *cuda.Context) cu.CUdeviceptr {
	b, err := cuda.Alloc[int32](c, 100)
	check(t, err)
	return b.DevicePtr()
}

func TestErrorText(t *testing.T) {
	e := &cuda.Error{Op: "cuMemAlloc", Code: cuda.ErrOutOfMemory, Detail: "d"}
	if !errors.Is(e, cuda.ErrOutOfMemory) || !errors.Is(e, cu.CUDA_ERROR_OUT_OF_MEMORY) ||
		errors.Is(e, cuda.ErrNotFound) {
		t.Error("errors.Is")
	}
	if got, want := e.Error(), "cuda: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory: d"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLinker links a kernel with a device function that is defined elsewhere.
func TestLinker(t *testing.T) {
	c := cudatest.Open(t)
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n"
	files := fstest.MapFS{
		"kernel.ptx": {Data: []byte(head + `.extern .func (.param .b32 r) triple(.param .b32 v);
.visible .entry apply(.param .u64 .ptr .global x)
{
	.reg .b64 %p;
	.reg .b32 %v;
	.param .b32 in, out;
	ld.param.u64 %p, [x];
	ld.global.u32 %v, [%p];
	st.param.b32 [in], %v;
	call (out), triple, (in);
	ld.param.b32 %v, [out];
	st.global.u32 [%p], %v;
	ret;
}
`)},
		"function.ptx": {Data: []byte(head + `.visible .func (.param .b32 r) triple(.param .b32 v)
{
	.reg .b32 %v;
	ld.param.b32 %v, [v];
	mul.lo.s32 %v, %v, 3;
	st.param.b32 [r], %v;
	ret;
}
`)},
		"text": {Data: []byte("hello")},
	}
	l, err := c.NewLinker()
	check(t, err)
	defer func() { check(t, l.Close()) }()
	check(t, l.AddFS(files, "kernel.ptx"))
	if err := l.AddFS(files, "text"); !errors.Is(err, cuda.ErrInvalidValue) ||
		!strings.Contains(err.Error(), "neither PTX nor") {
		t.Errorf("text that is no code: %v", err)
	}
	check(t, l.AddFS(files, "function.ptx"))
	image, err := l.Complete()
	check(t, err)
	k := cudatest.Kernel(t, c, image, "apply")
	x := cudatest.Upload(t, c, []int32{14})
	check(t, k.Launch(nil, cuda.LinearBlock(1, 1), cuda.Ptr(x)))
	cudatest.Equal(t, x.View, []int32{42})
}

// TestGreenContext: a green context has at least the multiprocessors asked for and runs kernels.
func TestGreenContext(t *testing.T) {
	sys := cudatest.System(t)
	d := sys.Devices()[0]
	g, err := d.NewGreenContext(16)
	if errors.Is(err, cuda.ErrNotSupported) {
		var e *cuda.Error
		if !errors.As(err, &e) || e.Detail == "" {
			t.Errorf("%v, want a detail that says what is not supported", err)
		}
		skip.Without(t, skip.DeviceFeature, err)
	}
	check(t, err)
	n, err := g.Multiprocessors()
	check(t, err)
	if n < 16 {
		t.Errorf("%d multiprocessors, want 16 or more", n)
	}
	m, err := g.Load(kernelsPTX)
	check(t, err)
	k, err := m.Kernel("fill")
	check(t, err)
	s, err := g.NewStream(cuda.StreamOptions{})
	check(t, err)
	x, err := cuda.Alloc[uint32](g, 3)
	check(t, err)
	check(t, k.Launch(s, cuda.Linear(3), cuda.Ptr(x), cuda.Val(uint32(4)), cuda.Val(uint32(3))))
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{4, 4, 4})
	for _, c := range []io.Closer{x, s, m, g} {
		check(t, c.Close())
	}
	if _, err := d.NewGreenContext(0); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("no multiprocessors: %v", err)
	}
}

// TestLaunchAttributes launches with every attribute of this package that the software device accepts; clusters and
// cooperation have to reach the kernel.
func TestLaunchAttributes(t *testing.T) {
	c := cudatest.Open(t)
	const ptx = `.version 8.0
.target sm_90
.address_size 64
.visible .entry shape(.param .u64 .ptr .global out)
{
	.reg .b64 %p;
	.reg .b32 %v;
	ld.param.u64 %p, [out];
	mov.u32 %v, %cluster_nctaid.x;
	st.global.u32 [%p], %v;
	mov.u32 %v, %nctaid.x;
	st.global.u32 [%p+4], %v;
	mov.u32 %v, %ntid.y;
	st.global.u32 [%p+8], %v;
	mov.u32 %v, %dynamic_smem_size;
	st.global.u32 [%p+12], %v;
	ret;
}
`
	k := cudatest.Kernel(t, c, []byte(ptx), "shape")
	out := cudatest.Alloc[uint32](t, c, 4)
	e, err := c.NewEvent(cuda.EventOptions{NoTiming: true})
	check(t, err)
	defer func() { check(t, e.Close()) }()
	cfg := cuda.LaunchConfig{
		Grid: cuda.Dim(8), Block: cuda.Dim(8, 4), Cluster: cuda.Dim(2), Shared: 1024,
		Attrs: []cuda.LaunchAttr{
			cuda.LaunchPriority(0), cuda.ProgrammaticSerialization(), cuda.CompletionEvent(e), cuda.SharedCarveout(50),
			cuda.ClusterScheduling(cu.CU_CLUSTER_SCHEDULING_POLICY_SPREAD),
			cuda.MemSyncDomain(cu.CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT),
		},
	}
	check(t, k.Launch(nil, cfg, cuda.Ptr(out)))
	check(t, e.Synchronize())
	check(t, c.Synchronize())
	cudatest.Equal(t, out.View, []uint32{2, 8, 4, 1024})

	cfg = cuda.LaunchConfig{Grid: cuda.Dim(4), Block: cuda.Dim(32), Cooperative: true}
	check(t, k.Launch(nil, cfg, cuda.Ptr(out)))
	cudatest.Equal(t, out.View, []uint32{1, 4, 1, 0})
	cfg.Grid = cuda.Dim(1 << 20)
	if err := k.Launch(nil, cfg, cuda.Ptr(out)); !errors.Is(err, cuda.ErrCooperativeLaunchTooLarge) {
		t.Errorf("a cooperative grid that does not fit: %v", err)
	}
	cfg = cuda.LaunchConfig{Grid: cuda.Dim(3), Block: cuda.Dim(32), Cluster: cuda.Dim(2)}
	if err := k.Launch(nil, cfg, cuda.Ptr(out)); err == nil {
		t.Error("a grid that is no multiple of its cluster: no error")
	}
}
