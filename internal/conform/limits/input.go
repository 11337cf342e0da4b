package limits

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// input makes what a pointer leads to where zeros will not do, and says in which views of it the numbers are: itself,
// and the members in force of its unions.
func (w *world) input(fn, param string, t reflect.Type) (p unsafe.Pointer, views []any, ok bool) {
	one := func(x any) (unsafe.Pointer, []any, bool) { return reflect.ValueOf(x).UnsafePointer(), []any{x}, true }
	if t.Kind() == reflect.UnsafePointer {
		return w.memoryOf(fn, param), nil, true
	}
	switch t.Elem() {
	case reflect.TypeFor[byte]():
		return unsafe.Pointer(w.text(w.string(fn, param))), nil, true
	case reflect.TypeFor[unsafe.Pointer]():
		if param == "kernelParams" && fn == "cuLaunchKernelEx" {
			return nil, nil, true // it has extra
		}
		if param == "kernelParams" {
			return unsafe.Pointer(w.params()), nil, true
		}
		list := (*[2]unsafe.Pointer)(w.arena.block()) // values of attributes
		list[0] = w.arena.block()
		return unsafe.Pointer(list), nil, true
	case reflect.TypeFor[uintptr]():
		switch {
		case param == "extra" && fn == "cuLaunchKernelEx":
			return w.extra()
		case param == "extra":
			return nil, nil, true
		case param == "libraryOptionValues":
			list, x := (*[2]uintptr)(w.arena.block()), slot[driver.CUlibraryHostUniversalFunctionAndDataTable](w)
			list[0], list[1] = uintptr(unsafe.Pointer(x)), 1
			return unsafe.Pointer(list), []any{x}, true
		}
		return w.jitValues(fn)
	case reflect.TypeFor[driver.CUlibraryOption]():
		list := (*[2]driver.CUlibraryOption)(w.arena.block())
		list[1] = driver.CU_LIBRARY_BINARY_IS_PRESERVED
		return unsafe.Pointer(list), []any{list}, true
	case reflect.TypeFor[driver.CUjit_option]():
		list := (*[len(jitOptions)]driver.CUjit_option)(w.arena.block())
		copy(list[:], jitOptions[jitOptionsOf(fn):])
		return unsafe.Pointer(list), []any{&list[0]}, true
	case reflect.TypeFor[driver.CUDA_ARRAY_DESCRIPTOR]():
		x := slot[driver.CUDA_ARRAY_DESCRIPTOR](w)
		*x = driver.CUDA_ARRAY_DESCRIPTOR{Width: side, Height: side, Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1}
		return one(x)
	case reflect.TypeFor[driver.CUDA_ARRAY_DESCRIPTOR_v1]():
		x := slot[driver.CUDA_ARRAY_DESCRIPTOR_v1](w)
		*x = driver.CUDA_ARRAY_DESCRIPTOR_v1{Width: side, Height: side, Format: driver.CU_AD_FORMAT_FLOAT,
			NumChannels: 1}
		return one(x)
	case reflect.TypeFor[driver.CUDA_ARRAY3D_DESCRIPTOR]():
		return one(w.arrayDesc(0))
	case reflect.TypeFor[driver.CUDA_ARRAY3D_DESCRIPTOR_v1]():
		x := slot[driver.CUDA_ARRAY3D_DESCRIPTOR_v1](w)
		*x = driver.CUDA_ARRAY3D_DESCRIPTOR_v1{Width: side, Height: side, Format: driver.CU_AD_FORMAT_FLOAT,
			NumChannels: 1}
		return one(x)
	case reflect.TypeFor[driver.CUDA_MEMCPY2D]():
		return one(w.copy2D())
	case reflect.TypeFor[driver.CUDA_MEMCPY2D_v1]():
		x := slot[driver.CUDA_MEMCPY2D_v1](w) // between arrays: it has no room for addresses
		*x = driver.CUDA_MEMCPY2D_v1{SrcMemoryType: driver.CU_MEMORYTYPE_ARRAY, SrcArray: w.array(),
			DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: uintptr(w.arena.block()), DstPitch: 512,
			WidthInBytes: 64, Height: 4}
		return one(x)
	case reflect.TypeFor[driver.CUDA_MEMCPY3D]():
		return one(w.copy3D())
	case reflect.TypeFor[driver.CUDA_MEMCPY3D_v1]():
		x := slot[driver.CUDA_MEMCPY3D_v1](w)
		*x = driver.CUDA_MEMCPY3D_v1{SrcMemoryType: driver.CU_MEMORYTYPE_ARRAY, SrcArray: w.array(),
			DstMemoryType: driver.CU_MEMORYTYPE_HOST, DstHost: uintptr(w.arena.block()), DstPitch: 512, DstHeight: 4,
			WidthInBytes: 64,
			Height:       4, Depth: 1}
		return one(x)
	case reflect.TypeFor[driver.CUDA_MEMCPY3D_PEER]():
		x := slot[driver.CUDA_MEMCPY3D_PEER](w)
		*x = driver.CUDA_MEMCPY3D_PEER{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: w.device(), SrcPitch: 512,
			SrcHeight: 4, SrcContext: w.context(), DstMemoryType: driver.CU_MEMORYTYPE_DEVICE,
			DstDevice: w.device() + amount/2, DstPitch: 512, DstHeight: 4, DstContext: w.context(), WidthInBytes: 64,
			Height: 4, Depth: 2}
		return one(x)
	case reflect.TypeFor[driver.CUDA_MEMCPY3D_BATCH_OP]():
		x := slot[driver.CUDA_MEMCPY3D_BATCH_OP](w)
		*x = driver.CUDA_MEMCPY3D_BATCH_OP{Extent: driver.CUextent3D{Width: 64, Height: 4, Depth: 2},
			SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}
		x.Src.Type, x.Dst.Type = driver.CU_MEMCPY_OPERAND_TYPE_POINTER, driver.CU_MEMCPY_OPERAND_TYPE_POINTER
		*x.Src.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: w.device(), RowLength: 512, LayerHeight: 4,
			LocHint: onDevice}
		*x.Dst.Op.Ptr() = driver.CUmemcpy3DOperand_op_ptr{Ptr: w.device() + amount/2, RowLength: 512, LayerHeight: 4,
			LocHint: onDevice}
		if w.variant == 1 {
			x.Dst.Type, x.Extent = driver.CU_MEMCPY_OPERAND_TYPE_ARRAY,
				driver.CUextent3D{Width: 16, Height: 4, Depth: 1}
			*x.Dst.Op.Array() = driver.CUmemcpy3DOperand_op_array{Array: w.array()}
			return unsafe.Pointer(x), []any{x, x.Src.Op.Ptr(), x.Dst.Op.Array()}, true
		}
		return unsafe.Pointer(x), []any{x, x.Src.Op.Ptr(), x.Dst.Op.Ptr()}, true
	case reflect.TypeFor[driver.CUDA_MEMSET_NODE_PARAMS]():
		return one(w.fill())
	case reflect.TypeFor[driver.CUDA_KERNEL_NODE_PARAMS]():
		return one(w.kernelNode())
	case reflect.TypeFor[driver.CUDA_KERNEL_NODE_PARAMS_v1]():
		x := slot[driver.CUDA_KERNEL_NODE_PARAMS_v1](w)
		*x = driver.CUDA_KERNEL_NODE_PARAMS_v1{Func: w.function(), GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1,
			BlockDimY: 1, BlockDimZ: 1, KernelParams: w.params()}
		return one(x)
	case reflect.TypeFor[driver.CUDA_LAUNCH_PARAMS]():
		x := slot[driver.CUDA_LAUNCH_PARAMS](w)
		*x = driver.CUDA_LAUNCH_PARAMS{Function: w.function(), GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1,
			BlockDimY: 1, BlockDimZ: 1, HStream: w.stream(), KernelParams: w.params()}
		return one(x)
	case reflect.TypeFor[driver.CUlaunchConfig]():
		x, attr := slot[driver.CUlaunchConfig](w), slot[driver.CUlaunchAttribute](w)
		*x = driver.CUlaunchConfig{GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1,
			HStream: w.stream(), Attrs: attr, NumAttrs: 1}
		attr.Id = driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
		*attr.Value.ClusterDim() = driver.CUlaunchAttributeValue_clusterDim{X: 1, Y: 1, Z: 1}
		return unsafe.Pointer(x), []any{x, &attr.Id, attr.Value.ClusterDim()}, true
	case reflect.TypeFor[driver.CUlaunchAttributeValue]():
		x := slot[driver.CUlaunchAttributeValue](w)
		if strings.Contains(fn, "Stream") {
			*x.SyncPolicy() = driver.CU_SYNC_POLICY_AUTO
			return unsafe.Pointer(x), []any{x.SyncPolicy(), x.AccessPolicyWindow()}, true
		}
		return unsafe.Pointer(x), []any{x.Priority(), x.ClusterDim(), x.AccessPolicyWindow()}, true
	case reflect.TypeFor[driver.CUDA_HOST_NODE_PARAMS]():
		return one(w.hostNode())
	case reflect.TypeFor[driver.CUDA_MEM_ALLOC_NODE_PARAMS]():
		x := w.allocNode()
		return unsafe.Pointer(x), []any{x, x.AccessDescs}, true
	case reflect.TypeFor[driver.CUDA_BATCH_MEM_OP_NODE_PARAMS]():
		x := w.batchNode()
		list := unsafe.Slice(x.ParamArray, 2)
		return unsafe.Pointer(x), []any{x, list[0].WriteValue()}, true
	case reflect.TypeFor[driver.CUstreamBatchMemOpParams]():
		x := w.writes()
		return unsafe.Pointer(x), []any{x[0].WriteValue()}, true
	case reflect.TypeFor[driver.CUgraphNodeParams]():
		x := slot[driver.CUgraphNodeParams](w)
		return unsafe.Pointer(x), w.nodeParams(x), true
	case reflect.TypeFor[driver.CUDA_GRAPH_INSTANTIATE_PARAMS]():
		x := slot[driver.CUDA_GRAPH_INSTANTIATE_PARAMS](w)
		x.HUploadStream = w.stream()
		return one(x)
	case reflect.TypeFor[driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC]():
		x := w.memoryHandleDesc()
		return unsafe.Pointer(x), []any{x, x.Handle.Fd()}, true
	case reflect.TypeFor[driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC]():
		x := slot[driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC](w)
		x.Size = 4096
		return one(x)
	case reflect.TypeFor[driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC]():
		x := slot[driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC](w)
		x.ArrayDesc, x.NumLevels = *w.arrayDesc(0), 3
		return one(x)
	case reflect.TypeFor[driver.CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC]():
		x := w.semaphoreHandleDesc()
		return unsafe.Pointer(x), []any{x, x.Handle.Fd()}, true
	case reflect.TypeFor[driver.CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS]():
		return one(w.waitParams())
	case reflect.TypeFor[driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS]():
		x := w.signalNode()
		return unsafe.Pointer(x), []any{x, x.ParamsArray}, true
	case reflect.TypeFor[driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS]():
		x := w.waitNode()
		return unsafe.Pointer(x), []any{x, x.ParamsArray}, true
	case reflect.TypeFor[driver.CUDA_RESOURCE_DESC]():
		if strings.Contains(fn, "Surf") {
			x := w.arrayResource()
			return one(x)
		}
		x := slot[driver.CUDA_RESOURCE_DESC](w)
		switch w.variant {
		case 1:
			x.ResType = driver.CU_RESOURCE_TYPE_LINEAR
			*x.Res.Linear() = driver.CUDA_RESOURCE_DESC_res_linear{DevPtr: w.device(),
				Format: driver.CU_AD_FORMAT_FLOAT, NumChannels: 1, SizeInBytes: 4096}
			return unsafe.Pointer(x), []any{x, x.Res.Linear()}, true
		case 2:
			return one(w.arrayResource())
		case 3:
			x.ResType = driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY
			x.Res.Mipmap().HMipmappedArray = w.mipmaps()
			return one(x)
		}
		x.ResType = driver.CU_RESOURCE_TYPE_PITCH2D
		*x.Res.Pitch2D() = driver.CUDA_RESOURCE_DESC_res_pitch2D{DevPtr: w.device(), Format: driver.CU_AD_FORMAT_FLOAT,
			NumChannels: 1, Width: side, Height: side, PitchInBytes: 512}
		return unsafe.Pointer(x), []any{x, x.Res.Pitch2D()}, true
	case reflect.TypeFor[driver.CUDA_RESOURCE_VIEW_DESC]():
		if w.variant < 2 {
			return nil, nil, true // views are of arrays
		}
		x := slot[driver.CUDA_RESOURCE_VIEW_DESC](w)
		*x = driver.CUDA_RESOURCE_VIEW_DESC{Format: driver.CU_RES_VIEW_FORMAT_FLOAT_1X32, Width: side, Height: side}
		if w.variant == 3 {
			x.LastMipmapLevel = 2
		}
		return one(x)
	case reflect.TypeFor[driver.CUarrayMapInfo]():
		x := slot[driver.CUarrayMapInfo](w)
		*x.Resource.Array() = w.later()
		x.MemOperationType = driver.CU_MEM_OPERATION_TYPE_MAP
		*x.MemHandle.MemHandle() = w.store()
		x.DeviceBitMask = 1
		return unsafe.Pointer(x), []any{x, x.Subresource.SparseLevel()}, true
	case reflect.TypeFor[driver.CUmemPoolProps]():
		return one(w.poolProps())
	case reflect.TypeFor[driver.CUmemAllocationProp]():
		return one(w.allocationProp())
	case reflect.TypeFor[driver.CUmemAccessDesc]():
		return one(w.access())
	case reflect.TypeFor[driver.CUmemLocation]():
		x := slot[driver.CUmemLocation](w)
		*x = onDevice
		return one(x)
	case reflect.TypeFor[driver.CUmemcpyAttributes]():
		x := slot[driver.CUmemcpyAttributes](w)
		*x = driver.CUmemcpyAttributes{SrcAccessOrder: driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM, SrcLocHint: onDevice,
			DstLocHint: onDevice}
		return one(x)
	case reflect.TypeFor[driver.CUdevResource]():
		x := w.resource()
		return unsafe.Pointer(x), []any{&x.Type, x.Sm()}, true
	case reflect.TypeFor[driver.CUtensorMap]():
		x := slot[[2]driver.CUtensorMap](w) // aligned to 64 bytes, as the arena's blocks are
		return unsafe.Pointer(x), nil, true
	}
	return nil, nil, false
}

