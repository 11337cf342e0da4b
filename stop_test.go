package cuda_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cudatest"
)

// TestWaitEndsManyBlocks: the end of a wait stops a grid of as many blocks as there can be, each of a few instructions: by itself, in a graph that has the kernel many times over,
// and as a cooperative grid. What is closed after it is closed at once, and no goroutine runs on.
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
	for name, launch := range map[string]func(t *testing.T, c *cuda.Context, m *cuda.Module, x *cuda.Buffer[uint32]) error{
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
			for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before+8; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
				}
			}
		})
	}
}
