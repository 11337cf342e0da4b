package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Work of streams whose memory goes before it runs. The driver frees memory for whoever asks, and work that another
// context has queued finds it gone: it faults as a kernel does, with CUDA_ERROR_ILLEGAL_ADDRESS ("This leaves the
// process in an inconsistent state and any further CUDA work will return the same error", CUDA Driver API), and the
// process lives. What is recorded of an H200 (reach/freed/ in internal/conform/api, cmd/libcuda/testdata/c/freed.c):
// operations on a value fault with CUDA_ERROR_LAUNCH_FAILED, and are refused on managed memory and memory of pools; the
// memory of a destroyed context stays for what is queued.

// freedSize is enough for memory that lies in granules of its own, and so goes when it is freed.
const freedSize = 8 << 20

// freedCase is memory, and how it goes while work is queued in a stream of the context a.
type freedCase struct {
	name  string
	stays bool            // the memory, for what is queued
	value driver.CUresult // of the call that queues an operation on a value
	// take gives the memory and what frees it.
	take func(t *testing.T, tab *driver.Table, a, b driver.CUcontext) (p driver.CUdeviceptr,
		free func() driver.CUresult)
}

var freedCases = []freedCase{
	{"cuMemFree in another context", false, driver.CUDA_SUCCESS,
		func(t *testing.T, tab *driver.Table, _, b driver.CUcontext) (driver.CUdeviceptr, func() driver.CUresult) {
			p := alloc(t, tab, b, freedSize)
			return p, func() driver.CUresult { return tab.MemFree_v2(b, p) }
		}},
	{"cuCtxDestroy of the owner", true, driver.CUDA_SUCCESS,
		func(t *testing.T, tab *driver.Table, _, b driver.CUcontext) (driver.CUdeviceptr, func() driver.CUresult) {
			p := alloc(t, tab, b, freedSize)
			return p, func() driver.CUresult { return tab.CtxDestroy_v2(b, b) }
		}},
	{"cuMemFreeAsync in another stream", false, bad,
		func(t *testing.T, tab *driver.Table, a, _ driver.CUcontext) (p driver.CUdeviceptr,
			free func() driver.CUresult) {
			s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
			must(t, tab.MemAllocAsync(a, &p, freedSize, s))
			return p, func() driver.CUresult {
				must(t, tab.MemFreeAsync(a, p, s))
				return tab.StreamSynchronize(a, s)
			}
		}},
	{"managed memory", false, bad, func(t *testing.T, tab *driver.Table, _, b driver.CUcontext) (p driver.CUdeviceptr,
		free func() driver.CUresult) {
		must(t, tab.MemAllocManaged(b, &p, freedSize, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
		return p, func() driver.CUresult { return tab.MemFree_v2(b, p) }
	}},
	{"pinned memory", false, driver.CUDA_SUCCESS, func(t *testing.T, tab *driver.Table, _,
		b driver.CUcontext) (driver.CUdeviceptr, func() driver.CUresult) {
		var h unsafe.Pointer
		must(t, tab.MemAllocHost_v2(b, &h, freedSize))
		return driver.CUdeviceptr(uintptr(h)), func() driver.CUresult { return tab.MemFreeHost(b, h) }
	}},
}

// freedWork queues work on memory at p; q is memory that stays.
var freedWork = []struct {
	name  string
	value bool // an operation on a value
	queue func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p, q driver.CUdeviceptr) driver.CUresult
}{
	{"fill of bytes", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		_ driver.CUdeviceptr) driver.CUresult {
		return tab.MemsetD8Async(a, p, 1, freedSize, s)
	}},
	{"fill of words", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		_ driver.CUdeviceptr) driver.CUresult {
		return tab.MemsetD32Async(a, p, 1, freedSize/4, s)
	}},
	{"fill of rows", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		_ driver.CUdeviceptr) driver.CUresult {
		return tab.MemsetD2D16Async(a, p, 4096, 1, 1000, 1000, s)
	}},
	{"copy to it", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		q driver.CUdeviceptr) driver.CUresult {
		return tab.MemcpyAsync(a, p, q, freedSize, s)
	}},
	{"copy from it", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		q driver.CUdeviceptr) driver.CUresult {
		return tab.MemcpyAsync(a, q, p, freedSize, s)
	}},
	{"copy of rows", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		q driver.CUdeviceptr) driver.CUresult {
		return tab.Memcpy2DAsync_v2(a, &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_UNIFIED,
			DstMemoryType: driver.CU_MEMORYTYPE_UNIFIED, SrcDevice: p, DstDevice: q,
			SrcPitch: 4096, DstPitch: 2048, WidthInBytes: 2000, Height: 1000}, s)
	}},
	{"copy of slices", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		q driver.CUdeviceptr) driver.CUresult {
		return tab.Memcpy3DAsync_v2(a, &driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_UNIFIED,
			DstMemoryType: driver.CU_MEMORYTYPE_UNIFIED, SrcDevice: q, DstDevice: p,
			WidthInBytes: 64, Height: 64, Depth: 64}, s)
	}},
	{"batch of copies", false, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		q driver.CUdeviceptr) driver.CUresult {
		size, attrs, first := uint64(freedSize),
			driver.CUmemcpyAttributes{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}, uint64(0)
		return tab.MemcpyBatchAsync_v2(a, &q, &p, &size, 1, &attrs, &first, 1, s)
	}},
	{"write of a value", true, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		_ driver.CUdeviceptr) driver.CUresult {
		return tab.StreamWriteValue32_v2(a, s, p+4096, 7, 0)
	}},
	{"wait for a value", true, func(tab *driver.Table, a driver.CUcontext, s driver.CUstream, p,
		_ driver.CUdeviceptr) driver.CUresult {
		return tab.StreamWaitValue64_v2(a, s, p+4096, 0, uint32(driver.CU_STREAM_WAIT_VALUE_GEQ))
	}},
}

