package api

import "github.com/gocuda/cuda/internal/driver"

// undefined are the calls that the API does not define, by case: the driver dies (CRASH in the transcript), answers now this and now that (VARIES:
// two recordings differ), or reads memory that it has given back. The last call of the case that both transcripts have is the one; what the software device
// answers is the sensible result. Handles that were never given out are refused as such, and so are those of things that are gone.
//
// A case with a CRASH that is not here may answer any error.
var undefined = map[string]driver.CUresult{
	"library/after-unload/kernel":    driver.CUDA_ERROR_INVALID_HANDLE,
	"library/after-unload/count":     driver.CUDA_ERROR_INVALID_HANDLE,
	"link/add/after-destroy":         driver.CUDA_ERROR_INVALID_HANDLE,
	"fault/seen-by/event":            driver.CUDA_ERROR_ILLEGAL_ADDRESS, // cuEventRecord: the kernel's fault may have come before it
	"launch/stream/destroyed":        driver.CUDA_ERROR_INVALID_HANDLE,
	"context/destroy/twice":          driver.CUDA_ERROR_CONTEXT_IS_DESTROYED,
	"context/destroyed":              driver.CUDA_SUCCESS, // cuCtxGetDevice, which works in context/destroy/below-the-top
	"context/create/v1-first":        driver.CUDA_SUCCESS, // the driver dies of a module in a context of the API's first version
	"jit/THREADS_PER_BLOCK/0":        driver.CUDA_ERROR_INVALID_VALUE,
	"jit/MAX_THREADS_PER_BLOCK/-1":   driver.CUDA_ERROR_INVALID_VALUE,
	"function/set-attribute/-1":      driver.CUDA_ERROR_INVALID_VALUE,
	"module/loading-mode/null":       driver.CUDA_ERROR_INVALID_VALUE,
	"error-text/null/cuGetErrorName": driver.CUDA_ERROR_INVALID_VALUE,
}

// Unrecorded are cases that no recording has yet, by name or, with a slash at the end, by the beginning of names. They run, and nothing is compared.
var Unrecorded = []string{
	"ipc/", "virtual/", "pool/", "graph/", "copy/", "advice/", "array/", "texture/", "memop/", "green/", "coredump/", "logs", "profiler",
	"device/atomics", "device/nvsci", "device/notification", "device/absent", "tensor-map/", "zeros/",
}

// Difference is a case in which the software device answers otherwise than the recorded driver.
type Difference struct {
	Case   string // a name, or the beginning of names when it ends in a slash
	Reason string
}

// Differences are all that is known: none.
var Differences = []Difference{}
