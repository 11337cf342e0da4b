package softdev

import "github.com/gocuda/cuda/internal/driver"

// Granularities of the hardware since compute capability 7.0 (the occupancy calculator's tables).
const (
	registerUnit = 256 // registers of a warp are rounded up to it
	sharedUnit   = 128 // bytes of a block's shared memory likewise
	warpSize     = 32
)

// residentBlocks is how many blocks of so many threads and bytes of dynamic shared memory fit on one multiprocessor.
func (f *function) residentBlocks(threads int32, dynamic uint64) uint64 {
	dev := f.mod.ctx.dev
	if threads <= 0 || threads > f.entry.maxThreads(dev) {
		return 0
	}
	warps := uint64(threads+warpSize-1) / warpSize
	n := uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR))
	n = min(n, uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR))/warpSize/warps)
	regs := (uint64(f.entry.registers())*warpSize + registerUnit - 1) / registerUnit * registerUnit
	n = min(n, uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR))/(regs*warps))
	if shared := uint64(f.kernel.SharedSize) + dynamic; shared > dev.maxSharedOptin() {
		return 0
	} else if per := (shared + dev.reservedShared() + sharedUnit - 1) / sharedUnit * sharedUnit; per > 0 {
		n = min(n, uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR))/per)
	}
	return n
}

func (d *Driver) occupancyMaxActiveBlocks(cur driver.CUcontext, out *int32, h driver.CUfunction, threads int32, dynamic uint64) driver.CUresult {
	return d.occupancyMaxActiveBlocksWithFlags(cur, out, h, threads, dynamic, 0)
}

func (d *Driver) occupancyMaxActiveBlocksWithFlags(cur driver.CUcontext, out *int32, h driver.CUfunction, threads int32, dynamic uint64, flags uint32) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if out == nil || threads <= 0 || flags > uint32(driver.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	*out = int32(f.residentBlocks(threads, dynamic))
	return success
}

func (d *Driver) occupancyMaxPotentialBlockSize(cur driver.CUcontext, grid, block *int32, h driver.CUfunction, size driver.CUoccupancyB2DSize, dynamic uint64, limit int32) driver.CUresult {
	return d.occupancyMaxPotentialBlockSizeWithFlags(cur, grid, block, h, size, dynamic, limit, 0)
}

// occupancyMaxPotentialBlockSizeWithFlags tries block sizes from the largest down and keeps the first that gives the most threads.
func (d *Driver) occupancyMaxPotentialBlockSizeWithFlags(cur driver.CUcontext, grid, block *int32, h driver.CUfunction, size driver.CUoccupancyB2DSize, dynamic uint64, limit int32, flags uint32) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if grid == nil || block == nil || limit < 0 || flags > uint32(driver.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	if size.C != 0 && d.table.CallC == nil {
		d.explain(f.mod.ctx, "a C function cannot be called without the C door")
		return notSupported
	}
	most := f.entry.maxThreads(f.mod.ctx.dev)
	if limit > 0 {
		most = min(most, limit)
	}
	var bestThreads, bestBlocks int32
	for n := (most + warpSize - 1) / warpSize * warpSize; n > 0; n -= warpSize {
		threads := min(n, most)
		bytes := dynamic
		switch {
		case size.Go != nil:
			bytes = size.Go(threads)
		case size.C != 0:
			bytes = uint64(d.table.CallC(size.C, uintptr(threads)))
		}
		blocks := int32(f.residentBlocks(threads, bytes))
		if blocks*threads > bestThreads*bestBlocks {
			bestThreads, bestBlocks = threads, blocks
		}
	}
	*block = bestThreads
	*grid = bestBlocks * int32(f.mod.ctx.dev.limits.sms)
	return success
}

func (d *Driver) occupancyAvailableDynamicShared(cur driver.CUcontext, out *uint64, h driver.CUfunction, blocks, threads int32) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if out == nil || blocks <= 0 || threads <= 0 {
		return invalidValue
	}
	f, r := d.function(h)
	if r != success {
		return r
	}
	if err := f.prepare(); err != nil {
		return f.fail(err)
	}
	dev := f.mod.ctx.dev
	if uint64(blocks) > f.residentBlocks(threads, 0) {
		return invalidValue
	}
	per := uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)) / uint64(blocks) / sharedUnit * sharedUnit
	used := dev.reservedShared() + uint64(f.kernel.SharedSize)
	*out = 0
	if per > used {
		*out = min(per-used, uint64(f.tune.maxDynamicShared(dev, f.kernel.SharedSize)))
	}
	return success
}
