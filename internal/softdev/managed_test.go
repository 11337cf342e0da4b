package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// What an H200 (driver 580.159.04) answered to programs that nobody had recorded.

func TestAccessedBy(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var p driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &p, 4096, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
	must(t, tab.MemAdvise_v2(ctx, p, 4096, driver.CU_MEM_ADVISE_SET_ACCESSED_BY,
		driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}))
	must(t, tab.MemAdvise_v2(ctx, p, 4096, driver.CU_MEM_ADVISE_SET_ACCESSED_BY,
		driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}))
	var list [3]int32
	must(t, tab.MemRangeGetAttribute(ctx, unsafe.Pointer(&list), 12, driver.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
		4096))
	if list != [3]int32{0, -1, -2} { // the device first, whatever the order of the advice
		t.Errorf("%v", list)
	}
}

func TestSyncMemopsOfManagedMemory(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var p driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &p, 4096, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
	on := uint32(1)
	must(t, tab.PointerSetAttribute(ctx, unsafe.Pointer(&on), driver.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p))
}

func TestCopyOfClosedPool(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var p, q driver.CUdeviceptr
	var pool driver.CUmemoryPool
	must(t, tab.MemAllocManaged(ctx, &p, 4096, uint32(driver.CU_MEM_ATTACH_GLOBAL)))
	must(t, tab.MemPoolCreate(ctx, &pool, &driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}}))
	must(t, tab.MemAllocFromPoolAsync(ctx, &q, 4096, pool, 0))
	must(t, tab.MemsetD32_v2(ctx, p, 5, 1024))
	must(t, tab.MemcpyAsync(ctx, q, p, 4096, 0))
	must(t, tab.MemsetD32_v2(ctx, p, 6, 1024))
	must(t, tab.MemcpyAsync(ctx, p, q, 4096, 0))
	if v := read32(t, tab, ctx, p); v != 5 {
		t.Errorf("%d came back", v)
	}
	// recorded: reach/host-pool/device
	want(t, "as device memory", tab.MemcpyDtoD_v2(ctx, q, alloc(t, tab, ctx, 64), 64), bad)
	// recorded: pool/create/1/host
	want(t, "a fill", tab.MemsetD8_v2(ctx, q, 1, 64), bad)
	want(t, "more than there is", tab.MemcpyAsync(ctx, q, p, 4097, 0), bad)
}

func TestCheckpointBeforeInit(t *testing.T) {
	d, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var state driver.CUprocessState
	want(t, "state", d.Table().CheckpointProcessGetState(0, 1, &state), notSupported)
	want(t, "lock", d.Table().CheckpointProcessLock(0, 1, nil), notSupported)
}
