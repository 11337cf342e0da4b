package interp

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// ChildLauncher is what exec.Launch.Sys implements, besides exec.System, when kernels may launch kernels (CUDA dynamic
// parallelism, CUDA C++ Programming Guide, "CUDA Dynamic Parallelism"). Its methods are called from several goroutines
// at once.
//
// The device side of CUDA 12 and later has no synchronisation with children, so that an implementation may keep
// launches in a queue and run them in order when the grid that made them has ended, before anything that comes after
// that grid in its stream.
type ChildLauncher interface {
	// ChildParams returns the bytes of parameters that the kernel with this address takes; ok is false when there is no
	// such kernel.
	ChildParams(entry uint64) (bytes uint32, ok bool)
	// Child takes a launch and returns a cudaError (driver_types.h), 0 when it was accepted. params is the callee's to
	// keep. stream is what the kernel gave: 0, one of the Stream constants, or a stream made by
	// cudaStreamCreateWithFlags in a kernel.
	Child(entry uint64, grid, block [3]uint32, shared uint32, params []byte, stream uint64) (code uint32)
}

// Named streams of device launches (cuda_device_runtime_api.h).
const (
	StreamTailLaunch    = 3
	StreamFireAndForget = 4
)

// Flags and results of the device runtime (driver_types.h).
const (
	cudaStreamNonBlocking      = 1
	cudaEventDisableTiming     = 2
	cudaErrorInvalidValue      = 1
	cudaErrorMemoryAllocation  = 2
	cudaErrorInvalidDeviceFunc = 98
)

// DeviceRuntime says whether an undefined function of this name is the device runtime library's (libcudadevrt.a) and
// provided here. A program may call it only when it was linked with that library: loaded as a plain module it fails, as
// on the driver.
func DeviceRuntime(name string) bool {
	switch name {
	case "cudaCGGetIntrinsicHandle", "cudaCGSynchronize", "cudaCGGetSize", "cudaCGGetRank":
		return true
	}
	return deviceRuntime[name] != nil
}

// systemFunction finds the implementation of a function that compiled code calls and no module defines.
func systemFunction(name string) resolver {
	if r := builtins[name]; r != nil {
		return r
	}
	return deviceRuntime[name]
}

// deviceRuntime are the functions of dynamic parallelism. Those of CUDA 12 carry the prefix __cudaCDP2; the plain names
// are the ones that PTX written by hand uses (CUDA C++ Programming Guide, "Device-side Launch from PTX").
var deviceRuntime = map[string]resolver{
	"__cudaCDP2GetParameterBufferV2": childBufferV2, "cudaGetParameterBufferV2": childBufferV2,
	"__cudaCDP2GetParameterBuffer": childBuffer, "cudaGetParameterBuffer": childBuffer,
	"__cudaCDP2LaunchDeviceV2": childLaunchV2, "__cudaCDP2LaunchDeviceV2_ptsz": childLaunchV2,
	"cudaLaunchDeviceV2": childLaunchV2, "cudaLaunchDeviceV2_ptsz": childLaunchV2,
	"__cudaCDP2LaunchDevice": childLaunch, "__cudaCDP2LaunchDevice_ptsz": childLaunch,
	"cudaLaunchDevice": childLaunch, "cudaLaunchDevice_ptsz": childLaunch,

	// Children run one after the other in the order of their launches, so that streams and events hold no state: their
	// handles are addresses of small allocations, which makes them unique.
	"__cudaCDP2StreamCreateWithFlags": childStreamCreate, "cudaStreamCreateWithFlags": childStreamCreate,
	"__cudaCDP2StreamDestroy": childDestroy, "cudaStreamDestroy": childDestroy,
	"__cudaCDP2EventCreateWithFlags": childEventCreate, "cudaEventCreateWithFlags": childEventCreate,
	"__cudaCDP2EventDestroy": childDestroy, "cudaEventDestroy": childDestroy,
	"__cudaCDP2EventRecord": childOrdered, "__cudaCDP2EventRecord_ptsz": childOrdered, "cudaEventRecord": childOrdered,
	"cudaEventRecord_ptsz":           childOrdered,
	"__cudaCDP2EventRecordWithFlags": childOrdered, "__cudaCDP2EventRecordWithFlags_ptsz": childOrdered,
	"cudaEventRecordWithFlags": childOrdered, "cudaEventRecordWithFlags_ptsz": childOrdered,
	"__cudaCDP2StreamWaitEvent": childOrdered, "__cudaCDP2StreamWaitEvent_ptsz": childOrdered,
	"cudaStreamWaitEvent": childOrdered, "cudaStreamWaitEvent_ptsz": childOrdered,

	"__cudaCDP2Malloc": childMalloc, "cudaMalloc": childMalloc, "__cudaCDP2Free": childDestroy,
	"cudaFree": childDestroy,
}

