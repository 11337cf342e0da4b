package softdev

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/skip"
)

// TestVirtualMemoryFacts replays the recorded calls of group vmm.
func TestVirtualMemoryFacts(t *testing.T) {
	var facts recorded
	readFacts(t, "graph.json", &facts)
	_, tab, ctx := open(t, Options{Profiles: []string{""}})
	is := func(id string, r driver.CUresult) { t.Helper(); facts.want(t, "vmm/"+id, r) }
	props := func(typ driver.CUmemAllocationType, loc driver.CUmemLocationType, id int32) *driver.CUmemAllocationProp {
		return &driver.CUmemAllocationProp{Type: typ, Location: driver.CUmemLocation{Type: loc, Id: id}}
	}
	pr := props(1, 1, 0)
	const g2 = 2 << 20
	g := uint64(0)
	for o := range driver.CUmemAllocationGranularity_flags(3) {
		is(fmt.Sprintf("gran%d", o), tab.MemGetAllocationGranularity(ctx, &g, pr, o))
	}
	facts.out(t, "vmm/gran0", g)
	is("gran_dev9", tab.MemGetAllocationGranularity(ctx, &g, props(1, 1, 9), 0))
	is("gran_type0", tab.MemGetAllocationGranularity(ctx, &g, props(0, 1, 0), 0))
	is("gran_host", tab.MemGetAllocationGranularity(ctx, &g, props(1, 2, 0), 0))
	var p driver.CUdeviceptr
	// 1<<46 is more than the window
	for _, c := range [][2]uint64{{g2, 0}, {g2, g2}, {g2, 4096}, {100, 0}, {0, 0}, {g2 + 1, 0}, {g2, 3}, {1 << 50, 0},
		{4096, 0}, {65536, 0}} {
		is(fmt.Sprintf("reserve/%d/%d", c[0], c[1]), tab.MemAddressReserve(ctx, &p, c[0], c[1], 0, 0))
	}
	is("reserve_flags", tab.MemAddressReserve(ctx, &p, g2, 0, 0, 1))
	var h, h2 driver.CUmemGenericAllocationHandle
	if r := tab.MemCreate(ctx, &h, g2, pr, 0); r == driver.CUDA_ERROR_NOT_SUPPORTED {
		skip.Without(t, skip.Stores)
	}
	is("create", tab.MemCreate(ctx, &h, g2, pr, 0))
	is("create_100", tab.MemCreate(ctx, &h2, 100, pr, 0))
	is("create0", tab.MemCreate(ctx, &h2, 0, pr, 0))
	is("create_flags", tab.MemCreate(ctx, &h2, g2, pr, 1))
	is("create_huge", tab.MemCreate(ctx, &h2, 1<<45, pr, 0))
	var va driver.CUdeviceptr
	must(t, tab.MemAddressReserve(ctx, &va, 2*g2, 0, 0, 0))
	host := make([]byte, 64)
	write := func() driver.CUresult { return tab.MemcpyHtoD_v2(ctx, va, unsafe.Pointer(&host[0]), 16) }
	where := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}
	access := driver.CUmemAccessDesc{Location: where, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	flags := uint64(9)
	is("copy_unmapped", write())
	is("map_off1", tab.MemMap(ctx, va, g2, 1, h, 0))
	is("map_size", tab.MemMap(ctx, va, 2*g2, 0, h, 0))
	is("map_small", tab.MemMap(ctx, va, 4096, 0, h, 0))
	is("map", tab.MemMap(ctx, va, g2, 0, h, 0))
	is("map_again", tab.MemMap(ctx, va, g2, 0, h, 0))
	is("copy_noaccess", write())
	is("access_get", tab.MemGetAccess(ctx, &flags, &where, va))
	facts.out(t, "vmm/access_get", flags)
	is("setaccess_beyond", tab.MemSetAccess(ctx, va, 2*g2, &access, 1))
	is("setaccess", tab.MemSetAccess(ctx, va, g2, &access, 1))
	is("access_get2", tab.MemGetAccess(ctx, &flags, &where, va))
	facts.out(t, "vmm/access_get2", flags)
	is("copy", write())
	var base driver.CUdeviceptr
	var size uint64
	is("range", tab.MemGetAddressRange_v2(ctx, &base, &size, va+8))
	if base != va || size != g2 {
		t.Errorf("range %#x %d", base, size)
	}
	is("memfree", tab.MemFree_v2(ctx, va))
	for _, a := range []driver.CUpointer_attribute{1, 2, 3, 4, 7, 8, 9, 11, 12, 13, 14, 17, 18, 19, 20} {
		v := uint64(0)
		is(fmt.Sprintf("ptrattr%d", a), tab.PointerGetAttribute(ctx, unsafe.Pointer(&v), a, va))
		// the recorded values
		expect := map[driver.CUpointer_attribute]uint64{1: 0, 2: 2, 3: uint64(va), 4: 0, 8: 0, 9: 0, 11: uint64(va),
			12: 2 * g2, 13: 1, 14: 0, 17: 0, 18: g2, 19: uint64(va)}
		if w, ok := expect[a]; ok && v != w {
			t.Errorf("attribute %d: %#x, want %#x", a, v, w)
		}
	}
	is("retain", tab.MemRetainAllocationHandle(ctx, &h2, uintptr(va)))
	if h2 != h {
		t.Errorf("retained %#x, made %#x", h2, h)
	}
	is("map_second", tab.MemMap(ctx, va+g2, g2, 0, h, 0))
	is("setaccess2", tab.MemSetAccess(ctx, va+g2, g2, &access, 1))
	must(t, tab.MemsetD32_v2(ctx, va, 0x77, 4))
	if v := read32(t, tab, ctx, va+g2); v != 0x77 {
		t.Errorf("the second mapping has %#x", v)
	}
	// Mappings side by side are one range to copies, as the expandable segments of PyTorch need it.
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&host[0]), va+g2-8, 16))
	if host[8] != 0x77 {
		t.Errorf("a copy across two mappings read %x", host[:16])
	}
	if r := tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&host[0]), va+2*g2-8, 16); r != driver.CUDA_ERROR_INVALID_VALUE {
		t.Errorf("a copy past the last mapping: %v", r)
	}
	is("release", tab.MemRelease(ctx, h))
	is("release2", tab.MemRelease(ctx, h))
	is("release3", tab.MemRelease(ctx, h))
	is("free_mapped", tab.MemAddressFree(ctx, va, 2*g2))
	is("unmap_half", tab.MemUnmap(ctx, va, 4096))
	is("unmap", tab.MemUnmap(ctx, va, g2))
	is("unmap_again", tab.MemUnmap(ctx, va, g2))
	is("copy_after", write())
	is("unmap2", tab.MemUnmap(ctx, va+g2, g2))
	is("free_part", tab.MemAddressFree(ctx, va, g2))
	is("free", tab.MemAddressFree(ctx, va, 2*g2))
	is("free2", tab.MemAddressFree(ctx, va, 2*g2))
}

