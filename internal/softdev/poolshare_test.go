package softdev

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/skip"
)

const fdType = driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

func deviceProps(handles driver.CUmemAllocationHandleType) driver.CUmemPoolProps {
	return driver.CUmemPoolProps{AllocType: driver.CU_MEM_ALLOCATION_TYPE_PINNED, HandleTypes: handles,
		Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}}
}

// TestPoolShared: a pool's descriptor and the data of a pointer give another process the memory; it can be freed there
// and here, and the imported pool allocates nothing (cuMemPoolImportFromShareableHandle). A store of cuMemCreate goes
// the same way.
func TestPoolShared(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	tab, ctx := ipcDevice(t)
	props := deviceProps(fdType)
	var pool driver.CUmemoryPool
	must(t, tab.MemPoolCreate(ctx, &pool, &props))
	var fd, vfd int32
	must(t, tab.MemPoolExportToShareableHandle(ctx, unsafe.Pointer(&fd), pool, fdType, 0))
	prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, RequestedHandleTypes: fdType,
		Location: props.Location}
	var store driver.CUmemGenericAllocationHandle
	must(t, tab.MemCreate(ctx, &store, 2<<20, &prop, 0))
	must(t, tab.MemExportToShareableHandle(ctx, unsafe.Pointer(&vfd), store, fdType, 0))
	poolFile, vmmFile := os.NewFile(uintptr(fd), "pool"), os.NewFile(uintptr(vfd), "store")
	other := startPeer(t, poolFile, vmmFile)
	for _, f := range []*os.File{poolFile, vmmFile} {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	other.do("CUDA_SUCCESS", "pool")
	other.do("CUDA_ERROR_INVALID_VALUE", "poolalloc")
	for i, size := range []uint64{100, 5 << 20} { // after the pool was opened
		var p driver.CUdeviceptr
		must(t, tab.MemAllocFromPoolAsync(ctx, &p, size, pool, 0))
		must(t, tab.MemsetD32_v2(ctx, p, 17, size/4))
		must(t, tab.CtxSynchronize(ctx))
		var data driver.CUmemPoolPtrExportData
		must(t, tab.MemPoolExportPointer(ctx, &data, p))
		other.do("CUDA_SUCCESS", "pointer p%d %x", i, data.Reserved)
		other.do(fmt.Sprintf("CUDA_SUCCESS true %d", size), "range p%d", i)
		other.do("CUDA_SUCCESS 17", "read p%d %d", i, size-4)
		other.do("CUDA_SUCCESS", "fill p%d 18 1", i)
		other.do("CUDA_SUCCESS", "stream")
		var v [2]uint32
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 8))
		if v != [2]uint32{18, 17} {
			t.Errorf("%d bytes: %v", size, v)
		}
		var handles uint64
		must(t, tab.PointerGetAttribute(ctx, unsafe.Pointer(&handles), driver.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES,
			p))
		if handles != uint64(fdType) {
			t.Errorf("handle types %d", handles)
		}
		if i == 0 {
			other.do("CUDA_SUCCESS", "free p0")
		} else {
			other.do("CUDA_SUCCESS", "poolfree p1")
			other.do("CUDA_SUCCESS", "stream")
		}
		must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 8))
		if v[0] != 18 {
			t.Error("freeing it in the other process emptied it")
		}
		must(t, tab.MemFreeAsync(ctx, p, 0))
		must(t, tab.CtxSynchronize(ctx))
		data.Reserved[8]++
		if got := other.ask("pointer x %x", data.Reserved); !strings.HasPrefix(got, "CUDA_ERROR_INVALID_VALUE") {
			t.Error("a pointer of another pool:", got)
		}
	}
	var used uint64 = 9
	must(t, tab.MemPoolGetAttribute(ctx, pool, driver.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, unsafe.Pointer(&used)))
	if used != 0 {
		t.Errorf("%d bytes used", used)
	}

	var p driver.CUdeviceptr
	desc := driver.CUmemAccessDesc{Location: props.Location, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
	must(t, tab.MemAddressReserve(ctx, &p, 2<<20, 0, 0, 0))
	must(t, tab.MemMap(ctx, p, 2<<20, 0, store, 0))
	must(t, tab.MemSetAccess(ctx, p, 2<<20, &desc, 1))
	must(t, tab.MemsetD32_v2(ctx, p, 51, 512<<10))
	must(t, tab.CtxSynchronize(ctx)) // fills are asynchronous to the host
	other.do("CUDA_SUCCESS", "vmm v %d", 2<<20)
	other.do("CUDA_SUCCESS 51", "read v %d", 2<<20-4)
	other.do("CUDA_SUCCESS", "fill v 52 1")
	other.do("CUDA_SUCCESS", "stream")
	var v uint32
	must(t, tab.MemcpyDtoH_v2(ctx, unsafe.Pointer(&v), p, 4))
	if v != 52 {
		t.Errorf("store: %d", v)
	}
	must(t, tab.MemPoolDestroy(ctx, pool))
}

