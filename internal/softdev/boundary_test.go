package softdev

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	engine "github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/ir"
)

var errBoom = errors.New("boom")

// two makes a driver with two ordinary contexts, of which the second has a module.
type two struct {
	t       *testing.T
	d       *Driver
	tab     *driver.Table
	ctx     driver.CUcontext
	witness driver.CUcontext
	f       driver.CUfunction // add in witness
	before  int               // goroutines
}

func newTwo(t *testing.T, o Options) *two {
	t.Helper()
	b := &two{t: t, before: runtime.NumGoroutine()}
	b.d, b.tab = bare(t, o)
	must(t, b.tab.CtxCreate_v2(0, &b.ctx, 0, 0))
	must(t, b.tab.CtxCreate_v2(0, &b.witness, 0, 0))
	b.f = fn(t, b.d, b.witness, load(t, b.d, b.witness, addPTX), "add")
	return b
}

// broken checks that the context answers the defect, the witness works, and everything can be closed, with no goroutine
// left.
func (b *two) broken(pattern string) {
	t := b.t
	t.Helper()
	want(t, "the context", b.tab.CtxSynchronize(b.ctx), driver.CUDA_ERROR_UNKNOWN)
	var p driver.CUdeviceptr
	want(t, "an allocation in the context", b.tab.MemAlloc_v2(b.ctx, &p, 4), driver.CUDA_ERROR_UNKNOWN)
	if s := b.d.LastDetail(b.ctx); !regexp.MustCompile(pattern).MatchString(s) {
		t.Errorf("%q does not match %s", s, pattern)
	}
	b.works()
	b.closes()
}

func (b *two) works() {
	t := b.t
	t.Helper()
	p := alloc(t, b.tab, b.witness, 4)
	v, k := uint32(30), uint32(7)
	must(t, b.tab.MemcpyHtoD_v2(b.witness, p, unsafe.Pointer(&v), 4))
	must(t, launch1(b.tab, b.witness, b.f, 0, unsafe.Pointer(&p), unsafe.Pointer(&k)))
	must(t, b.tab.MemcpyDtoH_v2(b.witness, unsafe.Pointer(&v), p, 4))
	if v != 42 {
		t.Errorf("the other context computes %d, want 42", v)
	}
	must(t, b.tab.MemFree_v2(b.witness, p))
}