// Memory for reading cannot be written by copies (here; hardware would fault), and a file descriptor carries memory to
// another driver, as to another process (cuMemExportToShareableHandle).
func TestShareableMemory(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	_, tab2, ctx2 := open(t, Options{})
	const g2 = 2 << 20
	pr := driver.CUmemAllocationProp{Type: 1, RequestedHandleTypes: driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		Location: driver.CUmemLocation{Type: 1}}
	var h, h2 driver.CUmemGenericAllocationHandle
	if r := tab.MemCreate(ctx, &h, g2, &pr, 0); r == driver.CUDA_ERROR_NOT_SUPPORTED {
		skip.Without(t, skip.Stores)
	}
	fd := int32(-1)
	want(t, "type that was not asked for", tab.MemExportToShareableHandle(ctx, unsafe.Pointer(&fd), h,
		driver.CU_MEM_HANDLE_TYPE_FABRIC, 0), bad)
	must(t, tab.MemExportToShareableHandle(ctx, unsafe.Pointer(&fd), h, driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
		0))
	defer os.NewFile(uintptr(fd), "shared").Close()
	must(t, tab2.MemImportFromShareableHandle(ctx2, &h2, uintptr(fd), driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR))
	mapped := func(tab *driver.Table, ctx driver.CUcontext, h driver.CUmemGenericAllocationHandle,
		flags driver.CUmemAccess_flags) (p driver.CUdeviceptr) {
		t.Helper()
		must(t, tab.MemAddressReserve(ctx, &p, g2, 0, 0, 0))
		must(t, tab.MemMap(ctx, p, g2, 0, h, 0))
		must(t, tab.MemSetAccess(ctx, p, g2, &driver.CUmemAccessDesc{Location: driver.CUmemLocation{Type: 1},
			Flags: flags}, 1))
		return p
	}
	p, q := mapped(tab, ctx, h, driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE),
		mapped(tab2, ctx2, h2, driver.CU_MEM_ACCESS_FLAGS_PROT_READ)
	must(t, tab.MemsetD32_v2(ctx, p, 0xabcd, 16))
	if v := read32(t, tab2, ctx2, q); v != 0xabcd {
		t.Errorf("the other driver reads %#x", v)
	}
	v := uint32(1)
	want(t, "write", tab2.MemcpyHtoD_v2(ctx2, q, unsafe.Pointer(&v), 4), bad)
	want(t, "fill", tab2.MemsetD32_v2(ctx2, q, 1, 1), bad)
	var back driver.CUmemAllocationProp
	must(t, tab.MemGetAllocationPropertiesFromHandle(ctx, &back, h))
	if back != pr {
		t.Errorf("properties %+v", back)
	}
}

