package softdev

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Granularities of the hardware since compute capability 7.0 (the occupancy calculator's tables).
const (
	registerUnit = 256 // registers of a warp are rounded up to it
	sharedUnit   = 128 // bytes of a block's shared memory likewise
	warpSize     = 32
	smParts      = 4 // of a multiprocessor
)

// residentBlocks is how many blocks of so many threads and bytes of dynamic shared memory fit on one multiprocessor.
func (f *function) residentBlocks(threads int32, dynamic uint64) uint64 {
	if dynamic > uint64(f.tune.maxDynamicShared(f.mod.ctx.dev, f.entry.shared(f.kernel))) {
		return 0 // could not be launched (recorded)
	}
	return f.fittingBlocks(threads, dynamic)
}

// carveouts are the sizes, in KiB, that the shared memory of a multiprocessor can have (CUDA Programming Guide, compute
// capability 9.0).
var carveouts = []uint64{0, 8, 16, 32, 64, 100, 132, 164, 196, 228}

// sharedPerSM is the shared memory of a multiprocessor under the kernel's preferred carveout: the smallest size that
// holds the share asked for, and one block (recorded).
func (f *function) sharedPerSM(block uint64) uint64 {
	most := uint64(f.mod.ctx.dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR))
	share := f.tune.carveout.Load()
	if share < 0 {
		return most
	}
	want := max(most*uint64(share)/100, block)
	for _, kib := range carveouts {
		if kib<<10 >= want {
			return min(kib<<10, most)
		}
	}
	return most
}

// fittingBlocks is residentBlocks without the kernel's bound of dynamic shared memory.
func (f *function) fittingBlocks(threads int32, dynamic uint64) uint64 {
	o := f.occupancy(threads, dynamic)
	return min(o.Slots, o.ByThreads, o.ByRegisters, o.ByShared)
}

// Occupancy is how many blocks of a kernel fit on a multiprocessor by each of its resources.
type Occupancy struct {
	Slots, ByThreads, ByRegisters, ByShared uint64 // blocks

	Registers uint64 // of a thread, an estimate
	Shared    uint64 // bytes of a block, the system's part included, as they are given out
}

// occupancy finds how many blocks of so many threads and bytes of dynamic shared memory fit; all is zero for a block
// that cannot be launched.
func (f *function) occupancy(threads int32, dynamic uint64) (o Occupancy) {
	dev := f.mod.ctx.dev
	if threads <= 0 || threads > dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) {
		return o
	}
	shared := uint64(f.entry.shared(f.kernel)) + dynamic
	if shared > dev.maxSharedOptin() {
		return o
	}
	warps := uint64(threads+warpSize-1) / warpSize
	o.Slots = uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR))
	o.ByThreads = uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)) / warpSize / warps
	o.Registers = uint64(f.entry.registers())
	regs := (o.Registers*warpSize + registerUnit - 1) / registerUnit * registerUnit
	// A multiprocessor has four parts, each with a quarter of the registers and of the warps (cuda_occupancy.h).
	file := uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR))
	o.ByRegisters = file / smParts / regs * smParts / warps
	o.Shared = (shared + dev.reservedShared() + sharedUnit - 1) / sharedUnit * sharedUnit
	if o.ByShared = math.MaxUint64; o.Shared > 0 {
		o.ByShared = f.sharedPerSM(o.Shared) / o.Shared
	}
	return o
}

// Occupancy is that of a kernel, for blocks of so many threads and bytes of dynamic shared memory; ok is false when
// there is no such kernel, when it does not compile, and for kernels of Tile IR, whose blocks the hardware's compiler
// makes up.
func (d *Driver) Occupancy(h driver.CUfunction, threads int32, dynamic uint64) (o Occupancy, ok bool) {
	f, r := d.function(h)
	if r != success || f.entry.shape != nil || f.prepare() != nil {
		return o, false
	}
	return f.occupancy(threads, dynamic), true
}

func (d *Driver) occupancyMaxActiveBlocks(cur driver.CUcontext, out *int32, h driver.CUfunction, threads int32,
	dynamic uint64) driver.CUresult {
	return d.occupancyMaxActiveBlocksWithFlags(cur, out, h, threads, dynamic, 0)
}

func (d *Driver) occupancyMaxActiveBlocksWithFlags(cur driver.CUcontext, out *int32, h driver.CUfunction, threads int32,
	dynamic uint64, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || threads <= 0 || flags > uint32(driver.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
		return invalidValue
	}
	f, r := d.measured(c, h)
	if r != success {
		return r
	}
	*out = int32(f.residentBlocks(threads, dynamic))
	return success
}

func (d *Driver) occupancyMaxPotentialBlockSize(cur driver.CUcontext, grid, block *int32, h driver.CUfunction,
	size driver.CUoccupancyB2DSize, dynamic uint64, limit int32) driver.CUresult {
	return d.occupancyMaxPotentialBlockSizeWithFlags(cur, grid, block, h, size, dynamic, limit, 0)
}

