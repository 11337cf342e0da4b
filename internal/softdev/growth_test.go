package softdev

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// What a program makes and destroys again leaves nothing behind, however often.
func TestNothingGrows(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	m := load(t, d, ctx, addPTX)
	add := fn(t, d, ctx, m, "add")
	p := alloc(t, tab, ctx, 4096)
	launch := func(ctx driver.CUcontext, f driver.CUfunction, s driver.CUstream, p driver.CUdeviceptr) {
		k := uint32(1)
		args := [2]unsafe.Pointer{unsafe.Pointer(&p), unsafe.Pointer(&k)}
		must(t, tab.LaunchKernel(ctx, f, 1, 1, 1, 32, 1, 1, 0, s, &args[0], nil))
	}
	var sm driver.CUdevResource
	must(t, tab.DeviceGetDevResource(ctx, 0, &sm, driver.CU_DEV_RESOURCE_TYPE_SM))
	var desc driver.CUdevResourceDesc
	must(t, tab.DevResourceGenerateDesc(ctx, &desc, &sm, 1))
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"contexts", func() {
			var c driver.CUcontext
			must(t, tab.CtxCreate_v2(0, &c, 0, 0))
			must(t, tab.CtxDestroy_v2(0, c))
		}},
		{"contexts with all in them", func() {
			var c driver.CUcontext
			must(t, tab.CtxCreate_v2(0, &c, 0, 0))
			s := newTestStream(t, tab, c, 0)
			newTestEvent(t, tab, c)
			launch(c, fn(t, d, c, load(t, d, c, addPTX), "add"), s, alloc(t, tab, c, 1024))
			must(t, tab.CtxDestroy_v2(0, c))
		}},
		{"green contexts", func() {
			var g driver.CUgreenCtx
			must(t, tab.GreenCtxCreate(ctx, &g, desc, 0, uint32(driver.CU_GREEN_CTX_DEFAULT_STREAM)))
			must(t, tab.GreenCtxDestroy(ctx, g))
		}},
		{"streams", func() {
			s := newTestStream(t, tab, ctx, 0)
			launch(ctx, add, s, p)
			must(t, tab.StreamSynchronize(ctx, s))
			must(t, tab.StreamDestroy_v2(ctx, s))
		}},
		{"events", func() {
			e := newTestEvent(t, tab, ctx)
			must(t, tab.EventRecord(ctx, e, s))
			must(t, tab.StreamWaitEvent(ctx, s, e, 0))
			must(t, tab.EventSynchronize(ctx, e))
			must(t, tab.EventDestroy_v2(ctx, e))
		}},
		{"modules", func() {
			m := load(t, d, ctx, addPTX)
			launch(ctx, fn(t, d, ctx, m, "add"), s, p)
			must(t, tab.StreamSynchronize(ctx, s))
			must(t, tab.ModuleUnload(ctx, m))
		}},
		{"libraries", func() {
			var l driver.CUlibrary
			must(t, tab.LibraryLoadData(ctx, &l, unsafe.Pointer(cstr(addPTX)), nil, nil, 0, nil, nil, 0))
			var k driver.CUkernel
			must(t, tab.LibraryGetKernel(ctx, &k, l, cstr("add")))
			launch(ctx, driver.CUfunction(k), s, p)
			must(t, tab.StreamSynchronize(ctx, s))
			must(t, tab.LibraryUnload(ctx, l))
		}},
		{"graphs", func() {
			var g driver.CUgraph
			var n driver.CUgraphNode
			var x driver.CUgraphExec
			must(t, tab.GraphCreate(ctx, &g, 0))
			must(t, tab.GraphAddMemsetNode(ctx, &n, g, nil, 0,
				&driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, ElementSize: 1, Width: 16, Height: 1}, ctx))
			must(t, tab.GraphInstantiateWithFlags(ctx, &x, g, 0))
			must(t, tab.GraphLaunch(ctx, x, s))
			must(t, tab.StreamSynchronize(ctx, s))
			must(t, tab.GraphExecDestroy(ctx, x))
			must(t, tab.GraphDestroy(ctx, g))
		}},
		{"captured graphs", func() {
			var g driver.CUgraph
			must(t, tab.StreamBeginCapture_v2(ctx, s, driver.CU_STREAM_CAPTURE_MODE_RELAXED))
			launch(ctx, add, s, p)
			must(t, tab.StreamEndCapture(ctx, s, &g))
			must(t, tab.GraphDestroy(ctx, g))
		}},
		{"memory", func() {
			must(t, tab.MemFree_v2(ctx, alloc(t, tab, ctx, 1000)))
			var h unsafe.Pointer
			must(t, tab.MemAllocHost_v2(ctx, &h, 1000))
			must(t, tab.MemFreeHost(ctx, h))
			var p driver.CUdeviceptr
			must(t, tab.MemAllocAsync(ctx, &p, 1000, s))
			must(t, tab.MemFreeAsync(ctx, p, s))
			must(t, tab.StreamSynchronize(ctx, s))
		}},
		{"arrays", func() {
			var a driver.CUarray
			must(t, tab.ArrayCreate_v2(ctx, &a, &driver.CUDA_ARRAY_DESCRIPTOR{Width: 16, Height: 16,
				Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1}))
			must(t, tab.ArrayDestroy(ctx, a))
		}},
		{"pools", func() {
			var p driver.CUmemoryPool
			must(t, tab.MemPoolCreate(ctx, &p, &driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
				Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}))
			must(t, tab.MemPoolDestroy(ctx, p))
		}},
		{"links", func() {
			var l driver.CUlinkState
			must(t, tab.LinkCreate_v2(ctx, 0, nil, nil, &l))
			must(t, tab.LinkDestroy(ctx, l))
		}},
		{"user objects", func() {
			var o driver.CUuserObject
			must(t, tab.UserObjectCreate(ctx, &o, 0, hostFn(func() {}), 1,
				uint32(driver.CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)))
			must(t, tab.UserObjectRelease(ctx, o, 1))
		}},
		{"calls that fail", func() {
			want(t, "copy", tab.MemcpyHtoD_v2(ctx, 7, unsafe.Pointer(&p), 8), bad)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			const rounds, phases = 1500, 12 // on 64 processors more is kept for use again than on two, and later
			measure := func() (bytes uint64, goroutines int) {
				must(t, tab.CtxSynchronize(ctx))
				for looked := 1; looked > 0; time.Sleep(sweepTime) { // at streams that have been used, for a while
					d.sweeper.mu.Lock()
					looked = len(d.sweeper.streams)
					d.sweeper.mu.Unlock()
				}
				runtime.GC()
				runtime.GC() // sync.Pool keeps for one
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc, runtime.NumGoroutine()
			}
			// What is kept for use again grows until there have been as many at once as ever will be; what leaks grows
			// always.
			var before, after uint64
			var g, h int
			for range phases {
				before, g = after, h
				for range rounds {
					c.do()
				}
				after, h = measure()
				if before > 0 && int64(after-before) < 20*rounds && h <= g+2 {
					return
				}
			}
			t.Errorf("%d bytes in the last %d of %d rounds; %d goroutines, before %d", int64(after-before), rounds,
				rounds*phases, h, g)
		})
	}
}
