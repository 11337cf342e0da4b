package cudart

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// LaunchKernel is cudaLaunchKernel.
func (r *Runtime) LaunchKernel(t *Thread, fn uintptr, grid, block Dim3, args *uintptr, shared uint64,
	stream driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	f, e := r.launchable(cur, fn)
	if e != Success {
		return t.fail(e)
	}
	if shared > math.MaxUint32 && r.v12 { // CUDA 13 takes the low 32 bits (recorded)
		return t.fail(ErrorInvalidValue)
	}
	result := r.table.LaunchKernel(cur, f, grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z,
		uint32(shared), stream, (*unsafe.Pointer)(unsafe.Pointer(args)), nil)
	if result == driver.CUDA_ERROR_INVALID_HANDLE && !r.native {
		// The program may have reset the context by the driver API: the kernel itself is in every context.
		k, e := r.kernel(cur, fn)
		if e != Success {
			return t.fail(e)
		}
		result = r.table.LaunchKernel(cur, driver.CUfunction(k), grid.X, grid.Y, grid.Z, block.X, block.Y, block.Z,
			uint32(shared), stream, (*unsafe.Pointer)(unsafe.Pointer(args)), nil)
	}
	if result == driver.CUDA_SUCCESS {
		return Success
	}
	return t.fail(r.refused(cur, result, grid, block))
}

// refused is the error of a launch that the driver has refused: the runtime of CUDA 12 tells a configuration that no
// device could run from other invalid values (documentation), that of CUDA 13 does not (recorded).
func (r *Runtime) refused(cur driver.CUcontext, result driver.CUresult, grid, block Dim3) Error {
	if result != driver.CUDA_ERROR_INVALID_VALUE || !r.v12 {
		return Error(result)
	}
	d, e := r.device(cur)
	if e != Success {
		return ErrorInvalidValue
	}
	limit := func(a driver.CUdevice_attribute) uint64 {
		var n int32
		r.plain.DeviceGetAttribute(cur, &n, a, d)
		return uint64(uint32(n))
	}
	for _, x := range []struct {
		n uint32
		a driver.CUdevice_attribute
	}{
		{grid.X, driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X}, {grid.Y, driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y},
		{grid.Z, driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z}, {block.X, driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X},
		{block.Y, driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y}, {block.Z, driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z},
	} {
		if x.n == 0 || uint64(x.n) > limit(x.a) {
			return ErrorInvalidConfiguration
		}
	}
	// The dimensions are at most 1024 each here.
	if uint64(block.X)*uint64(block.Y)*uint64(block.Z) > limit(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) {
		return ErrorInvalidConfiguration
	}
	return ErrorInvalidValue
}

// LaunchKernelExC is cudaLaunchKernelExC.
func (r *Runtime) LaunchKernelExC(t *Thread, config *LaunchConfig, fn uintptr, args *uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if config == nil {
		return t.fail(ErrorInvalidConfiguration)
	}
	k, e := r.kernel(cur, fn)
	if e != Success {
		return t.fail(e)
	}
	c, e := config.driver()
	if e != Success {
		return t.fail(e)
	}
	result := r.table.LaunchKernelEx(cur, &c, driver.CUfunction(k), (*unsafe.Pointer)(unsafe.Pointer(args)), nil)
	if result == driver.CUDA_SUCCESS {
		return Success
	}
	return t.fail(r.refused(cur, result, config.GridDim, config.BlockDim))
}

// driver is the configuration as the driver takes it: attributes are alike.
func (c *LaunchConfig) driver() (driver.CUlaunchConfig, Error) {
	if c.DynamicSmemBytes > math.MaxUint32 {
		return driver.CUlaunchConfig{}, ErrorInvalidValue
	}
	return driver.CUlaunchConfig{
		GridDimX: c.GridDim.X, GridDimY: c.GridDim.Y, GridDimZ: c.GridDim.Z,
		BlockDimX: c.BlockDim.X, BlockDimY: c.BlockDim.Y, BlockDimZ: c.BlockDim.Z,
		SharedMemBytes: uint32(c.DynamicSmemBytes), HStream: c.Stream,
		Attrs: (*driver.CUlaunchAttribute)(unsafe.Pointer(c.Attrs)), NumAttrs: c.NumAttrs,
	}, Success
}

