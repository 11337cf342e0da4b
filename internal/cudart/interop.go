package cudart

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// StreamCreate is cudaStreamCreate.
func (r *Runtime) StreamCreate(t *Thread, out *driver.CUstream) Error {
	return r.StreamCreateWithFlags(t, out, 0)
}

// EventCreate is cudaEventCreate.
func (r *Runtime) EventCreate(t *Thread, out *driver.CUevent) Error {
	return r.EventCreateWithFlags(t, out, 0)
}

// EventElapsedTime is cudaEventElapsedTime.
func (r *Runtime) EventElapsedTime(t *Thread, ms *float32, start, end driver.CUevent) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if ms == nil {
		return t.fail(ErrorInvalidValue)
	}
	return r.done(t, r.table.EventElapsedTime_v2(cur, ms, start, end))
}

// The versions of the driver API that the runtimes ask for.
const (
	version12 = 12090
	version13 = 13000
)

// GetDriverEntryPoint is cudaGetDriverEntryPoint: a function of the driver of the runtime's version.
func (r *Runtime) GetDriverEntryPoint(t *Thread, symbol *byte, out *uintptr, flags uint64,
	status *DriverEntryPointQueryResult) Error {
	version := uint32(version13)
	if r.v12 {
		version = version12
	}
	return r.GetDriverEntryPointByVersion(t, symbol, out, version, flags, status)
}

// The flags of cudaGetDriverEntryPoint.
const (
	entryPointLegacyStream    = 1
	entryPointPerThreadStream = 2
)

// GetDriverEntryPointByVersion is cudaGetDriverEntryPointByVersion.
func (r *Runtime) GetDriverEntryPointByVersion(t *Thread, symbol *byte, out *uintptr, version uint32, flags uint64,
	status *DriverEntryPointQueryResult) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if symbol == nil || out == nil || flags&^(entryPointLegacyStream|entryPointPerThreadStream) != 0 {
		return t.fail(ErrorInvalidValue)
	}
	if flags == 0 && r.perThread {
		flags = entryPointPerThreadStream
	}
	var s driver.CUdriverProcAddressQueryResult
	result := r.plain.GetProcAddress_v2(cur, symbol, out, int32(version), flags, &s)
	if result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	if status != nil {
		*status = DriverEntryPointQueryResult(s)
	}
	return Success
}

// ImportExternalMemory is cudaImportExternalMemory. The driver's record has more room than that of CUDA 12.
func (r *Runtime) ImportExternalMemory(t *Thread, out *driver.CUexternalMemory, d *ExternalMemoryHandleDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || d == nil {
		return t.fail(ErrorInvalidValue)
	}
	c := driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC{Type: driver.CUexternalMemoryHandleType(d.Type), Size: d.Size,
		Flags: d.Flags, Handle: *(*driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC_handle)(unsafe.Pointer(&d.Handle))}
	return r.done(t, r.table.ImportExternalMemory(cur, out, &c))
}

// ExternalMemoryGetMappedBuffer is cudaExternalMemoryGetMappedBuffer.
func (r *Runtime) ExternalMemoryGetMappedBuffer(t *Thread, out *uintptr, m driver.CUexternalMemory,
	d *ExternalMemoryBufferDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || d == nil {
		return t.fail(ErrorInvalidValue)
	}
	c := driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC{Offset: d.Offset, Size: d.Size, Flags: d.Flags}
	return r.done(t, r.table.ExternalMemoryGetMappedBuffer(cur, (*driver.CUdeviceptr)(unsafe.Pointer(out)), m, &c))
}

// ExternalMemoryGetMappedMipmappedArray is cudaExternalMemoryGetMappedMipmappedArray.
func (r *Runtime) ExternalMemoryGetMappedMipmappedArray(t *Thread, out *driver.CUmipmappedArray,
	m driver.CUexternalMemory, d *ExternalMemoryMipmappedArrayDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || d == nil {
		return t.fail(ErrorInvalidValue)
	}
	a, e := r.describe(&d.FormatDesc, d.Extent, d.Flags)
	if e != Success {
		return t.fail(e)
	}
	c := driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC{Offset: d.Offset, ArrayDesc: a, NumLevels: d.NumLevels}
	return r.done(t, r.table.ExternalMemoryGetMappedMipmappedArray(cur, out, m, &c))
}

// ImportExternalSemaphore is cudaImportExternalSemaphore.
func (r *Runtime) ImportExternalSemaphore(t *Thread, out *driver.CUexternalSemaphore,
	d *ExternalSemaphoreHandleDesc) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if out == nil || d == nil {
		return t.fail(ErrorInvalidValue)
	}
	c := driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC{Type: driver.CUexternalSemaphoreHandleType(d.Type), Flags: d.Flags,
		Handle: *(*driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC_handle)(unsafe.Pointer(&d.Handle))}
	return r.done(t, r.table.ImportExternalSemaphore(cur, out, &c))
}
