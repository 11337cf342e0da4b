package cudart

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Malloc is cudaMalloc.
func (r *Runtime) Malloc(t *Thread, out *uintptr, size uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	if size == 0 { // succeeds, with no memory
		*out = 0
		return Success
	}
	return r.done(t, r.table.MemAlloc_v2(cur, (*driver.CUdeviceptr)(unsafe.Pointer(out)), size))
}

// Free is cudaFree. A null pointer is nothing to free.
func (r *Runtime) Free(t *Thread, p uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if p == 0 {
		return r.done(t, r.healthy(cur))
	}
	return r.done(t, r.table.MemFree_v2(cur, driver.CUdeviceptr(p)))
}

// MallocHost is cudaMallocHost.
func (r *Runtime) MallocHost(t *Thread, out *uintptr, size uint64) Error {
	return r.HostAlloc(t, out, size, 0)
}

// HostAlloc is cudaHostAlloc. Memory of the runtime is mapped and portable.
func (r *Runtime) HostAlloc(t *Thread, out *uintptr, size uint64, flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	if size == 0 {
		*out = 0
		return Success
	}
	return r.done(t, r.table.MemHostAlloc(cur, (*unsafe.Pointer)(unsafe.Pointer(out)), size, flags))
}

// MallocManaged is cudaMallocManaged.
func (r *Runtime) MallocManaged(t *Thread, out *uintptr, size uint64, flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	if size == 0 {
		*out = 0
		return Success
	}
	return r.done(t, r.table.MemAllocManaged(cur, (*driver.CUdeviceptr)(unsafe.Pointer(out)), size, flags))
}

// FreeHost is cudaFreeHost. A null pointer is nothing to free.
func (r *Runtime) FreeHost(t *Thread, p uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if p == 0 {
		return Success
	}
	return r.done(t, r.table.MemFreeHost(cur, pointer(p)))
}

// MallocPitch is cudaMallocPitch.
func (r *Runtime) MallocPitch(t *Thread, out *uintptr, pitch *uint64, width, height uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || pitch == nil {
		return t.fail(ErrorInvalidValue)
	}
	if width == 0 || height == 0 {
		*out, *pitch = 0, 0
		return Success
	}
	return r.done(t, r.table.MemAllocPitch_v2(cur, (*driver.CUdeviceptr)(unsafe.Pointer(out)), pitch, width, height, 4))
}

// Malloc3D is cudaMalloc3D.
func (r *Runtime) Malloc3D(t *Thread, out *PitchedPtr, extent Extent) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	if extent.Width == 0 || extent.Height == 0 || extent.Depth == 0 {
		*out = PitchedPtr{Xsize: extent.Width, Ysize: extent.Height}
		return Success
	}
	rows, ok := product(extent.Height, extent.Depth)
	if !ok {
		return t.fail(ErrorMemoryAllocation)
	}
	var p driver.CUdeviceptr
	var pitch uint64
	result := r.table.MemAllocPitch_v2(cur, &p, &pitch, extent.Width, rows, 4)
	if result == driver.CUDA_SUCCESS {
		*out = PitchedPtr{Ptr: uintptr(p), Pitch: pitch, Xsize: extent.Width, Ysize: extent.Height}
	}
	return r.done(t, result)
}

// product is a*b; ok says that it has 64 bits.
func product(a, b uint64) (n uint64, ok bool) {
	if a == 0 || b == 0 {
		return 0, true
	}
	n = a * b
	return n, n/b == a
}

// Memset is cudaMemset.
func (r *Runtime) Memset(t *Thread, p uintptr, value int32, n uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.table.MemsetD8_v2(cur, driver.CUdeviceptr(p), uint8(value), n))
}

// MemsetAsync is cudaMemsetAsync.
func (r *Runtime) MemsetAsync(t *Thread, p uintptr, value int32, n uint64, stream driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.table.MemsetD8Async(cur, driver.CUdeviceptr(p), uint8(value), n, stream))
}

// Memset2D is cudaMemset2D.
func (r *Runtime) Memset2D(t *Thread, p uintptr, pitch uint64, value int32, width, height uint64) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if width == 0 || height == 0 {
		return Success
	}
	return r.done(t, r.table.MemsetD2D8_v2(cur, driver.CUdeviceptr(p), pitch, uint8(value), width, height))
}

// Memset2DAsync is cudaMemset2DAsync.
func (r *Runtime) Memset2DAsync(t *Thread, p uintptr, pitch uint64, value int32, width, height uint64,
	stream driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if width == 0 || height == 0 {
		return Success
	}
	return r.done(t, r.table.MemsetD2D8Async(cur, driver.CUdeviceptr(p), pitch, uint8(value), width, height, stream))
}

