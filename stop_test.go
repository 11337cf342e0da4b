package cuda_test

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/cudatest"
)

// TestWaitEndsManyBlocks: the end of a wait stops a grid of as many blocks as there can be, each of a few instructions:
// by itself, in a graph that has the kernel many times over, and as a cooperative grid. What is closed after it is
// closed at once, and no goroutine runs on.
func TestWaitEndsManyBlocks(t *testing.T) {
	cudatest.SoftwareOnly(t)
	const text = `.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 .ptr .global x)
{
	.reg .b64 %p;
	ld.param.u64 %p, [x];
	st.global.u32 [%p], 7;
	ret;
}
.visible .entry wait(.param .u64 .ptr .global x)
{
	.reg .b64 %p; .reg .b32 %v; .reg .pred %q;
	ld.param.u64 %p, [x];
again:
	bar.sync 0;
	ld.volatile.global.u32 %v, [%p];
	setp.ne.u32 %q, %v, 9;
	@%q bra again;
	ret;
}`
	const blocks = 1<<31 - 1
	for name, launch := range map[string]func(t *testing.T, c *cuda.Context, m *cuda.Module,
		x *cuda.Buffer[uint32]) error{
		"launch": func(t *testing.T, c *cuda.Context, m *cuda.Module, x *cuda.Buffer[uint32]) error {
			k, err := m.Kernel("store")
			if err != nil {
				return err
			}
			return k.Launch(nil, cuda.LinearBlock(blocks, 1), cuda.Ptr(x))
		},
		"graph": func(t *testing.T, c *cuda.Context, m *cuda.Module, x *cuda.Buffer[uint32]) error {
			k, err := m.Kernel("store")
			if err != nil {
				return err
			}
			g, err := c.NewGraph()
			if err != nil {
				return err
			}
			for range 100 {
				if _, err := g.AddKernel(nil, k, cuda.LinearBlock(blocks, 1), cuda.Ptr(x)); err != nil {
					return err
				}
			}
			exec, err := g.Instantiate()
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = errors.Join(exec.Close(), g.Close()) }) // the context is broken by then
			return exec.Launch(c.Default())
		},
		"cooperative": func(t *testing.T, c *cuda.Context, m *cuda.Module, x *cuda.Buffer[uint32]) error {
			k, err := m.Kernel("wait")
			if err != nil {
				return err
			}
			cfg := cuda.LinearBlock(1024*32, 32)
			cfg.Cooperative = true
			return k.Launch(nil, cfg, cuda.Ptr(x))
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			c := cudatest.OpenBroken(t)
			m := cudatest.Load(t, c, []byte(text))
			x, err := cuda.Alloc[uint32](c, 1)
			check(t, err)
			check(t, launch(t, c, m, x))
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
			defer cancel()
			if err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cuda.ErrLaunchTimeout) {
				t.Errorf("%v, want DeadlineExceeded", err)
			}
			ended := make(chan error)
			go func() { ended <- x.Close() }()
			select {
			case err := <-ended:
				if err != nil && !errors.Is(err, cuda.ErrLaunchTimeout) {
					t.Error(err)
				}
			case <-time.After(10 * time.Second): // the machine may be busy
				t.Fatal("Buffer.Close does not return")
			}
			for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+
				8; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}

// TestWaitEndsOtherWork: what the end of a wait stops is the work of the context, not kernels alone: fills and host
// functions that are queued, and a wait for a value, do not go on after it (Context.Wait).
func TestWaitEndsOtherWork(t *testing.T) {
	cudatest.SoftwareOnly(t)
	for name, queue := range map[string]func(c *cuda.Context, x *cuda.Buffer[uint8], each func()) error{
		"host functions": func(c *cuda.Context, _ *cuda.Buffer[uint8], each func()) error {
			for range 2000 {
				if err := c.Default().HostFunc(func() { each(); time.Sleep(5 * time.Millisecond) }); err != nil {
					return err
				}
			}
			return nil
		},
		"fills": func(c *cuda.Context, x *cuda.Buffer[uint8], each func()) error {
			for range 2000 { // each of many rows of a byte
				err := c.API().MemsetD2D8Async(cu.CUdeviceptr(x.Ptr()), 2, 1, 1, uint64(x.Len())/2, 0)
				if err == nil {
					err = c.Default().HostFunc(each)
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
		"behind a wait for a value": func(c *cuda.Context, x *cuda.Buffer[uint8], each func()) error {
			if err := c.API().StreamWaitValue32(0, cu.CUdeviceptr(x.Ptr()), 77, 1); err != nil {
				return err
			}
			return c.Default().HostFunc(func() { each(); each() })
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := cudatest.OpenBroken(t)
			x, err := cuda.Alloc[uint8](c, 16<<20)
			check(t, err)
			var n atomic.Int64
			check(t, queue(c, x, func() { n.Add(1) }))
			ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
			defer cancel()
			if err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, cuda.ErrLaunchTimeout) {
				t.Errorf("%v, want DeadlineExceeded", err)
			}
			seen := n.Load()
			time.Sleep(50 * time.Millisecond)
			if after := n.Load(); after > seen+1 {
				t.Errorf("%d operations after the end of the wait", after-seen)
			}
			if seen == 2 && name == "behind a wait for a value" {
				t.Error("what stands behind a wait for a value ran without the value")
			}
			_ = x.Close()
		})
	}
}