// Advice and prefetches of managed memory, as cuMemRangeGetAttribute documents them.
func TestAdvice(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var p driver.CUdeviceptr
	must(t, tab.MemAllocManaged(ctx, &p, 4<<20, 1))
	get := func(a driver.CUmem_range_attribute, at driver.CUdeviceptr, n uint64) (v int32) {
		t.Helper()
		v = 99
		must(t, tab.MemRangeGetAttribute(ctx, unsafe.Pointer(&v), 4, a, at, n))
		return v
	}
	dev0 := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}
	hostLoc := driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST}
	const m = 1 << 20
	if get(1, p, m) != 0 || get(2, p, m) != int32(driver.CU_DEVICE_INVALID) ||
		get(4, p, m) != int32(driver.CU_DEVICE_INVALID) {
		t.Error("fresh memory has advice")
	}
	must(t, tab.MemAdvise_v2(ctx, p+m, 2*m, driver.CU_MEM_ADVISE_SET_READ_MOSTLY, dev0))
	must(t, tab.MemAdvise(ctx, p, 2*m, driver.CU_MEM_ADVISE_SET_PREFERRED_LOCATION, driver.CU_DEVICE_CPU))
	must(t, tab.MemAdvise_v2(ctx, p, 4*m, driver.CU_MEM_ADVISE_SET_ACCESSED_BY, dev0))
	must(t, tab.MemAdvise_v2(ctx, p, m, driver.CU_MEM_ADVISE_SET_ACCESSED_BY, hostLoc))
	for _, c := range []struct {
		attr   driver.CUmem_range_attribute
		off, n uint64
		v      int32
	}{
		{1, 0, m, 0}, {1, m, 2 * m, 1}, {1, m, 3 * m, 0}, {1, m + 100, 8, 1}, {2, 0, 2 * m, -1}, {2, 0, 3 * m, -2},
		{5, 0, m, 2}, {5, 3 * m, m, 0},
	} {
		if v := get(c.attr, p+driver.CUdeviceptr(c.off), c.n); v != c.v {
			t.Errorf("attribute %d of %d+%d: %d, want %d", c.attr, c.off, c.n, v, c.v)
		}
	}
	by := make([]int32, 3)
	must(t, tab.MemRangeGetAttribute(ctx, unsafe.Pointer(&by[0]), 12, driver.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, m))
	if by[0] != 0 || by[1] != -1 || by[2] != -2 {
		t.Errorf("accessed by %v", by)
	}
	must(t, tab.MemRangeGetAttribute(ctx, unsafe.Pointer(&by[0]), 12, driver.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p,
		4*m))
	if by[0] != 0 || by[1] != -2 {
		t.Errorf("all is accessed by %v", by)
	}
	must(t, tab.MemAdvise_v2(ctx, p, 4*m, driver.CU_MEM_ADVISE_UNSET_READ_MOSTLY, dev0))
	if get(1, p+m, m) != 0 {
		t.Error("advice was not taken back")
	}
	must(t, tab.MemPrefetchAsync_v2(ctx, p, 2*m, dev0, 0, 0))
	sizes, ptrs := []uint64{m, m}, []driver.CUdeviceptr{p + 2*m, p + 3*m}
	locs, idxs := []driver.CUmemLocation{dev0, hostLoc}, []uint64{0, 1}
	must(t, tab.MemPrefetchBatchAsync(ctx, &ptrs[0], &sizes[0], 2, &locs[0], &idxs[0], 2, 0, 0))
	if get(4, p, 3*m) != 0 || get(4, p+3*m, m) != -1 || get(4, p, 4*m) != -2 {
		t.Errorf("prefetched to %d %d %d", get(4, p, 3*m), get(4, p+3*m, m), get(4, p, 4*m))
	}
	want(t, "discard", tab.MemDiscardBatchAsync(ctx, &ptrs[0], &sizes[0], 2, 0, 0), driver.CUDA_SUCCESS)
	want(t, "device 9", tab.MemPrefetchAsync(ctx, p, m, 9, 0), driver.CUDA_ERROR_INVALID_DEVICE)
	want(t, "beyond the end", tab.MemPrefetchAsync_v2(ctx, p, 5*m, dev0, 0, 0), bad)
	want(t, "other memory", tab.MemAdvise_v2(ctx, alloc(t, tab, ctx, 64), 64, driver.CU_MEM_ADVISE_SET_READ_MOSTLY,
		dev0), bad)
	want(t, "size", tab.MemRangeGetAttribute(ctx, unsafe.Pointer(&by[0]), 8, 1, p, m), bad)
}

