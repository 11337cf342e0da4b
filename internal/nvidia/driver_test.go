//go:build !gocuda_nodriver && linux && (amd64 || arm64)

package nvidia

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// openDriver opens the machine's driver with a context on its first device, or skips the test.
func openDriver(tb testing.TB) (*Driver, *driver.Table, driver.CUcontext) {
	tb.Helper()
	d, err := Open(Options{})
	if err != nil {
		skip.Without(tb, skip.Driver, err)
	}
	t := d.Table()
	if r := t.Init(0, 0); r != driver.CUDA_SUCCESS {
		skip.Without(tb, skip.Driver, d.Path(), ": cuInit: ", r)
	}
	var dev driver.CUdevice
	var ctx driver.CUcontext
	want(tb, t.DeviceGet(0, &dev, 0), driver.CUDA_SUCCESS)
	want(tb, t.DevicePrimaryCtxRetain(0, &ctx, dev), driver.CUDA_SUCCESS)
	tb.Cleanup(func() { want(tb, t.DevicePrimaryCtxRelease_v2(0, dev), driver.CUDA_SUCCESS) })
	return d, t, ctx
}

// TestDriverSymbols: the driver has every symbol that the 13.0 library exports and that is not newer than the driver.
func TestDriverSymbols(t *testing.T) {
	d, table, _ := openDriver(t)
	var version int32
	want(t, table.DriverGetVersion(0, &version), driver.CUDA_SUCCESS)
	for i := range symbols {
		s, ok := driver.Lookup(symbols[i].name)
		if !ok {
			t.Errorf("%s is not in the table", symbols[i].name)
		}
		if fn, r := d.resolve(i); fn == 0 && s.Exported && s.Since <= int(version) && version < 14000 {
			t.Errorf("%s (since %d): %v", symbols[i].name, s.Since, r)
		}
	}
	for _, m := range d.Missing() {
		t.Log(m.Error())
	}
}

func TestDriverContext(t *testing.T) {
	_, table, ctx := openDriver(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var before, after driver.CUcontext
			table.CtxGetCurrent(0, &before)
			var p driver.CUdeviceptr
			got := make([]uint32, 16)
			for i, r := range []driver.CUresult{
				table.MemAlloc_v2(ctx, &p, 64),
				table.MemsetD32_v2(ctx, p, uint32(0xabc0+g), 16),
				table.MemcpyDtoH_v2(ctx, unsafe.Pointer(&got[0]), p, 64),
				table.MemFree_v2(ctx, p),
				table.CtxGetCurrent(0, &after),
			} {
				if r != driver.CUDA_SUCCESS {
					t.Errorf("call %d: %v", i, r)
				}
			}
			if got[0] != uint32(0xabc0+g) || got[15] != got[0] {
				t.Errorf("copied back %#x", got)
			}
			if after != before {
				t.Errorf("the thread had context %#x and has %#x", before, after)
			}
		}()
	}
	wg.Wait()
}

func TestDriverFloats(t *testing.T) {
	_, table, ctx := openDriver(t)
	var ref driver.CUtexref
	if r := table.TexRefCreate(ctx, &ref); r != driver.CUDA_SUCCESS {
		skip.Without(t, skip.Driver, "cuTexRefCreate: ", r)
	}
	var bias, lo, hi float32
	want(t, table.TexRefSetMipmapLevelBias(ctx, ref, 1.5), driver.CUDA_SUCCESS)
	want(t, table.TexRefGetMipmapLevelBias(ctx, &bias, ref), driver.CUDA_SUCCESS)
	want(t, table.TexRefSetMipmapLevelClamp(ctx, ref, 0.25, 7), driver.CUDA_SUCCESS)
	want(t, table.TexRefGetMipmapLevelClamp(ctx, &lo, &hi, ref), driver.CUDA_SUCCESS)
	if bias != 1.5 || lo != 0.25 || hi != 7 {
		t.Errorf("read back %v, %v, %v, want 1.5, 0.25, 7", bias, lo, hi)
	}
	want(t, table.TexRefDestroy(ctx, ref), driver.CUDA_SUCCESS)
}