// A parameter buffer is an allocation of the device heap: a header, then the parameters.
const (
	childHeader = 64
	childMagic  = 0x6c75636863647563
	// maxChildParams bounds a buffer whose size the kernel names itself (PTX ISA 9.0: 32764 bytes of kernel
	// parameters).
	maxChildParams = 32764
)

// Offsets in the header.
const (
	childMagicAt  = 0
	childEntryAt  = 8
	childGridAt   = 16
	childBlockAt  = 28
	childSharedAt = 40
	childSizeAt   = 44
)

// children returns the launcher of the running grid.
func children(w *exec.Warp, lane int) ChildLauncher {
	c, ok := w.CTA.Launch.Sys.(ChildLauncher)
	if !ok {
		w.Throw(exec.FaultUnsupported, lane, "launching kernels from kernels where this one runs")
	}
	return c
}

// perLane makes a built-in function that answers each lane with one value.
func perLane(in *inst, op *ir.Op, f func(w *exec.Warp, op *ir.Op, lane int) uint64) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			result(w, op, i, f(w, op, i))
		}
	}
	return nil
}

// dim3Argument reads an argument of 12 bytes.
func dim3Argument(w *exec.Warp, op *ir.Op, n, lane int) (d [3]uint32) {
	if n >= len(op.Call.Args) {
		w.Throw(exec.FaultInstruction, lane, op.Call.Builtin+" is called with too few arguments")
	}
	c := &op.Call.Args[n]
	if c.Row != nil || c.Slot.Size < 12 {
		w.Throw(exec.FaultInstruction, lane, op.Call.Builtin+" is called with an argument that is no dim3")
	}
	p := unsafe.Add(w.Base[0], uint64(c.Slot.Off)+uint64(lane)*uint64(c.Slot.Stride))
	return *(*[3]uint32)(p)
}

// newChildBuffer allocates a parameter buffer and returns the address of the parameters, 0 when the device heap is
// full.
func newChildBuffer(w *exec.Warp, lane int, entry uint64, grid, block [3]uint32, shared, size uint32) uint64 {
	base := w.CTA.Launch.Sys.Malloc(childHeader + max(uint64(size), 8))
	if base == 0 {
		return 0
	}
	h := unsafe.Slice((*byte)(w.Ptr(ir.Global, lane, base, childHeader, 8, true)), childHeader)
	le := binary.LittleEndian
	le.PutUint64(h[childMagicAt:], childMagic)
	le.PutUint64(h[childEntryAt:], entry)
	for i := range grid {
		le.PutUint32(h[childGridAt+4*i:], grid[i])
		le.PutUint32(h[childBlockAt+4*i:], block[i])
	}
	le.PutUint32(h[childSharedAt:], shared)
	le.PutUint32(h[childSizeAt:], size)
	return base + childHeader
}

// childBufferV2 is void *GetParameterBufferV2(void *func, dim3 grid, dim3 block, unsigned sharedMemSize).
func childBufferV2(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		entry := argument(w, op, 0, lane)
		size, ok := children(w, lane).ChildParams(entry)
		if !ok {
			return 0
		}
		return newChildBuffer(w, lane, entry, dim3Argument(w, op, 1, lane), dim3Argument(w, op, 2, lane),
			uint32(argument(w, op, 3, lane)), size)
	})
}

// childBuffer is void *GetParameterBuffer(size_t alignment, size_t size).
func childBuffer(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		children(w, lane)
		align, size := argument(w, op, 0, lane), argument(w, op, 1, lane)
		if align > childHeader || size > maxChildParams {
			return 0
		}
		return newChildBuffer(w, lane, 0, [3]uint32{}, [3]uint32{}, 0, uint32(size))
	})
}

// takeChildBuffer reads a parameter buffer and gives it back. ok is false when the address is no parameter buffer.
func takeChildBuffer(w *exec.Warp, lane int, addr uint64) (header [childHeader]byte, params []byte, ok bool) {
	if addr < childHeader || addr%8 != 0 {
		return header, nil, false
	}
	base := addr - childHeader
	h := unsafe.Slice((*byte)(w.Ptr(ir.Global, lane, base, childHeader, 8, false)), childHeader)
	copy(header[:], h)
	le := binary.LittleEndian
	size := le.Uint32(header[childSizeAt:])
	if le.Uint64(header[childMagicAt:]) != childMagic || size > maxChildParams {
		return header, nil, false
	}
	if size > 0 {
		params = append(params, unsafe.Slice((*byte)(w.Ptr(ir.Global, lane, addr, size, 1, false)), size)...)
	}
	clear(h) // a second launch from the same buffer is refused
	w.CTA.Launch.Sys.Free(base)
	return header, params, true
}

