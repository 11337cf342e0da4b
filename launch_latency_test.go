package cuda

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/cu"
	jitengine "github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

const latencyPTX = `
.version 8.0
.target sm_80
.address_size 64
.visible .entry empty() { ret; }
.visible .entry own(.param .u64 p)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<5>;
	ld.param.u64 %rd1, [p];
	mov.u32 %r1, %ctaid.x;
	mov.u32 %r2, %ntid.x;
	mov.u32 %r3, %tid.x;
	mad.lo.s32 %r4, %r1, %r2, %r3;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd1, %rd1, %rd2;
	st.global.u32 [%rd1], %r4;
	ret;
}
.visible .entry turn(.param .u64 p)
{
	.reg .b64 %rd<3>;
	.reg .b32 %r<5>;
	.shared .b32 s[256];
	mov.u32 %r3, %tid.x;
	mov.u32 %r1, s;
	shl.b32 %r2, %r3, 2;
	add.s32 %r1, %r1, %r2;
	st.shared.u32 [%r1], %r3;
	bar.sync 0;
	ld.shared.u32 %r4, [%r1];
	ret;
}
`

// onEngines runs f with package cuda on the software device, once with each engine.
func onEngines(t testing.TB, run func(name string, f func(testing.TB)), f func(t testing.TB, c *Context)) {
	for _, engine := range []string{"interpreter", "jit"} {
		run(engine, func(t testing.TB) {
			if engine == "jit" {
				var none *jitengine.UnavailableError
				if _, err := jitengine.New(""); errors.As(err, &none) {
					skip.Without(t, skip.MachineCode, err)
				}
			}
			t.Setenv("GOCUDA_ENGINE", engine)
			sys, err := Open(WithSoftware())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = sys.dev.Close() })
			c, err := sys.Context(0)
			if err != nil {
				t.Fatal(err)
			}
			f(t, c)
		})
	}
}

// latencyLaunches are launches that wait for their end.
func latencyLaunches(t testing.TB, c *Context) []struct {
	name string
	run  func() error
} {
	m, err := c.Load([]byte(latencyPTX))
	if err != nil {
		t.Fatal(err)
	}
	kernel := func(name string) *Kernel {
		k, err := m.Kernel(name)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	empty, own, turn := kernel("empty"), kernel("own"), kernel("turn")
	x, err := Alloc[uint32](c, 10000*256)
	if err != nil {
		t.Fatal(err)
	}
	launch := func(k *Kernel, grid, block int, args ...Arg) func() error {
		cfg := LaunchConfig{Grid: Dim(grid), Block: Dim(block)}
		return func() error {
			if err := k.Launch(nil, cfg, args...); err != nil {
				return err
			}
			return c.Synchronize()
		}
	}
	api := c.api
	params := []unsafe.Pointer{unsafe.Pointer(new(cu.CUdeviceptr))}
	*(*cu.CUdeviceptr)(params[0]) = x.DevicePtr()
	return []struct {
		name string
		run  func() error
	}{
		{"empty/1x32", launch(empty, 1, 32)},
		{"empty/10000x256", launch(empty, 10000, 256)},
		{"own/1x32", launch(own, 1, 32, Ptr(x))},
		{"own/1x256", launch(own, 1, 256, Ptr(x))},
		{"own/64x256", launch(own, 64, 256, Ptr(x))},
		{"own/10000x256", launch(own, 10000, 256, Ptr(x))},
		{"barrier/64x256", launch(turn, 64, 256, Ptr(x))},
		{"cu/own/1x32", func() error {
			if err := api.LaunchKernel(own.handle, 1, 1, 1, 32, 1, 1, 0, 0, params, nil); err != nil {
				return err
			}
			return api.CtxSynchronize()
		}},
	}
}

// A launch on the software device allocates nothing once the kernel has run, whatever number of processors there is to
// run it.
func TestSoftwareLaunchAllocates(t *testing.T) {
	if skip.Race {
		skip.Without(t, skip.Pools)
	}
	for _, processors := range []int{runtime.GOMAXPROCS(0), 1, 2, 3, 16, 64} {
		t.Run(fmt.Sprint(processors), func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
			testSoftwareLaunchAllocates(t)
		})
	}
}

func testSoftwareLaunchAllocates(t *testing.T) {
	onEngines(t, func(name string, f func(testing.TB)) {
		t.Run(name, func(t *testing.T) { f(t) })
	}, func(t testing.TB, c *Context) {
		for _, l := range latencyLaunches(t, c) {
			runs := 200
			if l.name == "own/10000x256" {
				runs = 5
			}
			// What a launch allocates, it allocates every time. What the Go runtime allocates when more goroutines are
			// alive at once than ever before (their descriptors; on a busy machine not in the first launch) comes once:
			// the least of a few counts is the launch's.
			n := math.Inf(1)
			for try := 0; try < 3 && n != 0; try++ {
				n = min(n, testing.AllocsPerRun(runs, func() {
					if err := l.run(); err != nil {
						t.Fatal(err)
					}
				}))
			}
			if n != 0 {
				t.Errorf("%s: %v allocations for each launch, want 0", l.name, n)
			}
		}
	})
}

// A kernel sees every one of its threads however the blocks are spread over workers.
func TestSoftwareLaunchCovers(t *testing.T) {
	onEngines(t, func(name string, f func(testing.TB)) {
		t.Run(name, func(t *testing.T) { f(t) })
	}, func(t testing.TB, c *Context) {
		m, err := c.Load([]byte(latencyPTX))
		if err != nil {
			t.Fatal(err)
		}
		k, err := m.Kernel("own")
		if err != nil {
			t.Fatal(err)
		}
		for _, shape := range [][2]int{{1, 1}, {1, 33}, {3, 256}, {17, 96}, {1000, 64}, {333, 1000}, {2, 1024},
			{5000, 32}} {
			n := shape[0] * shape[1]
			x, err := Alloc[uint32](c, n)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 { // later launches use the memory of the first
				if err := x.Zero(); err != nil {
					t.Fatal(err)
				}
				if err := k.Launch(nil, LaunchConfig{Grid: Dim(shape[0]), Block: Dim(shape[1])}, Ptr(x)); err != nil {
					t.Fatal(err)
				}
				got, err := x.Download()
				if err != nil {
					t.Fatal(err)
				}
				for i, v := range got {
					if int(v) != i {
						t.Fatalf("%v: thread %d wrote %d", shape, i, v)
					}
				}
			}
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func BenchmarkSoftwareLaunch(b *testing.B) {
	onEngines(b, func(name string, f func(testing.TB)) {
		b.Run(name, func(b *testing.B) { f(b) })
	}, func(t testing.TB, c *Context) {
		for _, l := range latencyLaunches(t, c) {
			t.(*testing.B).Run(l.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if err := l.run(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	})
}