// lost is what the wait for work on memory gives that has gone.
func lost(value bool) driver.CUresult {
	if value {
		return driver.CUDA_ERROR_LAUNCH_FAILED
	}
	return driver.CUDA_ERROR_ILLEGAL_ADDRESS
}

func TestFreedUnderQueuedWork(t *testing.T) {
	for _, m := range freedCases {
		for _, w := range freedWork {
			t.Run(m.name+"/"+w.name, func(t *testing.T) {
				d, tab, a := open(t, Options{})
				s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
				q := alloc(t, tab, a, freedSize)
				var b driver.CUcontext
				must(t, tab.CtxCreate_v2(a, &b, 0, 0))
				p, free := m.take(t, tab, a, b)
				g := newGate()
				g.hold(t, tab, a, s)
				queued, result := driver.CUDA_SUCCESS, lost(w.value)
				if w.value {
					queued = m.value
				}
				if m.stays || queued != driver.CUDA_SUCCESS {
					result = driver.CUDA_SUCCESS
				}
				want(t, "queued", w.queue(tab, a, s, p, q), queued)
				must(t, free())
				close(g.open)
				want(t, "wait", tab.StreamSynchronize(a, s), result)
				want(t, "next call", tab.CtxSynchronize(a), result)
				if text := d.LastDetail(a); text == "" && result != driver.CUDA_SUCCESS {
					t.Error("nothing says what happened")
				}
			})
		}
	}
}

// An array's memory stays, too, when its context is destroyed.
func TestArrayDestroyedUnderQueuedWork(t *testing.T) {
	_, tab, a := open(t, Options{})
	s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
	q := alloc(t, tab, a, freedSize)
	var b driver.CUcontext
	must(t, tab.CtxCreate_v2(a, &b, 0, 0))
	var array driver.CUarray
	must(t, tab.ArrayCreate_v2(b, &array, &driver.CUDA_ARRAY_DESCRIPTOR{Width: 2048, Height: 1024,
		Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1}))
	g := newGate()
	g.hold(t, tab, a, s)
	must(t, tab.Memcpy2DAsync_v2(a, &driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: q,
		SrcPitch: 8192, DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: array,
		WidthInBytes: 8192, Height: 1024}, s))
	must(t, tab.CtxDestroy_v2(b, b))
	close(g.open)
	want(t, "wait", tab.StreamSynchronize(a, s), driver.CUDA_SUCCESS)
}

// Work of graphs looks its memory up when it runs, and reaches it a little later.
func TestFreedUnderGraph(t *testing.T) {
	for _, m := range freedCases {
		t.Run(m.name, func(t *testing.T) {
			_, tab, a := open(t, Options{})
			s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
			var b driver.CUcontext
			must(t, tab.CtxCreate_v2(a, &b, 0, 0))
			p, free := m.take(t, tab, a, b)
			var g driver.CUgraph
			var n driver.CUgraphNode
			var x driver.CUgraphExec
			must(t, tab.GraphCreate(a, &g, 0))
			must(t, tab.GraphAddMemsetNode(a, &n, g, nil, 0,
				&driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, ElementSize: 1, Width: freedSize, Height: 1}, a))
			must(t, tab.GraphInstantiateWithFlags(a, &x, g, 0))
			h := newGate()
			h.hold(t, tab, a, s)
			must(t, tab.GraphLaunch(a, x, s))
			must(t, free())
			close(h.open)
			result := driver.CUDA_ERROR_ILLEGAL_ADDRESS
			if m.stays {
				result = driver.CUDA_SUCCESS
			}
			want(t, "wait", tab.StreamSynchronize(a, s), result)
		})
	}
}