// TestPoolSharedSmall: small allocations of a shared pool count as what they are.
func TestPoolSharedSmall(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	t.Setenv(env.Memory, "64M")
	tab, ctx := ipcDevice(t)
	props := deviceProps(fdType)
	var pool driver.CUmemoryPool
	must(t, tab.MemPoolCreate(ctx, &pool, &props))
	list := make([]driver.CUdeviceptr, 500)
	for i := range list {
		must(t, tab.MemAllocFromPoolAsync(ctx, &list[i], 100, pool, 0))
	}
	must(t, tab.MemsetD8_v2(ctx, list[499], 1, 100))
	var p driver.CUdeviceptr
	if r := tab.MemAllocFromPoolAsync(ctx, &p, 64<<20, pool, 0); r != driver.CUDA_ERROR_OUT_OF_MEMORY {
		t.Error("more than there is:", r)
	}
	for _, p := range list {
		must(t, tab.MemFreeAsync(ctx, p, 0))
	}
	must(t, tab.CtxSynchronize(ctx))
	must(t, tab.MemAllocFromPoolAsync(ctx, &p, 60<<20, pool, 0))
	must(t, tab.MemPoolDestroy(ctx, pool))
	must(t, tab.MemFree_v2(ctx, p))
}

// TestPoolSharing: what cannot be shared (cuMemPoolExportToShareableHandle, cuMemPoolExportPointer).
func TestPoolSharing(t *testing.T) {
	tab, ctx := ipcDevice(t)
	var pool driver.CUmemoryPool
	var fd int32
	var data driver.CUmemPoolPtrExportData
	var p driver.CUdeviceptr
	props := deviceProps(0)
	must(t, tab.MemPoolCreate(ctx, &pool, &props))
	if r := tab.MemPoolExportToShareableHandle(ctx, unsafe.Pointer(&fd), pool, fdType, 0); r != invalidValue {
		t.Error("a pool without handles:", r)
	}
	must(t, tab.MemAllocFromPoolAsync(ctx, &p, 100, pool, 0))
	if r := tab.MemPoolExportPointer(ctx, &data, p); r != invalidValue {
		t.Error("a pointer of such a pool:", r)
	}
	must(t, tab.MemAlloc_v2(ctx, &p, 100))
	if r := tab.MemPoolExportPointer(ctx, &data, p); r != invalidValue {
		t.Error("a pointer of no pool:", r)
	}
	props = deviceProps(driver.CU_MEM_HANDLE_TYPE_WIN32)
	if r := tab.MemPoolCreate(ctx, &pool, &props); r != invalidValue { // internal/conform/api: pool/create/handles/2
		t.Error("a pool with handles of Windows:", r)
	}
	props = deviceProps(driver.CU_MEM_HANDLE_TYPE_FABRIC)
	must(t, tab.MemPoolCreate(ctx, &pool, &props)) // pool/create/handles/8
	var fabric driver.CUmemFabricHandle
	if r := tab.MemPoolExportToShareableHandle(ctx, unsafe.Pointer(&fabric), pool, driver.CU_MEM_HANDLE_TYPE_FABRIC,
		0); r != driver.CUDA_ERROR_NOT_PERMITTED {
		t.Error("a handle of a fabric:", r)
	}
	f, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// pool/import/no-file
	if r := tab.MemPoolImportFromShareableHandle(ctx, &pool, f.Fd(), fdType, 0); ipcHost &&
		r != driver.CUDA_ERROR_UNKNOWN {
		t.Error("a file that is no pool:", r)
	}
}