func TestDriverCallbacks(t *testing.T) {
	runtime.LockOSThread() // a capture ends on the thread where it began
	defer runtime.UnlockOSThread()
	noneLeft(t)
	d, table, ctx := openDriver(t)
	var s driver.CUstream
	want(t, table.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)), driver.CUDA_SUCCESS)
	var n atomic.Uint64
	add := driver.CUhostFn{Go: func(u uintptr) { n.Add(uint64(u)) }}
	want(t, table.LaunchHostFunc(ctx, s, add, 1), driver.CUDA_SUCCESS)
	want(t, table.StreamAddCallback(ctx, s, driver.CUstreamCallback{Go: func(got driver.CUstream, r driver.CUresult,
		u uintptr) {
		if got != s || r != driver.CUDA_SUCCESS {
			t.Errorf("stream %#x, status %v", got, r)
		}
		n.Add(uint64(u))
	}}, 10, 0), driver.CUDA_SUCCESS)
	boom := errors.New("boom")
	want(t, table.LaunchHostFunc(ctx, s, driver.CUhostFn{Go: func(uintptr) { panic(boom) }}, 0), driver.CUDA_SUCCESS)
	want(t, table.StreamSynchronize(ctx, s), driver.CUDA_SUCCESS)
	if n.Load() != 11 {
		t.Errorf("sum %d, want 11", n.Load())
	}
	if p := d.CallbackPanic(); p == nil || !errors.Is(p, boom) {
		t.Errorf("kept panic: %v", p)
	}

	// captured: runs at each launch of the graph, and is forgotten with it
	before := callbacks.Len()
	var g driver.CUgraph
	var x driver.CUgraphExec
	n.Store(0)
	want(t, table.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL), driver.CUDA_SUCCESS)
	want(t, table.LaunchHostFunc(ctx, s, add, 100), driver.CUDA_SUCCESS)
	want(t, table.StreamEndCapture(ctx, s, &g), driver.CUDA_SUCCESS)
	want(t, table.GraphInstantiateWithFlags(ctx, &x, g, 0), driver.CUDA_SUCCESS)
	want(t, table.GraphDestroy(ctx, g), driver.CUDA_SUCCESS)
	for range 3 {
		want(t, table.GraphLaunch(ctx, x, s), driver.CUDA_SUCCESS)
	}
	want(t, table.StreamSynchronize(ctx, s), driver.CUDA_SUCCESS)
	if n.Load() != 300 || callbacks.Len() != before+1 {
		t.Errorf("sum %d, want 300; %d functions registered, want 1", n.Load(), callbacks.Len()-before)
	}
	want(t, table.GraphExecDestroy(ctx, x), driver.CUDA_SUCCESS)
	for end := time.Now().Add(5 * time.Second); callbacks.Len() != before && time.Now().Before(end); {
		time.Sleep(time.Millisecond) // the driver may call the destructor of a user object later
	}
	want(t, table.StreamDestroy_v2(ctx, s), driver.CUDA_SUCCESS)
}

func TestDriverOccupancy(t *testing.T) {
	_, table, ctx := openDriver(t)
	ptx := []byte(".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry k() { ret; }\n\x00")
	var m driver.CUmodule
	var f driver.CUfunction
	name := []byte("k\x00")
	want(t, table.ModuleLoadData(ctx, &m, unsafe.Pointer(&ptx[0])), driver.CUDA_SUCCESS)
	want(t, table.ModuleGetFunction(ctx, &f, m, &name[0]), driver.CUDA_SUCCESS)
	calls := 0
	var grid, block int32
	want(t, table.OccupancyMaxPotentialBlockSize(ctx, &grid, &block, f,
		driver.CUoccupancyB2DSize{Go: func(b int32) uint64 {
			if b < 1 || b > 1024 {
				t.Errorf("block size %d", b)
			}
			calls++
			return uint64(b)
		}}, 0, 0), driver.CUDA_SUCCESS)
	if calls == 0 || grid < 1 || block < 1 {
		t.Errorf("%d calls, grid %d, block %d", calls, grid, block)
	}
	want(t, table.ModuleUnload(ctx, m), driver.CUDA_SUCCESS)
}

func BenchmarkDriver(b *testing.B) {
	_, table, ctx := openDriver(b)
	v := new(int32)
	for name, cur := range map[string]driver.CUcontext{"cuDriverGetVersion": 0, "cuDriverGetVersion/cur": ctx} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				table.DriverGetVersion(cur, v)
			}
		})
	}
}