// LaunchCooperativeKernel is cudaLaunchCooperativeKernel.
func (r *Runtime) LaunchCooperativeKernel(t *Thread, fn uintptr, grid, block Dim3, args *uintptr, shared uint64,
	stream driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	k, e := r.kernel(cur, fn)
	if e != Success {
		return t.fail(e)
	}
	if shared > math.MaxUint32 {
		return t.fail(ErrorInvalidValue)
	}
	result := r.table.LaunchCooperativeKernel(cur, driver.CUfunction(k), grid.X, grid.Y, grid.Z, block.X, block.Y,
		block.Z, uint32(shared), stream, (*unsafe.Pointer)(unsafe.Pointer(args)))
	if result == driver.CUDA_SUCCESS {
		return Success
	}
	return t.fail(r.refused(cur, result, grid, block))
}

// LaunchCooperativeKernelMultiDevice is cudaLaunchCooperativeKernelMultiDevice, of CUDA 12 alone: the same kernel on
// several devices. Grids do not wait for each other, which kernels compiled for CUDA 12 cannot ask for any more.
func (r *Runtime) LaunchCooperativeKernelMultiDevice(t *Thread, list *LaunchParams_v12, n, flags uint32) Error {
	if _, e := r.enter(t); e != Success {
		return t.fail(e)
	}
	return t.fail(ErrorNotSupported)
}

// attributeOf asks for an attribute of a kernel on the current device.
func (r *Runtime) attributeOf(cur driver.CUcontext, k driver.CUkernel, d driver.CUdevice,
	a driver.CUfunction_attribute) (int32, driver.CUresult) {
	var n int32
	result := r.table.KernelGetAttribute(cur, &n, a, k, d)
	return n, result
}

