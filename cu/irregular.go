package cu

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// TensorMapReplaceAddress calls cuTensorMapReplaceAddress. The map may lie at any address: it is copied to a multiple
// of 64 bytes for the call.
//
//	CUresult cuTensorMapReplaceAddress(CUtensorMap *tensorMap, void *globalAddress)
//
// Declared in cuda.h, group CUDA_TENSOR_MEMORY, since CUDA 12.0. Documented results: CUDA_SUCCESS,
// CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_VALUE.
//
// Parameters, under their names in C:
//   - tensorMap: the map, changed in place.
//   - globalAddress: the address of the tensor.
func (a API) TensorMapReplaceAddress(tensorMap *CUtensorMap, globalAddress CUdeviceptr) (err error) {
	call := a.fn().TensorMapReplaceAddress
	if call == nil {
		return a.missing("cuTensorMapReplaceAddress")
	}
	if tensorMap == nil {
		return a.result("cuTensorMapReplaceAddress", CUresult(call(a.cur, nil, uintptr(globalAddress))))
	}
	aligned := new(alignedTensorMap).at()
	*aligned = *tensorMap
	res := CUresult(call(a.cur, (*driver.CUtensorMap)(unsafe.Pointer(aligned)), uintptr(globalAddress)))
	if res == CUDA_SUCCESS {
		*tensorMap = *aligned
	}
	return a.result("cuTensorMapReplaceAddress", res)
}