// TestPoolPlaces: pools of host memory and of managed memory (an H200 says that it has them:
// CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED and CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED are recorded
// as 1).
func TestPoolPlaces(t *testing.T) {
	tab, ctx := ipcDevice(t)
	for _, c := range []struct {
		typ  driver.CUmemAllocationType
		loc  driver.CUmemLocation
		kind uint32 // CUmemorytype
		want driver.CUresult
	}{
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE},
			uint32(driver.CU_MEMORYTYPE_DEVICE), success},
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST},
			uint32(driver.CU_MEMORYTYPE_HOST), success},
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA},
			uint32(driver.CU_MEMORYTYPE_HOST), success},
		{driver.CU_MEM_ALLOCATION_TYPE_MANAGED, driver.CUmemLocation{}, uint32(driver.CU_MEMORYTYPE_DEVICE), success},
		{driver.CU_MEM_ALLOCATION_TYPE_MANAGED, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE},
			uint32(driver.CU_MEMORYTYPE_DEVICE), success},
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED,
			driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}, 0, invalidValue},
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA,
			Id: 77}, 0, invalidValue},
		{driver.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocation{}, 0, invalidValue},
		{driver.CU_MEM_ALLOCATION_TYPE_INVALID, driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE}, 0,
			invalidValue},
	} {
		name := fmt.Sprintf("type %d, location %v", c.typ, c.loc)
		var pool, current driver.CUmemoryPool
		props := driver.CUmemPoolProps{AllocType: c.typ, Location: c.loc}
		if r := tab.MemPoolCreate(ctx, &pool, &props); r != c.want {
			t.Errorf("%s: %v, want %v", name, r, c.want)
		}
		if c.want != success {
			continue
		}
		where := c.loc
		var first driver.CUmemoryPool
		must(t, tab.MemGetDefaultMemPool(ctx, &first, &where, c.typ))
		must(t, tab.MemSetMemPool(ctx, &where, c.typ, pool))
		must(t, tab.MemGetMemPool(ctx, &current, &where, c.typ))
		if current != pool || first == pool {
			t.Errorf("%s: the current pool is %#x, want %#x", name, current, pool)
		}
		var p driver.CUdeviceptr
		must(t, tab.MemAllocFromPoolAsync(ctx, &p, 1000, pool, 0))
		if onHost(c.loc) { // the device is let in first (internal/conform/api: pool/create/1/host)
			if r := tab.MemsetD8Async(ctx, p, 6, 1000, 0); r != invalidValue {
				t.Errorf("%s: %v without access", name, r)
			}
			desc := driver.CUmemAccessDesc{Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE},
				Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE}
			must(t, tab.MemPoolSetAccess(ctx, pool, &desc, 1))
		}
		must(t, tab.MemsetD8Async(ctx, p, 6, 1000, 0))
		must(t, tab.CtxSynchronize(ctx))
		var kind uint32
		var of driver.CUmemoryPool
		must(t, tab.PointerGetAttribute(ctx, unsafe.Pointer(&kind), driver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p))
		must(t, tab.PointerGetAttribute(ctx, unsafe.Pointer(&of), driver.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, p))
		if kind != c.kind || of != pool {
			t.Errorf("%s: memory type %d, pool %#x", name, kind, of)
		}
		if onHost(c.loc) && *(*byte)(foreign(uint64(p) + 999)) != 6 {
			t.Errorf("%s: the host does not see it", name)
		}
		must(t, tab.MemFreeAsync(ctx, p, 0))
		must(t, tab.MemPoolDestroy(ctx, pool))
		must(t, tab.MemGetMemPool(ctx, &current, &where, c.typ))
		if current != first {
			t.Errorf("%s: a pool that is destroyed is current", name)
		}
	}
}

// TestHostStores: memory of cuMemCreate on the host (CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
// is recorded as 1).
func TestHostStores(t *testing.T) {
	if !ipcHost {
		skip.Without(t, skip.Stores)
	}
	tab, ctx := ipcDevice(t)
	for _, where := range []driver.CUmemLocation{{Type: driver.CU_MEM_LOCATION_TYPE_HOST},
		{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA}} {
		prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: where}
		var h driver.CUmemGenericAllocationHandle
		var p driver.CUdeviceptr
		must(t, tab.MemCreate(ctx, &h, 2<<20, &prop, 0))
		must(t, tab.MemAddressReserve(ctx, &p, 2<<20, 0, 0, 0))
		must(t, tab.MemMap(ctx, p, 2<<20, 0, h, 0))
		desc := [2]driver.CUmemAccessDesc{
			{Location: driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_DEVICE},
				Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
			{Location: where, Flags: driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
		}
		must(t, tab.MemSetAccess(ctx, p, 2<<20, &desc[0], 2))
		must(t, tab.MemsetD8_v2(ctx, p, 3, 2<<20))
		must(t, tab.CtxSynchronize(ctx)) // fills are asynchronous to the host
		if *(*byte)(foreign(uint64(p) + 2<<20 - 1)) != 3 {
			t.Errorf("location %v: the host does not see it", where)
		}
		var flags uint64
		must(t, tab.MemGetAccess(ctx, &flags, &where, p))
		if flags != 3 {
			t.Errorf("location %v: access %d", where, flags)
		}
		must(t, tab.MemUnmap(ctx, p, 2<<20))
		must(t, tab.MemAddressFree(ctx, p, 2<<20))
		must(t, tab.MemRelease(ctx, h))
	}
	for _, where := range []driver.CUmemLocation{{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA, Id: 77},
		{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT}} {
		prop := driver.CUmemAllocationProp{Type: driver.CU_MEM_ALLOCATION_TYPE_PINNED, Location: where}
		var h driver.CUmemGenericAllocationHandle
		if r := tab.MemCreate(ctx, &h, 2<<20, &prop, 0); r != invalidValue { // internal/conform/api: virtual/create
			t.Errorf("location %v: %v", where, r)
		}
	}
}