// nodeParams makes the parameters of a graph node, of a kind for each variant.
func (w *world) nodeParams(x *driver.CUgraphNodeParams) []any {
	switch w.variant {
	case 1:
		x.Type = driver.CU_GRAPH_NODE_TYPE_MEMCPY
		w.variant = 0
		*x.Memcpy() = driver.CUDA_MEMCPY_NODE_PARAMS{CopyCtx: w.context(), CopyParams: *w.copy3D()}
		w.variant = 1
		return []any{x, x.Memcpy()}
	case 2:
		f := w.fill()
		x.Type = driver.CU_GRAPH_NODE_TYPE_MEMSET
		*x.Memset() = driver.CUDA_MEMSET_NODE_PARAMS_v2{Dst: f.Dst, Pitch: f.Pitch, ElementSize: f.ElementSize,
			Width: f.Width, Height: f.Height, Ctx: w.context()}
		return []any{x, x.Memset()}
	case 3:
		x.Type = driver.CU_GRAPH_NODE_TYPE_MEM_ALLOC
		*x.Alloc() = driver.CUDA_MEM_ALLOC_NODE_PARAMS_v2(*w.allocNode())
		return []any{x, x.Alloc()}
	case 4:
		x.Type = driver.CU_GRAPH_NODE_TYPE_CONDITIONAL
		*x.Conditional() = driver.CUDA_CONDITIONAL_NODE_PARAMS{Handle: w.conditional(),
			Type: driver.CU_GRAPH_COND_TYPE_SWITCH, Size: 2, Ctx: w.context()}
		return []any{x, x.Conditional()}
	case 5:
		x.Type = driver.CU_GRAPH_NODE_TYPE_BATCH_MEM_OP
		*x.MemOp() = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS_v2(*w.batchNode())
		return []any{x, x.MemOp()}
	}
	x.Type = driver.CU_GRAPH_NODE_TYPE_KERNEL
	*x.Kernel() = driver.CUDA_KERNEL_NODE_PARAMS_v3{Func: w.function(), GridDimX: 1, GridDimY: 1, GridDimZ: 1,
		BlockDimX: 1, BlockDimY: 1, BlockDimZ: 1, KernelParams: w.params()}
	return []any{x, x.Kernel()}
}