// childLaunchV2 is cudaError_t LaunchDeviceV2(void *parameterBuffer, cudaStream_t stream).
func childLaunchV2(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		c := children(w, lane)
		h, params, ok := takeChildBuffer(w, lane, argument(w, op, 0, lane))
		if !ok {
			return cudaErrorInvalidValue
		}
		le := binary.LittleEndian
		var grid, block [3]uint32
		for i := range grid {
			grid[i], block[i] = le.Uint32(h[childGridAt+4*i:]), le.Uint32(h[childBlockAt+4*i:])
		}
		entry := le.Uint64(h[childEntryAt:])
		if entry == 0 {
			return cudaErrorInvalidDeviceFunc // a buffer of the first version
		}
		return uint64(c.Child(entry, grid, block, le.Uint32(h[childSharedAt:]), params, argument(w, op, 1, lane)))
	})
}

// childLaunch is cudaError_t LaunchDevice(void *func, void *parameterBuffer, dim3 grid, dim3 block, unsigned
// sharedMemSize, cudaStream_t stream).
func childLaunch(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		c := children(w, lane)
		entry := argument(w, op, 0, lane)
		size, ok := c.ChildParams(entry)
		if !ok {
			return cudaErrorInvalidDeviceFunc
		}
		var params []byte
		if buffer := argument(w, op, 1, lane); buffer != 0 || size > 0 {
			if _, params, ok = takeChildBuffer(w, lane, buffer); !ok || uint32(len(params)) < size {
				return cudaErrorInvalidValue
			}
		}
		return uint64(c.Child(entry, dim3Argument(w, op, 2, lane), dim3Argument(w, op, 3, lane),
			uint32(argument(w, op, 4, lane)), params, argument(w, op, 5, lane)))
	})
}

// storeHandle writes a new unique handle through the pointer that is the first argument.
func storeHandle(w *exec.Warp, op *ir.Op, lane int) uint64 {
	children(w, lane)
	p := w.Ptr(ir.Generic, lane, argument(w, op, 0, lane), 8, 8, true)
	h := w.CTA.Launch.Sys.Malloc(8)
	if h == 0 {
		return cudaErrorMemoryAllocation
	}
	*(*uint64)(p) = h
	return 0
}

// childStreamCreate is cudaError_t StreamCreateWithFlags(cudaStream_t *stream, unsigned flags); a kernel's streams must
// be non-blocking.
func childStreamCreate(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		if uint32(argument(w, op, 1, lane)) != cudaStreamNonBlocking {
			return cudaErrorInvalidValue
		}
		return storeHandle(w, op, lane)
	})
}

// childEventCreate is cudaError_t EventCreateWithFlags(cudaEvent_t *event, unsigned flags); a kernel's events carry no
// times.
func childEventCreate(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		if uint32(argument(w, op, 1, lane)) != cudaEventDisableTiming {
			return cudaErrorInvalidValue
		}
		return storeHandle(w, op, lane)
	})
}

// childDestroy gives back what the first argument names: a stream, an event or memory of the device heap.
func childDestroy(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		children(w, lane)
		if h := argument(w, op, 0, lane); h != 0 {
			w.CTA.Launch.Sys.Free(h)
		}
		return 0
	})
}

// childOrdered is a call that orders streams, which run in order anyhow.
func childOrdered(in *inst, op *ir.Op) error {
	return perLane(in, op, func(*exec.Warp, *ir.Op, int) uint64 { return 0 })
}

// childMalloc is cudaError_t cudaMalloc(void **p, size_t size) in a kernel: memory of the device heap.
func childMalloc(in *inst, op *ir.Op) error {
	return perLane(in, op, func(w *exec.Warp, op *ir.Op, lane int) uint64 {
		children(w, lane)
		p := w.Ptr(ir.Generic, lane, argument(w, op, 0, lane), 8, 8, true)
		*(*uint64)(p) = 0
		a := w.CTA.Launch.Sys.Malloc(argument(w, op, 1, lane))
		if a == 0 {
			return cudaErrorMemoryAllocation
		}
		*(*uint64)(p) = a
		return 0
	})
}
