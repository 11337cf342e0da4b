package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// wideAtomics is what the atomic instructions of the PTX ISA do (9.7.13, atom and red), by CUatomicOperation: with
// signs or without, on which sizes. All of them can be reductions.
var wideAtomics = [...]driver.CUatomicOperationCapability{
	driver.CU_ATOMIC_OPERATION_INTEGER_ADD:       anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_INTEGER_MIN:       anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_INTEGER_MAX:       anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_INTEGER_INCREMENT: driver.CU_ATOMIC_CAPABILITY_UNSIGNED | atomic32,
	driver.CU_ATOMIC_OPERATION_INTEGER_DECREMENT: driver.CU_ATOMIC_CAPABILITY_UNSIGNED | atomic32,
	driver.CU_ATOMIC_OPERATION_AND:               anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_OR:                anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_XOR:               anySign | atomic32 | atomic64,
	driver.CU_ATOMIC_OPERATION_EXCHANGE: anySign | atomic32 | atomic64 |
		driver.CU_ATOMIC_CAPABILITY_SCALAR_128,
	driver.CU_ATOMIC_OPERATION_CAS: anySign | atomic32 | atomic64 | driver.CU_ATOMIC_CAPABILITY_SCALAR_128,
	driver.CU_ATOMIC_OPERATION_FLOAT_ADD: driver.CU_ATOMIC_CAPABILITY_SIGNED | atomic32 | atomic64 |
		driver.CU_ATOMIC_CAPABILITY_VECTOR_32x4,
	driver.CU_ATOMIC_OPERATION_FLOAT_MIN: 0,
	driver.CU_ATOMIC_OPERATION_FLOAT_MAX: 0,
}

const (
	anySign  = driver.CU_ATOMIC_CAPABILITY_SIGNED | driver.CU_ATOMIC_CAPABILITY_UNSIGNED
	atomic32 = driver.CU_ATOMIC_CAPABILITY_SCALAR_32 | driver.CU_ATOMIC_CAPABILITY_REDUCTION
	atomic64 = driver.CU_ATOMIC_CAPABILITY_SCALAR_64
)

// atomicCapabilities answers for a list of operations with what the path allows of each.
func atomicCapabilities(out *uint32, ops *driver.CUatomicOperation, n uint32,
	allowed func(op driver.CUatomicOperation) driver.CUatomicOperationCapability) driver.CUresult {
	list := unsafe.Slice(ops, n)
	for i, op := range list {
		if op >= driver.CU_ATOMIC_OPERATION_MAX {
			unsafe.Slice(out, n)[i] = 0 // recorded
			return invalidValue
		}
		unsafe.Slice(out, n)[i] = uint32(allowed(op))
	}
	return success
}

// deviceGetHostAtomicCapabilities: over PCIe there are no atomic operations on the host's memory that its processors
// take part in (CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED).
func (d *Driver) deviceGetHostAtomicCapabilities(_ driver.CUcontext, out *uint32, ops *driver.CUatomicOperation,
	n uint32, ordinal driver.CUdevice) driver.CUresult {
	if out == nil || ops == nil || n == 0 {
		return invalidValue // even before cuInit (recorded)
	}
	dev, r := d.asked(true, ordinal)
	if r != success {
		return r
	}
	native := dev.attribute(driver.CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED) != 0
	return atomicCapabilities(out, ops, n, func(op driver.CUatomicOperation) driver.CUatomicOperationCapability {
		if !native {
			return 0
		}
		return wideAtomics[op]
	})
}

// deviceGetP2PAtomicCapabilities: the driver names none, not even between GPUs whose kernels do all of them through
// NVLink, and whose CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED is 1 (recorded). Kernels here do them, too.
func (d *Driver) deviceGetP2PAtomicCapabilities(_ driver.CUcontext, out *uint32, ops *driver.CUatomicOperation,
	n uint32, src, dst driver.CUdevice) driver.CUresult {
	if _, r := d.asked(out != nil && ops != nil && n != 0, src); r != success {
		return r
	}
	if _, r := d.deviceOf(dst); r != success {
		return r
	}
	if src == dst {
		return driver.CUDA_ERROR_INVALID_DEVICE
	}
	clear(unsafe.Slice(out, n)) // before the operations are looked at (recorded)
	return atomicCapabilities(out, ops, n, func(driver.CUatomicOperation) driver.CUatomicOperationCapability {
		return 0
	})
}