// Memset3D is cudaMemset3D.
func (r *Runtime) Memset3D(t *Thread, p PitchedPtr, value int32, extent Extent) Error {
	return r.memset3D(t, p, extent, func(cur driver.CUcontext, at driver.CUdeviceptr, pitch,
		rows uint64) driver.CUresult {
		return r.table.MemsetD2D8_v2(cur, at, pitch, uint8(value), extent.Width, rows)
	})
}

// Memset3DAsync is cudaMemset3DAsync.
func (r *Runtime) Memset3DAsync(t *Thread, p PitchedPtr, value int32, extent Extent, stream driver.CUstream) Error {
	return r.memset3D(t, p, extent, func(cur driver.CUcontext, at driver.CUdeviceptr, pitch,
		rows uint64) driver.CUresult {
		return r.table.MemsetD2D8Async(cur, at, pitch, uint8(value), extent.Width, rows, stream)
	})
}

// memset3D fills slices: all at once where they lie one behind the other.
func (r *Runtime) memset3D(t *Thread, p PitchedPtr, extent Extent,
	fill func(cur driver.CUcontext, at driver.CUdeviceptr, pitch, rows uint64) driver.CUresult) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if extent.Width == 0 || extent.Height == 0 || extent.Depth == 0 {
		return Success
	}
	if extent.Height == p.Ysize || extent.Depth == 1 {
		rows, ok := product(extent.Height, extent.Depth)
		if !ok {
			return t.fail(ErrorInvalidValue)
		}
		return r.done(t, fill(cur, driver.CUdeviceptr(p.Ptr), p.Pitch, rows))
	}
	slice, ok := product(p.Pitch, p.Ysize)
	if !ok {
		return t.fail(ErrorInvalidValue)
	}
	for z := range extent.Depth {
		at := driver.CUdeviceptr(p.Ptr) + driver.CUdeviceptr(z*slice)
		if result := fill(cur, at, p.Pitch, extent.Height); result != driver.CUDA_SUCCESS {
			return r.done(t, result)
		}
	}
	return Success
}

// invalidDevice is cudaInvalidDeviceId.
const invalidDevice = -2

// PointerGetAttributes is cudaPointerGetAttributes. The record has the version's layout.
func (r *Runtime) PointerGetAttributes(t *Thread, out *PointerAttributes, p uintptr) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil {
		return t.fail(ErrorInvalidValue)
	}
	var (
		kind, managed uint32
		ordinal       int32
		device, host  uint64
	)
	attributes := [...]driver.CUpointer_attribute{
		driver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, driver.CU_POINTER_ATTRIBUTE_IS_MANAGED,
		driver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, driver.CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
		driver.CU_POINTER_ATTRIBUTE_HOST_POINTER,
	}
	data := [...]unsafe.Pointer{unsafe.Pointer(&kind), unsafe.Pointer(&managed), unsafe.Pointer(&ordinal),
		unsafe.Pointer(&device), unsafe.Pointer(&host)}
	result := r.table.PointerGetAttributes(cur, uint32(len(attributes)), &attributes[0], &data[0],
		driver.CUdeviceptr(p))
	if result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	a := PointerAttributes{Device: ordinal, DevicePointer: uintptr(device), HostPointer: uintptr(host)}
	switch {
	case managed&0xff != 0:
		a.Type = MemoryTypeManaged
	case driver.CUmemorytype(kind) == driver.CU_MEMORYTYPE_HOST:
		a.Type = MemoryTypeHost
	case driver.CUmemorytype(kind) == driver.CU_MEMORYTYPE_DEVICE:
		a.Type = MemoryTypeDevice
	default:
		a = PointerAttributes{Type: MemoryTypeUnregistered, Device: invalidDevice, HostPointer: p}
	}
	if r.v12 {
		*(*PointerAttributes_v12)(unsafe.Pointer(out)) = PointerAttributes_v12{Type: a.Type, Device: a.Device,
			DevicePointer: a.DevicePointer, HostPointer: a.HostPointer}
	} else {
		*out = a
	}
	return Success
}

// location is a device of CUDA 12 as a location.
func location(device int32) MemLocation {
	if device == -1 { // cudaCpuDeviceId
		return MemLocation{Type: MemLocationTypeHost}
	}
	return MemLocation{Type: MemLocationTypeDevice, Id: device}
}

// MemAdvise_v1 is cudaMemAdvise of CUDA 12.
func (r *Runtime) MemAdvise_v1(t *Thread, p uintptr, n uint64, advice MemoryAdvise, device int32) Error {
	return r.MemAdvise(t, p, n, advice, location(device))
}

// MemPrefetchAsync_v1 is cudaMemPrefetchAsync of CUDA 12.
func (r *Runtime) MemPrefetchAsync_v1(t *Thread, p uintptr, n uint64, device int32, stream driver.CUstream) Error {
	return r.MemPrefetchAsync(t, p, n, location(device), 0, stream)
}