// extra is a list of kernel parameters in one buffer, whose size is a number.
func (w *world) extra() (unsafe.Pointer, []any, bool) {
	list, size := (*[5]uintptr)(w.arena.block()), slot[uint64](w)
	*size = 12
	*list = [5]uintptr{driver.CU_LAUNCH_PARAM_BUFFER_POINTER, uintptr(w.arena.block()),
		driver.CU_LAUNCH_PARAM_BUFFER_SIZE, uintptr(unsafe.Pointer(size)), driver.CU_LAUNCH_PARAM_END}
	return unsafe.Pointer(list), []any{size}, true
}

// jitOptions are options with numbers in their values. The first four are logs, which inputs of a link have none of.
var jitOptions = [...]driver.CUjit_option{
	driver.CU_JIT_INFO_LOG_BUFFER, driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, driver.CU_JIT_ERROR_LOG_BUFFER,
	driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
	driver.CU_JIT_GLOBAL_SYMBOL_NAMES, driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES, driver.CU_JIT_GLOBAL_SYMBOL_COUNT,
	driver.CU_JIT_MAX_REGISTERS, driver.CU_JIT_THREADS_PER_BLOCK,
	driver.CU_JIT_OPTIMIZATION_LEVEL, driver.CU_JIT_MAX_THREADS_PER_BLOCK, driver.CU_JIT_MIN_CTA_PER_SM,
}

