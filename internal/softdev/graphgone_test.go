package softdev

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// TestReadOnlyMemory: what the driver itself writes outside kernels refuses a mapping for reading, where a store would
// end the process: fills in graphs and memory operations.
func TestReadOnlyMemory(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	const size = 2 << 20
	pr := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
	var h driver.CUmemGenericAllocationHandle
	if r := tab.MemCreate(ctx, &h, size, &pr, 0); r == driver.CUDA_ERROR_NOT_SUPPORTED {
		skip.Without(t, skip.Stores)
	}
	var p driver.CUdeviceptr
	must(t, tab.MemAddressReserve(ctx, &p, size, 0, 0, 0))
	must(t, tab.MemMap(ctx, p, size, 0, h, 0))
	must(t, tab.MemSetAccess(ctx, p, size, &driver.CUmemAccessDesc{Location: pr.Location,
		Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READ}, 1))
	var s driver.CUstream
	must(t, tab.StreamCreate(ctx, &s, uint32(driver.CU_STREAM_NON_BLOCKING)))
	want(t, "cuStreamWriteValue32", tab.StreamWriteValue32_v2(ctx, s, p, 1, 0), bad)
	want(t, "cuStreamWriteValue64", tab.StreamWriteValue64_v2(ctx, s, p, 1, 0), bad)
	must(t, tab.StreamWaitValue32_v2(ctx, s, p, 0, uint32(driver.CU_STREAM_WAIT_VALUE_EQ)))
	must(t, tab.StreamSynchronize(ctx, s))
	b := newGraphMaker(t, tab, ctx)
	var n driver.CUgraphNode
	fill := driver.CUDA_MEMSET_NODE_PARAMS{Dst: p, Value: 1, ElementSize: 4, Width: 1, Height: 1}
	want(t, "cuGraphAddMemsetNode", tab.GraphAddMemsetNode(ctx, &n, b.g, nil, 0, &fill, ctx), bad)
}

// TestGraphOperationWithoutMemory: memory of a node's memory operation that is freed before the launch is a fault of
// the context, not of the process.
func TestGraphOperationWithoutMemory(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	p := alloc(t, tab, ctx, 4<<20)
	b := newGraphMaker(t, tab, ctx)
	var op driver.CUstreamBatchMemOpParams
	w := op.WriteValue()
	w.Operation, w.Address = driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, p
	*w.Value() = 5
	params := driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: ctx, Count: 1, ParamArray: &op}
	var n driver.CUgraphNode
	must(t, tab.GraphAddBatchMemOpNode(ctx, &n, b.g, nil, 0, &params))
	x := b.instantiate(0)
	must(t, tab.GraphLaunch(ctx, x, 0))
	must(t, tab.CtxSynchronize(ctx))
	var v uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	if v != 5 {
		t.Errorf("%d, want 5", v)
	}
	must(t, tab.MemFree_v2(ctx, p))
	must(t, tab.GraphLaunch(ctx, x, 0))
	want(t, "without the memory", tab.CtxSynchronize(ctx), driver.CUDA_ERROR_ILLEGAL_ADDRESS)
	if text := d.LastDetail(ctx); !strings.Contains(text, "memory operation") {
		t.Errorf("%q", text)
	}
}