// occupancyMaxPotentialBlockSizeWithFlags tries block sizes from the largest down and keeps the first that gives the
// most threads.
func (d *Driver) occupancyMaxPotentialBlockSizeWithFlags(cur driver.CUcontext, grid, block *int32, h driver.CUfunction,
	size driver.CUoccupancyB2DSize, dynamic uint64, limit int32, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if grid == nil || block == nil || limit < 0 || flags > uint32(driver.CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE) {
		return invalidValue
	}
	f, r := d.measured(c, h)
	if r != success {
		return r
	}
	if size.C != 0 && d.table.CallC == nil {
		d.explain(f.mod.ctx, "a C function can be called through libcuda.so.1 only")
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
			bytes = callersSize(size.Go, threads)
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

func (d *Driver) occupancyAvailableDynamicShared(cur driver.CUcontext, out *uint64, h driver.CUfunction, blocks,
	threads int32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || blocks <= 0 || threads <= 0 {
		return invalidValue
	}
	f, r := d.measured(c, h)
	if r != success {
		return r
	}
	dev := f.mod.ctx.dev
	if uint64(blocks) > f.fittingBlocks(threads, 0) { // .maxntid does not count (recorded)
		return invalidValue
	}
	per := uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)) /
		uint64(blocks) / sharedUnit * sharedUnit
	used := uint64(f.entry.shared(f.kernel)) // what the system reserves in each block is not taken off (recorded)
	*out = 0
	if per > used {
		*out = min(per-used, uint64(f.tune.maxDynamicShared(dev, f.entry.shared(f.kernel))))
	}
	return success
}

// clusterBlocks checks the cluster of a configuration and gives its blocks; 0 when there is none.
func (f *function) clusterBlocks(config *driver.CUlaunchConfig) (uint64, driver.CUresult) {
	q := launchRequest{grid: [3]uint32{config.GridDimX, config.GridDimY, config.GridDimZ},
		block: [3]uint32{config.BlockDimX, config.BlockDimY, config.BlockDimZ}}
	if config.NumAttrs > 0 {
		if config.Attrs == nil {
			return 0, invalidValue
		}
		attrs := unsafe.Slice(config.Attrs, config.NumAttrs)
		for i := range attrs {
			if attrs[i].Id != driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION {
				continue
			}
			dim := attrs[i].Value.ClusterDim()
			if q.cluster = [3]uint32{dim.X, dim.Y, dim.Z}; dim.X == 0 || dim.Y == 0 || dim.Z == 0 {
				return 0, driver.CUDA_ERROR_INVALID_CLUSTER_SIZE
			}
		}
	}
	if r := f.clusters(&q); r != success {
		return 0, r
	}
	return uint64(q.cluster[0]) * uint64(q.cluster[1]) * uint64(q.cluster[2]), success
}

func (d *Driver) occupancyMaxActiveClusters(cur driver.CUcontext, out *int32, h driver.CUfunction,
	config *driver.CUlaunchConfig) driver.CUresult {
	f, r := d.clusterQuestion(cur, out, h, config)
	if r != success {
		return r
	}
	blocks, r := f.clusterBlocks(config)
	if r != success {
		return r
	}
	*out = 0
	if blocks > 0 {
		*out = int32(f.activeClusters(blocks, blockThreads(config), uint64(config.SharedMemBytes)))
	}
	return success
}

// occupancyMaxPotentialClusterSize gives the largest cluster that can be launched at all.
func (d *Driver) occupancyMaxPotentialClusterSize(cur driver.CUcontext, out *int32, h driver.CUfunction,
	config *driver.CUlaunchConfig) driver.CUresult {
	f, r := d.clusterQuestion(cur, out, h, config)
	if r != success {
		return r
	}
	*out = 0
	if f.activeClusters(1, blockThreads(config), uint64(config.SharedMemBytes)) == 0 {
		return success
	}
	*out = portableCluster
	if f.tune.nonPortable.Load() != 0 {
		*out = mem.SharedRanks
	}
	return success
}

// blockThreads is the number of threads of a block, a large one where there are more than 32 bits hold.
func blockThreads(config *driver.CUlaunchConfig) int32 {
	n := uint64(1)
	for _, x := range [3]uint32{config.BlockDimX, config.BlockDimY, config.BlockDimZ} {
		if n = min(n, math.MaxInt32) * uint64(x); n > math.MaxInt32 {
			n = math.MaxInt32
		}
	}
	return int32(n)
}

func (d *Driver) clusterQuestion(cur driver.CUcontext, out *int32, h driver.CUfunction,
	config *driver.CUlaunchConfig) (*function, driver.CUresult) {
	if out == nil || config == nil || h == 0 {
		return nil, invalidValue
	}
	c, r := d.enter(cur)
	if r != success {
		return nil, r
	}
	return d.measured(c, h)
}

// callersSize asks the caller's function, whose panic is the caller's.
func callersSize(size func(int32) uint64, threads int32) uint64 {
	defer func() {
		if v := recover(); v != nil {
			panic(callerPanic{v})
		}
	}()
	return size(threads)
}
