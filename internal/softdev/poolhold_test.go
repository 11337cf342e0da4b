package softdev

import (
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// What pools hold back: CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, cuMemPoolTrimTo, and the units that the recorded pools with
// a maxSize show.
func TestPoolHolds(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	props := driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
	var pool driver.CUmemoryPool
	must(t, tab.MemPoolCreate(ctx, &pool, &props))
	s := newTestStream(t, tab, ctx, 1)
	is := func(what string, attr driver.CUmemPool_attribute, want uint64) {
		t.Helper()
		n := uint64(9)
		must(t, tab.MemPoolGetAttribute(ctx, pool, attr, unsafe.Pointer(&n)))
		if n != want {
			t.Errorf("%s: attribute %d is %d, want %d", what, attr, n, want)
		}
	}
	var free0, free, total uint64
	must(t, tab.MemGetInfo_v2(ctx, &free0, &total))
	const n = 33 << 20
	var p driver.CUdeviceptr
	use := func() {
		t.Helper()
		must(t, tab.MemAllocFromPoolAsync(ctx, &p, n, pool, s))
		must(t, tab.MemFreeAsync(ctx, p, s))
		must(t, tab.StreamSynchronize(ctx, s))
	}
	use()
	is("no threshold", driver.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 0)
	is("no threshold", driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, 2*poolChunk)
	is("no threshold", driver.CU_MEMPOOL_ATTR_USED_MEM_HIGH, n)
	most := ^uint64(0)
	must(t, tab.MemPoolSetAttribute(ctx, pool, driver.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, unsafe.Pointer(&most)))
	use()
	is("threshold", driver.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, 2*poolChunk)
	is("threshold", driver.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, 0)
	if must(t, tab.MemGetInfo_v2(ctx, &free, &total)); free0-free != 2*poolChunk {
		t.Errorf("%d bytes are held back", free0-free)
	}
	must(t, tab.MemPoolTrimTo(ctx, pool, poolChunk+1))
	is("trimmed", driver.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, poolChunk)
	zero := uint64(0)
	must(t, tab.MemPoolSetAttribute(ctx, pool, driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, unsafe.Pointer(&zero)))
	is("reset", driver.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, poolChunk)
	must(t, tab.MemPoolTrimTo(ctx, pool, 0))
	if must(t, tab.MemGetInfo_v2(ctx, &free, &total)); free != free0 {
		t.Errorf("%d bytes are missing", free0-free)
	}
	props.MaxSize = 1 // means one chunk (recorded)
	must(t, tab.MemPoolCreate(ctx, &pool, &props))
	want(t, "33 MiB of one byte", tab.MemAllocFromPoolAsync(ctx, &p, n, pool, s), driver.CUDA_ERROR_OUT_OF_MEMORY)
	must(t, tab.MemAllocFromPoolAsync(ctx, &p, 1<<20, pool, s))
}