// Host memory that is not there, given to a call that uses it before it returns, is answered by that call. Where the
// call has returned, the work faults.
func TestHostMemoryNotThere(t *testing.T) {
	const size = 128 << 10
	constant := "text that the linker has put where nobody can write"
	none := foreign(0x8000) // below what any system lets a process map
	for _, c := range []struct {
		name string
		p    unsafe.Pointer
		n    uint64
		read bool // it can be read
	}{
		{"no memory", none, 4, false},
		{"no memory, more than is staged", none, size, false},
		{"memory that is only for reading", unsafe.Pointer(unsafe.StringData(constant)), 8, true},
		{"behind the address space", foreign(^uint64(0) - 4095), 4095, false},
		{"no address", foreign(1 << 62), 4096, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, tab, ctx := open(t, Options{})
			q := alloc(t, tab, ctx, size)
			s := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
			p := driver.CUdeviceptr(uintptr(c.p))
			from := bad
			if c.read {
				from = driver.CUDA_SUCCESS
			}
			calls := func(state string) {
				t.Helper()
				want(t, state+"cuMemcpyHtoDAsync", tab.MemcpyHtoDAsync_v2(ctx, q, c.p, c.n, s), from)
				if state == "" {
					want(t, "cuMemcpyHtoD", tab.MemcpyHtoD_v2(ctx, q, c.p, c.n), from)
					want(t, "cuMemcpyDtoH", tab.MemcpyDtoH_v2(ctx, c.p, q, c.n), bad)
					want(t, "cuMemcpyDtoHAsync", tab.MemcpyDtoHAsync_v2(ctx, c.p, q, c.n, s), bad)
					want(t, "cuMemcpy to it", tab.Memcpy(ctx, p, q, c.n), bad)
					want(t, "cuMemcpy from it", tab.Memcpy(ctx, q, p, c.n), from)
					box := driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE,
						DstMemoryType: driver.CU_MEMORYTYPE_HOST, SrcDevice: q, DstHost: uintptr(c.p),
						WidthInBytes: c.n, Height: 1}
					want(t, "cuMemcpy2DAsync", tab.Memcpy2DAsync_v2(ctx, &box, s), bad)
				}
			}
			calls("")
			if d.LastDetail(ctx) == "" {
				t.Error("nothing says what is wrong")
			}
			if c.n < size {
				g := newGate()
				g.hold(t, tab, ctx, s)
				calls("on a stream at work, ") // small copies are staged then
				close(g.open)
			}
			want(t, "afterwards", tab.CtxSynchronize(ctx), driver.CUDA_SUCCESS)
			attrs, first := driver.CUmemcpyAttributes{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
				uint64(0)
			r := tab.MemcpyBatchAsync_v2(ctx, &q, &p, &c.n, 1, &attrs, &first, 1, s)
			if r == driver.CUDA_SUCCESS && !c.read {
				want(t, "a batch in stream order", tab.StreamSynchronize(ctx, s), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
			}
		})
	}
	_, tab, ctx := open(t, Options{})
	buf := make([]byte, 16)
	p := driver.CUdeviceptr(uintptr(unsafe.Pointer(&buf[0])))
	for _, n := range []uint64{1<<47 + 1, 1 << 62, 1 << 63, ^uint64(0), -uint64(p)} {
		want(t, "cuMemcpy of too much", tab.Memcpy(ctx, p, p, n), bad)
	}
}

// What a destroyed context has left is freed when the work of others is done, by nobody else, and once.
func TestMemoryOfDestroyedContext(t *testing.T) {
	d, tab, a := open(t, Options{})
	s := newTestStream(t, tab, a, uint32(driver.CU_STREAM_NON_BLOCKING))
	var b driver.CUcontext
	must(t, tab.CtxCreate_v2(a, &b, 0, 0))
	var h unsafe.Pointer
	p := alloc(t, tab, b, freedSize)
	must(t, tab.MemAllocHost_v2(b, &h, freedSize))
	used := d.devices[0].heap.Usage().Used
	g := newGate()
	g.hold(t, tab, a, s)
	must(t, tab.CtxDestroy_v2(b, b))
	want(t, "cuMemFree", tab.MemFree_v2(a, p), bad)
	want(t, "cuMemFreeHost", tab.MemFreeHost(a, h), bad)
	if now := d.devices[0].heap.Usage().Used; now != used {
		t.Errorf("%d bytes in use while work is queued, %d before", now, used)
	}
	close(g.open)
	must(t, tab.StreamSynchronize(a, s))
	d.leftovers.reap()
	if now := d.devices[0].heap.Usage().Used; now != used-freedSize {
		t.Errorf("%d bytes in use, want %d", now, used-freedSize)
	}
	want(t, "cuMemFree afterwards", tab.MemFree_v2(a, p), bad)
}
