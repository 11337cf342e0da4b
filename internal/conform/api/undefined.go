package api

import "github.com/gocuda/cuda/internal/driver"

// undefined are the calls that the API does not define, by case: the driver dies (CRASH in the transcript), answers now
// this and now that (VARIES: two recordings differ), or reads memory that it has given back. The last call of the case
// that both transcripts have is the one; what the software device answers is the sensible result. Handles that were
// never given out are refused as such, and so are those of things that are gone.
//
// A case with a CRASH that is not here may answer any error.
var undefined = map[string]driver.CUresult{
	"library/after-unload/kernel": driver.CUDA_ERROR_INVALID_HANDLE,
	"library/after-unload/count":  driver.CUDA_ERROR_INVALID_HANDLE,
	"link/add/after-destroy":      driver.CUDA_ERROR_INVALID_HANDLE,
	// cuEventRecord: the kernel's fault may have come before it
	"fault/seen-by/event":     driver.CUDA_ERROR_ILLEGAL_ADDRESS,
	"launch/stream/destroyed": driver.CUDA_ERROR_INVALID_HANDLE,
	"context/destroy/twice":   driver.CUDA_ERROR_CONTEXT_IS_DESTROYED,
	// cuCtxGetDevice, which works in context/destroy/below-the-top
	"context/destroyed": driver.CUDA_SUCCESS,
	// the driver dies of a module in a context of the API's first version
	"context/create/v1-first":        driver.CUDA_SUCCESS,
	"jit/THREADS_PER_BLOCK/0":        driver.CUDA_ERROR_INVALID_VALUE,
	"jit/MAX_THREADS_PER_BLOCK/-1":   driver.CUDA_ERROR_INVALID_VALUE,
	"function/set-attribute/-1":      driver.CUDA_ERROR_INVALID_VALUE,
	"module/loading-mode/null":       driver.CUDA_ERROR_INVALID_VALUE,
	"graph/destroyed/node-used":      driver.CUDA_ERROR_INVALID_VALUE, // the driver reads memory that it has given back
	"error-text/null/cuGetErrorName": driver.CUDA_ERROR_INVALID_VALUE,
	// cuMemMap over the end of a reservation, which the driver lets pass and cannot unmap afterwards
	"virtual/map": driver.CUDA_ERROR_INVALID_VALUE,
}

// Difference is a case in which the software device answers otherwise than the recorded driver.
type Difference struct {
	Case   string // a name, or the beginning of names when it ends in a slash
	Reason string
}

// differences are those of the table for one device.
var differences = []Difference{
	{"graph/structure", "the driver lists nodes that have become roots the other way around; no order is documented, and the software device keeps that in which nodes were made"},
	{"graph/child", "the driver gives a new node the handle that one of a destroyed graph had, so that the names in the transcript differ from there on"},
	{"virtual/export/1", "the driver imports a descriptor of its own process's memory and does not map it; cuMemMap documents no such limit, and the software device maps it"},
	{"virtual/dma-buf", "a dma-buf descriptor is of the kernel module: the software device answers NOT_SUPPORTED where the driver gives one"},
	{"array/create/flags/64/", "sparse arrays, whose tiles get memory one by one: texels here follow each other in rows, and no tile has pages of its own"},
	{"logs", "the driver's entry for a cuMemAlloc that fails has 166 characters with its time; the software device's error log has no entry for what a result says itself"},
	{"link/attributes/none", "the greatest block follows the number of registers, which is an estimate"},
	{"link/attributes/create-1000", "the greatest block follows the number of registers, which is an estimate"},
	{"link/attributes/load-24", "the greatest block follows the number of registers, which is an estimate"},
	{"link/attributes/load-level--1", "the greatest block follows the number of registers, which is an estimate"},
	{"link/attributes/threads-128-of-load", "the greatest block follows the number of registers, which is an estimate"},
	{"link/attributes/minnctapersm-alone", "the greatest block follows the number of registers, which is an estimate"},
	{"jit/attributes/none", "the greatest block follows the number of registers, which is an estimate"},
	{"reach/freed/other-context/copy", "a copy from memory that was freed before it ran: the driver's copy engine reads on, and the software device has nothing to read; it faults as a copy to such memory does with both"},
	{"reach/kernel/host-pool", "a kernel's access to memory of a host pool that is closed to the device: with one device, kernels reach the whole window, and the host needs the pages"},
	{"jit/attributes/blocks-16-alone", "the greatest block follows the number of registers, which is an estimate"},
}
