package api

import (
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

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
var Unrecorded = []string{"link/attributes/", "jit/attributes/"}

// Difference is a case in which the software device answers otherwise than the recorded driver.
type Difference struct {
	Case   string // a name, or the beginning of names when it ends in a slash
	Reason string
}

// Differences are all that is known.
var Differences = append(known, differences(`
ipc/memory/open-own
ipc/memory/open-zeros
ipc/memory/open-ones
ipc/event/get
ipc/event/open-zeros
virtual/create/host
virtual/create/current
virtual/create/host-5
virtual/create/handles/2
virtual/create/handles/3
virtual/create/handles/4
virtual/create/handles/8
virtual/create/handles/9
virtual/create/handles/16
virtual/create/flags/usage-1
virtual/create/flags/usage-2
virtual/create/flags/usage-4
virtual/map
virtual/host/host
virtual/host/node
virtual/host/current
virtual/export/1
virtual/import/no-file
virtual/import/other-file
virtual/dma-buf
pool/create/1/device
pool/create/1/host
pool/create/1/node
pool/of/1/current
pool/of/1/device-9
pool/of/1/device--1
pool/create/1/host-5
pool/of/1/type-9
pool/create/2/device
pool/create/2/host
pool/create/2/node
pool/create/2/current
pool/of/2/current
pool/create/2/none
pool/create/2/host-5
pool/create/2/type-9
pool/of/2/type-9
pool/of/0/current
pool/of/0/type-9
pool/of/3/current
pool/of/3/type-9
pool/create/handles/2
pool/create/handles/4
pool/create/handles/8
pool/create/handles/9
pool/create/host-handles/1
pool/create/managed-handles/2
pool/create/host-handles/2
pool/attributes
pool/access
pool/share/1
pool/import/no-file
pool/import/zeros
graph/no-context
graph/structure
graph/edges
graph/clone
graph/instantiate/flags/4
graph/instantiate/cycle
graph/child
graph/child/move
graph/update
graph/destroyed/node-used
graph/user-object
graph/node/kernel
graph/node/kernel/attributes
graph/node/event
graph/node/batch
graph/node/alloc/ok
graph/node/alloc/managed
graph/node/alloc/host
graph/node/alloc/handles
graph/node/alloc/access-device
graph/node/alloc/access-9
graph/node/alloc/access-host
graph/node/alloc/max-size
graph/node/alloc/not-launched
graph/node/alloc/not-freed
graph/node/conditional/if
graph/node/conditional/if-0
graph/node/conditional/if-else
graph/node/conditional/while-0
graph/node/conditional/switch-1
graph/node/conditional/switch-9
graph/node/conditional/no-default
graph/node/conditional/handle
graph/node/general
copy/3d/peer-contexts
copy/batch/ok/cuMemcpyBatchAsync
copy/batch/two-attributes/cuMemcpyBatchAsync
copy/batch/order-1/cuMemcpyBatchAsync
copy/batch/order-2/cuMemcpyBatchAsync
copy/batch/order-3/cuMemcpyBatchAsync
copy/batch/flags-1/cuMemcpyBatchAsync
copy/batch/beyond/cuMemcpyBatchAsync
copy/batch/beyond/cuMemcpyBatchAsync_v2
copy/batch/null/cuMemcpyBatchAsync
copy/batch/null/cuMemcpyBatchAsync_v2
copy/batch/hint/cuMemcpyBatchAsync
copy/batch/hint-9/cuMemcpyBatchAsync
copy/batch/hint-9/cuMemcpyBatchAsync_v2
copy/batch/legacy-stream/cuMemcpyBatchAsync
copy/batch-3d/ok/cuMemcpy3DBatchAsync
advice/device
advice/host
advice/node
advice/current
advice/none
advice/device-9
advice/device--1
advice/node-99
advice/host-5
advice/type-9
advice/attributes
array/create/format/176/1
array/create/format/176/2
array/create/format/176/3
array/create/format/176/4
array/create/format/145/1
array/create/format/145/2
array/create/format/145/3
array/create/format/145/4
array/create/format/157/1
array/create/format/157/2
array/create/format/157/3
array/create/format/157/4
array/create/format/80/1
array/create/format/80/2
array/create/format/80/3
array/create/format/80/4
array/create/flags/16/0
array/create/flags/16/1
array/create/flags/16/6
array/create/flags/16/12
array/create/flags/32/0
array/create/flags/32/1
array/create/flags/32/6
array/create/flags/32/12
array/create/flags/64/0
array/create/flags/64/1
array/create/flags/64/6
array/create/flags/64/12
array/create/flags/128/0
array/create/flags/128/1
array/create/flags/128/6
array/create/flags/128/12
array/create/flags/256/0
array/create/flags/256/1
array/create/flags/256/6
array/create/flags/256/12
array/create/flags/67/0
array/create/flags/67/1
array/create/flags/67/6
array/create/flags/67/12
array/create/flags/66/0
array/create/flags/66/1
array/create/flags/66/6
array/create/flags/66/12
array/mipmapped/0
array/mipmapped/1
array/mipmapped/5
array/mipmapped/7
array/mipmapped/8
array/mipmapped/100
array/copy
texture/object/ok
texture/object/filter-0
texture/object/address-0
texture/object/mip-filter-0
texture/object/filter-1
texture/object/address-1
texture/object/mip-filter-1
texture/object/address-2
texture/object/address-3
texture/object/flags-1
texture/object/anisotropy-1
texture/object/flags-2
texture/object/anisotropy-2
texture/object/flags-3
texture/object/anisotropy-3
texture/object/flags-16
texture/object/anisotropy-16
texture/object/flags-32
texture/object/anisotropy-32
texture/object/flags-64
texture/object/anisotropy-64
texture/object/anisotropy-128
texture/object/border
texture/object/view/format-0
texture/object/view/format-32
texture/object/view/format-33
texture/object/view/format-34
texture/object/linear/ok
texture/object/linear/size-0
texture/object/linear/beyond
texture/object/pitch2d/ok
texture/object/pitch2d/pitch-short
texture/object/pitch2d/width-0
texture/object/pitch2d/beyond
texture/reference/attributes
texture/reference/bind
texture/reference/old-launch
`)...)

// known are differences that have a reason to stay.
var known = []Difference{
	{"logs", "the driver's entry for a cuMemAlloc that fails has 166 characters with its time; the software device's error log has no entry for what a result says itself"},
}

func differences(names string) []Difference {
	var d []Difference
	for _, n := range strings.Fields(names) {
		d = append(d, Difference{n, "recorded today; the software device does not follow yet"})
	}
	return d
}
