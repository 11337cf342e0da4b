package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// memPoolSetAccess keeps what cuMemPoolGetAccess reports. All devices of a driver reach all memory; taking the right away from the pool's own device
// is an error (cuMemPoolSetAccess).
func (d *Driver) memPoolSetAccess(_ driver.CUcontext, h driver.CUmemoryPool, list *driver.CUmemAccessDesc, n uint64) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if list == nil || n == 0 || n > uint64(len(d.devices)) {
		return invalidValue
	}
	all := unsafe.Slice(list, n)
	for _, a := range all { // codes and their order as recorded
		if a.Location.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE {
			return notSupported
		}
		switch a.Flags {
		case driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE, driver.CU_MEM_ACCESS_FLAGS_PROT_NONE:
		default:
			return notSupported
		}
		if a.Location.Id < 0 || int(a.Location.Id) >= len(d.devices) || a.Flags == driver.CU_MEM_ACCESS_FLAGS_PROT_NONE && a.Location.Id == p.dev.ordinal {
			return driver.CUDA_ERROR_INVALID_DEVICE
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.access == nil {
		p.access = map[int32]driver.CUmemAccess_flags{}
	}
	for _, a := range all {
		p.access[a.Location.Id] = a.Flags
	}
	return success
}

// locatedDevice is the device that a place for pools means. Pools in host memory and of managed memory are not made.
func (d *Driver) locatedDevice(haveOut bool, where *driver.CUmemLocation, typ driver.CUmemAllocationType) (driver.CUdevice, driver.CUresult) {
	if r := d.ready(); r != success {
		return 0, r
	}
	if !haveOut || where == nil || typ != driver.CU_MEM_ALLOCATION_TYPE_PINNED && typ != driver.CU_MEM_ALLOCATION_TYPE_MANAGED {
		return 0, invalidValue
	}
	if where.Type == driver.CU_MEM_LOCATION_TYPE_INVALID || where.Type > driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
		return 0, invalidValue
	}
	if where.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE || typ != driver.CU_MEM_ALLOCATION_TYPE_PINNED {
		d.explain(nil, "memory pools are supported for memory of devices only")
		return 0, notSupported
	}
	return driver.CUdevice(where.Id), success
}

func (d *Driver) memGetDefaultMemPool(cur driver.CUcontext, out *driver.CUmemoryPool, where *driver.CUmemLocation, typ driver.CUmemAllocationType) driver.CUresult {
	dev, r := d.locatedDevice(out != nil, where, typ)
	if r != success {
		return r
	}
	return d.deviceGetDefaultMemPool(cur, out, dev)
}

func (d *Driver) memGetMemPool(cur driver.CUcontext, out *driver.CUmemoryPool, where *driver.CUmemLocation, typ driver.CUmemAllocationType) driver.CUresult {
	dev, r := d.locatedDevice(out != nil, where, typ)
	if r != success {
		return r
	}
	return d.deviceGetMemPool(cur, out, dev)
}

func (d *Driver) memSetMemPool(cur driver.CUcontext, where *driver.CUmemLocation, typ driver.CUmemAllocationType, p driver.CUmemoryPool) driver.CUresult {
	dev, r := d.locatedDevice(true, where, typ)
	if r != success {
		return r
	}
	return d.deviceSetMemPool(cur, dev, p)
}

// noPoolSharing answers the calls that share pools between processes.
func (d *Driver) noPoolSharing(ok bool) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if !ok {
		return invalidValue
	}
	d.explain(nil, "memory pools cannot be shared with other processes; memory of cuMemCreate can")
	return notSupported
}

func (d *Driver) memPoolExportPointer(_ driver.CUcontext, out *driver.CUmemPoolPtrExportData, p driver.CUdeviceptr) driver.CUresult {
	return d.noPoolSharing(out != nil && p != 0)
}

func (d *Driver) memPoolExportToShareableHandle(_ driver.CUcontext, out unsafe.Pointer, h driver.CUmemoryPool, typ driver.CUmemAllocationHandleType, flags uint64) driver.CUresult {
	return d.noPoolSharing(out != nil && d.pools.get(uintptr(h)) != nil && typ != 0 && flags == 0)
}

func (d *Driver) memPoolImportFromShareableHandle(_ driver.CUcontext, out *driver.CUmemoryPool, _ uintptr, typ driver.CUmemAllocationHandleType, flags uint64) driver.CUresult {
	return d.noPoolSharing(out != nil && typ != 0 && flags == 0)
}

func (d *Driver) memPoolImportPointer(_ driver.CUcontext, out *driver.CUdeviceptr, h driver.CUmemoryPool, data *driver.CUmemPoolPtrExportData) driver.CUresult {
	return d.noPoolSharing(out != nil && data != nil && d.pools.get(uintptr(h)) != nil)
}

// memBatchDecompressAsync: the device has no decompression engine (CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK), as an H200 has none (recorded).
func (d *Driver) memBatchDecompressAsync(cur driver.CUcontext, _ *driver.CUmemDecompressParams, _ uint64, _ uint32, _ *uint64, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	d.explain(s.ctx, "the device has no decompression engine")
	return notSupported
}