// Batches of copies (cuMemcpyBatchAsync, cuMemcpy3DBatchAsync).
func TestCopyBatch(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	s := newTestStream(t, tab, ctx, 1)
	p := alloc(t, tab, ctx, 4096)
	host := []uint32{1, 2, 3, 4, 0, 0, 0, 0}
	h := driver.CUdeviceptr(address(t, &host[0]))
	dsts, srcs, sizes := []driver.CUdeviceptr{p, p + 64}, []driver.CUdeviceptr{h, h + 8}, []uint64{8, 8}
	attrs, idx := driver.CUmemcpyAttributes{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL},
		uint64(0)
	must(t, tab.MemcpyBatchAsync_v2(ctx, &dsts[0], &srcs[0], &sizes[0], 2, &attrs, &idx, 1, s))
	must(t, tab.StreamSynchronize(ctx, s))
	if a, b := read32(t, tab, ctx, p+4), read32(t, tab, ctx, p+64); a != 2 || b != 3 {
		t.Errorf("%d %d", a, b)
	}
	want(t, "default stream", tab.MemcpyBatchAsync_v2(ctx, &dsts[0], &srcs[0], &sizes[0], 2, &attrs, &idx, 1, 0), bad)
	sizes[1] = 1 << 30
	fail := uint64(7)
	want(t, "too long", tab.MemcpyBatchAsync(ctx, &dsts[0], &srcs[0], &sizes[0], 2, &attrs, &idx, 1, &fail, s), bad)
	if fail != 1 {
		t.Errorf("fail index %d", fail)
	}
	attrs.SrcAccessOrder = 0
	want(t, "order 0", tab.MemcpyBatchAsync_v2(ctx, &dsts[0], &srcs[0], &sizes[0], 2, &attrs, &idx, 1, s), bad)
	// 2 x 2 bytes out of rows of 64 into rows of 8.
	o := driver.CUDA_MEMCPY3D_BATCH_OP{Extent: driver.CUextent3D{Width: 4, Height: 2, Depth: 1},
		SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}
	o.Src.Type, o.Dst.Type = driver.CU_MEMCPY_OPERAND_TYPE_POINTER, driver.CU_MEMCPY_OPERAND_TYPE_POINTER
	*o.Src.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: p, RowLength: 64, LayerHeight: 2}
	*o.Dst.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: p + 1024, RowLength: 8, LayerHeight: 2}
	must(t, tab.Memcpy3DBatchAsync_v2(ctx, 1, &o, 0, s))
	must(t, tab.StreamSynchronize(ctx, s))
	if a, b := read32(t, tab, ctx, p+1024), read32(t, tab, ctx, p+1032); a != 1 || b != 3 {
		t.Errorf("3D: %d %d", a, b)
	}
}

// The first versions of the calls want a context of the API's first version (cases zeros/context of
// internal/conform/api). They cannot give an address of 64 bits; those that take one work as far as it is short.
func TestOldMemoryCalls(t *testing.T) {
	_, tab, primary := open(t, Options{})
	p := driver.CUdeviceptr_v1(7)
	want(t, "primary context", tab.MemAlloc(primary, &p, 16), driver.CUDA_ERROR_INVALID_CONTEXT)
	must(t, tab.DevicePrimaryCtxRelease_v2(0, 0))
	var ctx driver.CUcontext
	must(t, tab.CtxCreate(0, &ctx, 0, 0))
	want(t, "alloc", tab.MemAlloc(ctx, &p, 16), driver.CUDA_ERROR_NOT_SUPPORTED)
	var free, total uint32
	must(t, tab.MemGetInfo(ctx, &free, &total))
	if p != 0 || total != 1<<32-1 {
		t.Errorf("address %#x, total %d", p, total)
	}
	want(t, "free 0", tab.MemFree(ctx, 0), driver.CUDA_SUCCESS)
	want(t, "short address", tab.MemsetD8(ctx, 0x1000, 1, 16), bad)
	want(t, "nothing", tab.MemcpyDtoD(ctx, 0, 0, 0), driver.CUDA_SUCCESS)
}