// FuncGetAttributes is cudaFuncGetAttributes.
func (r *Runtime) FuncGetAttributes(t *Thread, out *FuncAttributes, fn uintptr) Error {
	cur, k, d, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var a FuncAttributes
	err := r.healthy(cur)
	get := func(x driver.CUfunction_attribute) int32 {
		n, result := r.attributeOf(cur, k, d, x)
		if result != driver.CUDA_SUCCESS && err == driver.CUDA_SUCCESS {
			err = result
		}
		return n
	}
	a.SharedSizeBytes = uint64(get(driver.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES))
	a.ConstSizeBytes = uint64(get(driver.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES))
	a.LocalSizeBytes = uint64(get(driver.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES))
	a.MaxThreadsPerBlock = get(driver.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
	a.NumRegs = get(driver.CU_FUNC_ATTRIBUTE_NUM_REGS)
	a.PtxVersion = get(driver.CU_FUNC_ATTRIBUTE_PTX_VERSION)
	a.BinaryVersion = get(driver.CU_FUNC_ATTRIBUTE_BINARY_VERSION)
	a.CacheModeCA = get(driver.CU_FUNC_ATTRIBUTE_CACHE_MODE_CA)
	a.MaxDynamicSharedSizeBytes = get(driver.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
	a.PreferredShmemCarveout = get(driver.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
	a.ClusterDimMustBeSet = get(driver.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
	a.RequiredClusterWidth = get(driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)
	a.RequiredClusterHeight = get(driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)
	a.RequiredClusterDepth = get(driver.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
	a.ClusterSchedulingPolicyPreference = get(driver.CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
	a.NonPortableClusterSizeAllowed = get(driver.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
	if err != driver.CUDA_SUCCESS {
		return r.done(t, err)
	}
	*out = a
	return Success
}

// kernelHere is a kernel and the current device.
func (r *Runtime) kernelHere(t *Thread, fn uintptr) (driver.CUcontext, driver.CUkernel, driver.CUdevice, Error) {
	cur, e := r.enter(t)
	if e != Success {
		return 0, 0, 0, e
	}
	k, e := r.kernel(cur, fn)
	if e != Success {
		return 0, 0, 0, e
	}
	d, e := r.device(cur)
	return cur, k, d, e
}

// FuncSetAttribute is cudaFuncSetAttribute.
func (r *Runtime) FuncSetAttribute(t *Thread, fn uintptr, attr FuncAttribute, value int32) Error {
	cur, k, d, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelSetAttribute(cur, driver.CUfunction_attribute(attr), value, k, d))
}

// KernelSetAttributeForDevice is cudaKernelSetAttributeForDevice.
func (r *Runtime) KernelSetAttributeForDevice(t *Thread, k driver.CUkernel, attr FuncAttribute, value,
	device int32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelSetAttribute(cur, driver.CUfunction_attribute(attr), value, k,
		driver.CUdevice(device)))
}

// FuncSetCacheConfig is cudaFuncSetCacheConfig.
func (r *Runtime) FuncSetCacheConfig(t *Thread, fn uintptr, config FuncCache) Error {
	cur, k, d, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelSetCacheConfig(cur, k, driver.CUfunc_cache(config), d))
}

// FuncSetSharedMemConfig is cudaFuncSetSharedMemConfig, which no device heeds any more.
func (r *Runtime) FuncSetSharedMemConfig(t *Thread, fn uintptr, config SharedMemConfig) Error {
	if _, _, _, e := r.kernelHere(t, fn); e != Success {
		return t.fail(e)
	}
	if config > SharedMemBankSizeEightByte {
		return t.fail(ErrorInvalidValue)
	}
	return Success
}

// FuncGetName is cudaFuncGetName.
func (r *Runtime) FuncGetName(t *Thread, name **byte, fn uintptr) Error {
	cur, k, _, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelGetName(cur, name, k))
}

// FuncGetParamInfo is cudaFuncGetParamInfo.
func (r *Runtime) FuncGetParamInfo(t *Thread, fn uintptr, i uint64, offset, size *uint64) Error {
	cur, k, _, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.KernelGetParamInfo(cur, k, i, offset, size))
}

// OccupancyMaxActiveBlocksPerMultiprocessor is cudaOccupancyMaxActiveBlocksPerMultiprocessor.
func (r *Runtime) OccupancyMaxActiveBlocksPerMultiprocessor(t *Thread, out *int32, fn uintptr, block int32,
	shared uint64) Error {
	return r.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(t, out, fn, block, shared, 0)
}

// OccupancyMaxActiveBlocksPerMultiprocessorWithFlags is cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags.
func (r *Runtime) OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(t *Thread, out *int32, fn uintptr, block int32,
	shared uint64, flags uint32) Error {
	cur, k, _, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags(cur, out, driver.CUfunction(k), block,
		shared, flags))
}

// OccupancyAvailableDynamicSMemPerBlock is cudaOccupancyAvailableDynamicSMemPerBlock.
func (r *Runtime) OccupancyAvailableDynamicSMemPerBlock(t *Thread, out *uint64, fn uintptr, blocks, block int32) Error {
	cur, k, _, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.OccupancyAvailableDynamicSMemPerBlock(cur, out, driver.CUfunction(k), blocks, block))
}

// OccupancyMaxPotentialClusterSize is cudaOccupancyMaxPotentialClusterSize.
func (r *Runtime) OccupancyMaxPotentialClusterSize(t *Thread, out *int32, fn uintptr, config *LaunchConfig) Error {
	return r.clusters(t, fn, config, func(cur driver.CUcontext, k driver.CUfunction,
		c *driver.CUlaunchConfig) driver.CUresult {
		return r.table.OccupancyMaxPotentialClusterSize(cur, out, k, c)
	})
}

// OccupancyMaxActiveClusters is cudaOccupancyMaxActiveClusters.
func (r *Runtime) OccupancyMaxActiveClusters(t *Thread, out *int32, fn uintptr, config *LaunchConfig) Error {
	return r.clusters(t, fn, config, func(cur driver.CUcontext, k driver.CUfunction,
		c *driver.CUlaunchConfig) driver.CUresult {
		return r.table.OccupancyMaxActiveClusters(cur, out, k, c)
	})
}

func (r *Runtime) clusters(t *Thread, fn uintptr, config *LaunchConfig,
	ask func(driver.CUcontext, driver.CUfunction, *driver.CUlaunchConfig) driver.CUresult) Error {
	cur, k, _, e := r.kernelHere(t, fn)
	if e != Success {
		return t.fail(e)
	}
	if config == nil {
		return t.fail(ErrorInvalidValue)
	}
	c, e := config.driver()
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, ask(cur, driver.CUfunction(k), &c))
}
