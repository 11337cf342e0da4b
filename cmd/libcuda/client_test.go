//go:build linux && cgo

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/nvidia"
	"github.com/gocuda/cuda/internal/skip"
)

// clientVariable makes the test binary a client that does what the value says.
const clientVariable = "GOCUDA_TEST_CLIENT"

const clientPTX = `.version 8.0
.target sm_80
.address_size 64
.visible .entry poke(.param .u64 p, .param .u32 v) {
	.reg .b64 %rd; .reg .b32 %r;
	ld.param.u64 %rd, [p]; ld.param.u32 %r, [v]; st.global.u32 [%rd], %r; ret;
}
` + "\x00"

// goClient is a client in Go: this process has a Go runtime before the library brings another.
type goClient struct {
	t    *driver.Table
	ctx  driver.CUcontext
	poke driver.CUfunction
	p    driver.CUdeviceptr
}

func newGoClient() (*goClient, error) {
	d, err := nvidia.Open(nvidia.Options{})
	if err != nil {
		return nil, err
	}
	c := &goClient{t: d.Table()}
	var m driver.CUmodule
	text, name := []byte(clientPTX), []byte("poke\x00")
	for _, f := range []func() driver.CUresult{
		func() driver.CUresult { return c.t.Init(0, 0) },
		func() driver.CUresult { return c.t.CtxCreate_v2(0, &c.ctx, 0, 0) },
		func() driver.CUresult { return c.t.ModuleLoadData(c.ctx, &m, unsafe.Pointer(&text[0])) },
		func() driver.CUresult { return c.t.ModuleGetFunction(c.ctx, &c.poke, m, &name[0]) },
		func() driver.CUresult { return c.t.MemAlloc_v2(c.ctx, &c.p, 4) },
	} {
		if r := f(); r != driver.CUDA_SUCCESS {
			return nil, fmt.Errorf("start: %v", r)
		}
	}
	return c, nil
}

// write pokes v to p and waits.
func (c *goClient) write(p driver.CUdeviceptr, v uint32) driver.CUresult {
	args := []unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&v)}
	if r := c.t.LaunchKernel(c.ctx, c.poke, 1, 1, 1, 1, 1, 1, 0, 0, &args[0], nil); r != driver.CUDA_SUCCESS {
		return r
	}
	return c.t.CtxSynchronize(c.ctx)
}

func (c *goClient) check(v uint32) error {
	if r := c.write(c.p, v); r != driver.CUDA_SUCCESS {
		return fmt.Errorf("write: %v", r)
	}
	got := new(uint32)
	if r := c.t.MemcpyDtoH_v2(c.ctx, unsafe.Pointer(got), c.p, 4); r != driver.CUDA_SUCCESS || *got != v {
		return fmt.Errorf("read %d, want %d: %v", *got, v, r)
	}
	return nil
}

// The clients by name.
var goClients = map[string]func(*goClient) error{
	"start": func(c *goClient) error { return c.check(7) },
	"fault": func(c *goClient) error {
		// A nil pointer of this program is this runtime's, before and after the library's runtime has had a fault of
		// its own.
		for range 3 {
			if err := ownFault(); err != nil {
				return err
			}
		}
		if r := c.write(0x700000000000, 1); r != driver.CUDA_ERROR_ILLEGAL_ADDRESS {
			return fmt.Errorf("a kernel that faults: %v", r)
		}
		for range 3 {
			if err := ownFault(); err != nil {
				return err
			}
		}
		return nil
	},
	// Both runtimes stop goroutines with SIGURG: a collection here has to stop a loop without calls, while kernels of
	// the library run.
	"preempt": func(c *goClient) error {
		var sink int
		go func() {
			for n := 0; ; n++ {
				sink += n
			}
		}()
		for i := range 10 {
			if err := c.check(uint32(i)); err != nil {
				return err
			}
			runtime.GC()
		}
		return nil
	},
}

func ownFault() (err error) {
	defer func() {
		if e, ok := recover().(runtime.Error); !ok {
			err = errors.New("a nil pointer was no run-time error")
		} else if !strings.Contains(e.Error(), "nil pointer") {
			err = e
		}
	}()
	var p *[10]int
	p[nine]++
	return nil
}

var nine = 9