func (b *two) closes() {
	t := b.t
	t.Helper()
	must(t, b.tab.CtxDestroy_v2(0, b.ctx))
	must(t, b.tab.CtxDestroy_v2(0, b.witness))
	if err := b.d.Close(); err != nil {
		t.Error(err)
	}
	for i := 0; runtime.NumGoroutine() > b.before; i++ {
		if i == 200 {
			var s [1 << 16]byte
			t.Fatalf("%d goroutines are left over\n%s", runtime.NumGoroutine()-b.before, s[:runtime.Stack(s[:], true)])
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// A function of the program that panics in a stream or graph breaks the context, and the text says that it was the
// program's. What is queued behind it counts as done.
func TestPanickingCallbacks(t *testing.T) {
	host := driver.CUhostFn{Go: func(uintptr) { panic(errBoom) }}
	for name, run := range map[string]func(b *two){
		"CUhostFn": func(b *two) { must(t, b.tab.LaunchHostFunc(b.ctx, newTestStream(t, b.tab, b.ctx, 0), host, 0)) },
		"CUstreamCallback": func(b *two) {
			must(t, b.tab.StreamAddCallback(b.ctx, 0,
				driver.CUstreamCallback{Go: func(driver.CUstream, driver.CUresult, uintptr) {
					panic(errBoom)
				}}, 0, 0))
		},
		"CUhostFn in a graph": func(b *two) {
			var g driver.CUgraph
			var x driver.CUgraphExec
			s := newTestStream(t, b.tab, b.ctx, 0)
			must(t, b.tab.StreamBeginCapture_v2(b.ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
			must(t, b.tab.LaunchHostFunc(b.ctx, s, host, 0))
			must(t, b.tab.LaunchHostFunc(b.ctx, s, hostFn(func() { t.Error("a node behind the panic runs") }), 0))
			must(t, b.tab.StreamEndCapture(b.ctx, s, &g))
			must(t, b.tab.GraphInstantiateWithFlags(b.ctx, &x, g, 0))
			must(t, b.tab.GraphLaunch(b.ctx, x, s))
		},
		"CUhostFn that ends its goroutine": func(b *two) {
			g := newGate()
			s := newTestStream(t, b.tab, b.ctx, 0)
			g.hold(t, b.tab, b.ctx, s)
			must(t, b.tab.LaunchHostFunc(b.ctx, s, hostFn(runtime.Goexit), 0))
			must(t, b.tab.LaunchHostFunc(b.ctx, s, hostFn(func() { t.Error("what comes behind it runs") }), 0))
			close(g.open)
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newTwo(t, Options{})
			run(b)
			// The wait is the queue's, not a caller's that executes the function itself: Goexit would end the test.
			for b.tab.CtxSynchronize(b.witness) == success && b.d.contexts.get(uintptr(b.ctx)).fault() == success {
				time.Sleep(time.Millisecond)
			}
			kind, _, _ := strings.Cut(name, " ")
			what := regexp.QuoteMeta(errBoom.Error()) + ` at \S*boundary_test\.go:\d+`
			if strings.Contains(name, "ends") {
				what = "it called runtime.Goexit"
			}
			b.broken("^the program's " + kind + " panicked: " + what)
		})
	}
}

// Functions that belong to no context break none: the panic is told, once.
func TestPanickingServices(t *testing.T) {
	b := newTwo(t, Options{})
	var o driver.CUuserObject
	must(t, b.tab.UserObjectCreate(b.ctx, &o, 0, driver.CUhostFn{Go: func(uintptr) {
		panic(errBoom)
	}}, 1, uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)))
	must(t, b.tab.UserObjectRelease(b.ctx, o, 1))
	calls := 0
	var h driver.CUlogsCallbackHandle
	must(t, b.tab.LogsRegisterCallback(b.ctx, driver.CUlogsCallback{Go: func(uintptr, driver.CUlogLevel, *byte,
		uint64) {
		calls++
		panic(errBoom)
	}}, 0, &h))
	for range 3 { // each explains itself to the log
		want(t, "a block of no threads", b.tab.LaunchKernel(b.witness, b.f, 1, 1, 1, 0, 1, 1, 0, 0, nil, nil),
			invalidValue)
	}
	if calls != 1 {
		t.Errorf("the log's function was called %d times, want once", calls)
	}
	want(t, "its handle afterwards", b.tab.LogsUnregisterCallback(b.ctx, h), invalidValue)
	lines, _ := b.d.log.since(0)
	log := strings.Join(lines, "")
	for _, kind := range []string{"CUhostFn", "CUlogsCallback"} {
		if n := strings.Count(log, "the program's "+kind+" panicked: boom at "); n != 1 {
			t.Errorf("the log tells of the %s %d times\n%s", kind, n, log)
		}
	}
	must(t, b.tab.CtxSynchronize(b.ctx))
	b.works()
	b.closes()
}

// A function that a call asks something runs on the caller's stack, and its panic goes on there, as with the NVIDIA
// driver (internal/nvidia/doc.go).
func TestPanickingSize(t *testing.T) {
	b := newTwo(t, Options{})
	func() {
		defer func() {
			if v := recover(); v != errBoom {
				t.Error(v)
			}
		}()
		var grid, block int32
		b.tab.OccupancyMaxPotentialBlockSize(b.witness, &grid, &block, b.f,
			driver.CUoccupancyB2DSize{Go: func(int32) uint64 {
				panic(errBoom)
			}}, 0, 0)
	}()
	b.works()
	b.closes()
}

// panicking is an engine that panics where a kernel is compiled, or runs.
type panickingEngine struct {
	engine.Engine
	compile, run bool
}

func (e *panickingEngine) Compile(k *ir.Kernel) (engine.Code, error) {
	if k.Name != "broken" {
		return e.Engine.Compile(k)
	}
	if e.compile {
		panic(errBoom)
	}
	c, err := e.Engine.Compile(k)
	return &panickingCode{c, e}, err
}

type panickingCode struct {
	engine.Code
	e *panickingEngine
}

func (c *panickingCode) Run(w *engine.Warp) engine.Event {
	if c.e.run && w.CTA.Index[0] == 77 {
		var none *panickingCode
		return none.Run(w) // a nil pointer
	}
	return c.Code.Run(w)
}

// A defect of the engine breaks the context of the call or of the kernel, not the device as a fault of the kernel's
// would.
func TestPanickingEngine(t *testing.T) {
	const text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry broken()\n{\n.reg .b32 %r;\nmov.u32 %r, 1;\nret;\n}\n"
	const report = `; please report this with the image and the calls that led here at https://github.com/gocuda/cuda/issues$`
	var out bytes.Buffer
	t.Run("compile", func(t *testing.T) {
		t.Setenv(env.Stack, "1")
		b := newTwo(t, Options{Engine: &panickingEngine{interp.New(), true, false}, Stderr: &out})
		f := fn(t, b.d, b.ctx, load(t, b.d, b.ctx, text), "broken")
		want(t, "the launch", launch1(b.tab, b.ctx, f, 0), driver.CUDA_ERROR_UNKNOWN)
		b.broken(`^internal error: boom at internal/softdev/boundary_test\.go:\d+` + report)
		if s := out.String(); !strings.Contains(s, "softdev.(*entry).lower(") ||
			!strings.HasPrefix(s, "internal error: boom at ") {
			t.Errorf("with %s=1: %q", env.Stack, s)
		}
	})
	for _, workers := range []int{1, 4} {
		t.Run(fmt.Sprintf("run with %d workers", workers), func(t *testing.T) {
			b := newTwo(t, Options{Engine: &panickingEngine{interp.New(), false, true}, Workers: workers})
			f := fn(t, b.d, b.ctx, load(t, b.d, b.ctx, text), "broken")
			must(t, b.tab.LaunchKernel(b.ctx, f, 100, 1, 1, 64, 1, 1, 0, 0, nil, nil))
			want(t, "the wait", b.tab.CtxSynchronize(b.ctx), driver.CUDA_ERROR_UNKNOWN)
			b.broken(`^internal error: runtime error: invalid memory address or nil pointer dereference at internal/softdev/boundary_test\.go:\d+ in kernel broken, PTX line \d+` + report)
		})
	}
}