func jitOptionsOf(fn string) int {
	if strings.HasPrefix(fn, "cuLinkAdd") {
		return 4
	}
	return 0
}

// jitValues are values for them.
func (w *world) jitValues(fn string) (unsafe.Pointer, []any, bool) {
	names := (*[1]*byte)(w.arena.block())
	names[0] = w.text("elsewhere")
	values := [len(jitOptions)]uintptr{
		uintptr(w.arena.block()), block, uintptr(w.arena.block()), block, uintptr(unsafe.Pointer(names)),
		uintptr(w.arena.block()), 1, 64, 64, 4, 64, 1,
	}
	list := (*[len(jitOptions)]uint64)(w.arena.block())
	var views []any
	for i, v := range values[jitOptionsOf(fn):] {
		list[i] = uint64(v)
		if v <= block {
			views = append(views, &list[i])
		}
	}
	return unsafe.Pointer(list), views, true
}

// string is the text for a parameter.
func (w *world) string(fn, param string) string {
	switch {
	case strings.Contains(fn, "GetProcAddress"), param == "symbol":
		return "cuMemAlloc"
	case strings.Contains(fn, "GetGlobal"):
		return "variable"
	case strings.Contains(fn, "GetManaged"):
		return "managed"
	case strings.Contains(fn, "TexRef"):
		return "texture"
	case strings.Contains(fn, "SurfRef"):
		return "surface"
	case strings.Contains(fn, "PCIBusId"):
		return "0000:00:00.0"
	case strings.Contains(fn, "DotPrint"), strings.Contains(fn, "DumpToFile"):
		return w.path
	case strings.HasSuffix(param, "ame") && !strings.Contains(fn, "File") && param != "fname",
		fn == "cuModuleGetFunction":
		return "kernel"
	}
	return w.path + ".ptx"
}

// memoryOf is host memory for a parameter.
func (w *world) memoryOf(fn, param string) unsafe.Pointer {
	switch {
	case w.t == nil:
		return w.arena.block()
	case strings.Contains(fn, "MemFreeHost"), strings.Contains(fn, "MemHostGet"):
		return w.pinned()
	case strings.Contains(fn, "HostUnregister"):
		return w.registered()
	case strings.Contains(fn, "ModuleLoad"), strings.Contains(fn, "LibraryLoad"), strings.Contains(fn, "LinkAddData"):
		return unsafe.Pointer(w.text(text))
	}
	p := w.arena.block()
	if strings.Contains(fn, "SetAttribute") {
		*(*uint32)(p) = 1
		if strings.Contains(fn, "GraphMem") || strings.Contains(fn, "MemPool") {
			*(*uint64)(p) = 0
		}
	}
	return p
}