func client(what string) int {
	c, err := newGoClient()
	if err == nil {
		err = goClients[what](c)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// goClientRun runs one of goClients in a process of its own.
func goClientRun(t *testing.T, what string, env ...string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := start1(t, "", append(env, clientVariable+"="+what), self); err != nil {
		t.Fatalf("%s: %v\n%s", what, err, out)
	}
}

func TestStartsGo(t *testing.T) {
	library(t)
	began := time.Now()
	for range starts {
		goClientRun(t, "start")
	}
	t.Logf("%d starts, %v each", starts, time.Since(began)/starts)
}

func TestGoClient(t *testing.T) {
	for _, engine := range engines {
		for _, what := range []string{"fault", "preempt"} {
			t.Run(what+"/"+engine, func(t *testing.T) {
				goClientRun(t, what, "GOCUDA_ENGINE="+engine)
				goClientRun(t, what, "GOCUDA_ENGINE="+engine, "GOGC=1", "GOMAXPROCS=4")
			})
		}
	}
}

// A client in Go without cgo, whose threads are purego's.
func TestGoClientWithoutCgo(t *testing.T) {
	lib := library(t)
	bin := filepath.Join(t.TempDir(), "gocuda")
	build := exec.Command("go", "build", "-o", bin, "../gocuda")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	ptx := filepath.Join(t.TempDir(), "poke.ptx")
	if err := os.WriteFile(ptx, []byte(strings.TrimSuffix(clientPTX, "\x00")), 0o666); err != nil {
		t.Fatal(err)
	}
	env := []string{env.Driver + "=" + filepath.Join(lib, "libcuda.so.1")}
	for range 20 {
		if out, err := start1(t, "", env, bin, "run", "--device=driver", "--grid=1", "--block=1", ptx, "poke", "u32[4]",
			"u32:9"); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		out, err := start1(t, "", env, bin, "run", "--device=driver", "--grid=1", "--block=1", ptx, "poke",
			"u64:0x700000000000", "u32:9")
		if err == nil || !strings.Contains(out, "CUDA_ERROR_ILLEGAL_ADDRESS") {
			t.Fatalf("a kernel that faults: %v\n%s", err, out)
		}
	}
}

const pythonClient = `
import ctypes, faulthandler, os, sys, threading
faulthandler.enable()
L = ctypes.CDLL("libcuda.so.1")
p, u32, u64, sz = ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64, ctypes.c_size_t
def ok(r): assert r == 0, r
ok(L.cuInit(0))
ctx, mod, fn, mem = p(), p(), p(), u64()
ok(L.cuCtxCreate_v2(ctypes.byref(ctx), 0, 0))
ok(L.cuModuleLoadData(ctypes.byref(mod), sys.stdin.buffer.read()))
ok(L.cuModuleGetFunction(ctypes.byref(fn), mod, b"poke"))
ok(L.cuMemAlloc_v2(ctypes.byref(mem), sz(4)))
def poke(at, value):
    at, value = u64(at), u32(value)
    args = (p * 2)(ctypes.addressof(at), ctypes.addressof(value))
    ok(L.cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, None, args, None))
    return L.cuCtxSynchronize()
ok(poke(mem.value, 5))
v = u32()
ok(L.cuMemcpyDtoH_v2(ctypes.byref(v), mem, sz(4)))
assert v.value == 5
# a callback, on a thread that Python has not made
seen = []
def host(x): seen.append((x, threading.get_ident()))
cb = ctypes.CFUNCTYPE(None, p)(host)
for i in range(1, 50): ok(L.cuLaunchHostFunc(None, cb, p(i)))
ok(L.cuCtxSynchronize())
assert [x for x, _ in seen] == list(range(1, 50)), seen
# threads have no context until they set one
def other():
    c = p(1)
    ok(L.cuCtxGetCurrent(ctypes.byref(c)))
    assert not c.value
    ok(L.cuCtxSetCurrent(ctx))
    ok(L.cuCtxSynchronize())
    done.append(1)
done = []
ts = [threading.Thread(target=other) for _ in range(8)]
for t in ts: t.start()
for t in ts: t.join()
assert len(done) == 8
# a handler that is installed late does not get the faults of kernels, and what is the program's own is told as ever
def crash():
    faulthandler.disable()
    faulthandler.enable()
    ok(L.cuModuleGetFunction(ctypes.byref(fn), mod, b"poke"))
    assert poke(0x700000000000, 1) == 700
    sys.stdout.flush()
    ctypes.string_at(16)
if sys.argv[1:] == ["crash"]: crash()
assert poke(0x700000000000, 1) == 700
pid = os.fork()
if pid == 0: os._exit(L.cuInit(0))
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3
print("passed")
`

// A program may take a thread's signal stack away (Python does at its end, when it has had faulthandler on), where a
// signal of the Go runtime's own would end the process.
const stacklessClient = `
import ctypes
L = ctypes.CDLL("libcuda.so.1")
p = ctypes.c_void_p
def ok(r): assert r == 0, r
ok(L.cuInit(0))
ctx = p()
ok(L.cuDevicePrimaryCtxRetain(ctypes.byref(ctx), 0))
ok(L.cuCtxSetCurrent(ctx))
class Stack(ctypes.Structure): _fields_ = [("sp", p), ("flags", ctypes.c_int), ("size", ctypes.c_size_t)]
ok(ctypes.CDLL(None).sigaltstack(ctypes.byref(Stack(None, 2, 0)), None))
text = b".version 7.0\n.target sm_52\n.address_size 64\n" + b"".join(b".visible .entry k%d() { ret; }\n" % i for i in range(400)) + b"\0"
for i in range(60):
    m = p()
    ok(L.cuModuleLoadData(ctypes.byref(m), text))
    ok(L.cuModuleUnload(m))
print("passed")
`

func TestSignalStackTakenAway(t *testing.T) {
	library(t)
	skip.Command(t, "python3")
	if out := run(t, "", nil, "python3", "-c", stacklessClient); out != "passed\n" {
		t.Error(out)
	}
}

func TestPython(t *testing.T) {
	library(t)
	skip.Command(t, "python3")
	for _, engine := range engines {
		out := run(t, clientPTX, []string{"GOCUDA_ENGINE=" + engine}, "python3", "-W", "ignore::DeprecationWarning",
			"-c", pythonClient)
		if out != "passed\n" {
			t.Errorf("%s: %q", engine, out)
		}
		out, err := start1(t, clientPTX, []string{"GOCUDA_ENGINE=" + engine}, "python3", "-W",
			"ignore::DeprecationWarning", "-c", pythonClient, "crash")
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSEGV ||
			strings.Count(out, "Fatal Python error: Segmentation fault") != 1 || !strings.Contains(out, "in crash") {
			t.Errorf("%s: a fault of Python's own: %v\n%s", engine, err, out)
		}
	}
}
