package limits

import (
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// arguments are those of one call, with the numbers in them.
type arguments struct {
	values  []reflect.Value // addressable; [0] is the context
	numbers []number
}

// arguments makes valid ones.
func (w *world) arguments(s *driver.Symbol, ft reflect.Type) *arguments {
	a := &arguments{values: make([]reflect.Value, ft.NumIn())}
	a.values[0] = reflect.New(ft.In(0)).Elem()
	for i, p := range s.Params {
		v := reflect.New(ft.In(i + 1)).Elem()
		a.values[i+1] = v
		switch t := v.Type(); {
		case t.Kind() == reflect.Pointer || t.Kind() == reflect.UnsafePointer:
			w.pointer(a, s, &p, v)
		default:
			if h, ok := w.handle(t, s.Name, p.Name); ok {
				v.SetUint(h)
				continue
			}
			w.plain(s.Name, &p, v)
			a.numbers = numbers(a.numbers, p.Name, v)
		}
	}
	return a
}

// plain sets what is no pointer.
func (w *world) plain(fn string, p *driver.Param, v reflect.Value) {
	switch x := v.Addr().Interface().(type) {
	case *driver.CUhostFn:
		x.Go = func(uintptr) {}
	case *driver.CUstreamCallback:
		x.Go = func(driver.CUstream, driver.CUresult, uintptr) {}
	case *driver.CUoccupancyB2DSize:
		x.Go = func(int32) uint64 { return 0 }
	case *driver.CUasyncCallback:
		x.Go = func(*driver.CUasyncNotificationInfo, uintptr, driver.CUasyncCallbackHandle) {}
	case *driver.CUlogsCallback:
		x.Go = func(uintptr, driver.CUlogLevel, *byte, uint64) {}
	case *driver.CUmemLocation:
		*x = onDevice
	case *uintptr:
		if w.t != nil && strings.HasPrefix(fn, "cuMemImport") {
			fd := slot[int32](w)
			w.must("handle", w.t.MemExportToShareableHandle(0, unsafe.Pointer(fd), w.store(),
				driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
			*x = uintptr(*fd)
		}
		if w.t != nil && strings.HasPrefix(fn, "cuMemPoolImport") {
			fd := slot[int32](w)
			w.must("handle", w.t.MemPoolExportToShareableHandle(0, unsafe.Pointer(fd), w.pool(),
				driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0))
			*x = uintptr(*fd)
		}
		if p.Name == "addr" || p.Name == "globalAddress" {
			*x = uintptr(w.mapped())
			if p.Name == "globalAddress" {
				*x = uintptr(w.device())
			}
		}
	default:
		n := number{v: v}
		if bits, ok := usual(fn, p.Name); ok && (v.CanInt() || v.CanUint()) {
			n.set(bits)
		}
	}
}

// usual is a number that a call takes, by the function and the parameter, or by the parameter.
func usual(fn, param string) (uint64, bool) {
	for _, key := range []string{fn + "." + param, strings.TrimRight(fn, "_v123") + "." + param, param} {
		if n, ok := usualNumbers[key]; ok {
			return n, true
		}
	}
	return 0, false
}

var usualNumbers = map[string]uint64{
	"ByteCount": 64, "bytesize": 4096, "bytes": 256, "size": granule, "count": 1, "length": amount, "N": 16,
	"Width": 16, "Height": 4, "WidthInBytes": 64, "ElementSizeBytes": 4, "dstPitch": 512, "Pitch": 512,
	"blockDimX": 1, "blockDimY": 1, "blockDimZ": 1, "gridDimX": 1, "gridDimY": 1, "gridDimZ": 1, "grid_width": 1,
	"grid_height": 1, "x": 1, "y": 1, "z": 1, "blockSize": 32, "numBlocks": 1, "len": 64, "bufferSize": 64,
	"numAttributes": 1, "numAttrs": 1, "numDependencies": 1, "numDevices": 1, "numExtSems": 1, "numFunctions": 2,
	"numKernels": 2, "numMipmapLevels": 3, "numOps": 1, "numPrefetchLocs": 1, "nbResources": 1, "numChannels": 1,
	"NumPackedComponents": 1, "initialRefcount": 1, "isEnabled": 1, "cudaVersion": 13000, "dataSize": 4,
	"tensorRank": 4, "channelsPerPixel": 4, "pixelsPerColumn": 4, "minCount": 8, "numbytes": 4,
	"numOptions": uint64(len(jitOptions)), "numJitOptions": uint64(len(jitOptions)), "numLibraryOptions": 2,
	"attrib": 1, "maxAniso": 1,
	"format": 0x20, "fmt": 0x20, "tensorDataType": 7, "option": 0, "handleType": 1, "shHandleType": 1,
	"cudaDeviceCount":                  1,
	"cuFlushGPUDirectRDMAWrites.scope": 100,
	"cuCtxGetLimit.limit":              0, "cuCtxSetLimit.value": 1024, "cuDeviceGetAttribute.attrib": 1,
	"cuMemAllocManaged.flags": 1, "cuStreamAttachMemAsync.flags": 1, "cuMemAdvise.advice": 1,
	"cuMemRangeGetAttribute.attribute": 1,
	"cuPointerGetAttribute.attribute":  2, "cuPointerSetAttribute.attribute": 6, "cuLinkAddData.type": 1,
	"cuLinkAddFile.type": 1, "cuLinkAddData.numOptions": uint64(len(jitOptions) - 4),
	"cuLinkAddFile.numOptions": uint64(len(jitOptions) - 4), "cuStreamUpdateCaptureDependencies.numDependencies": 0,
	"cuLinkAddData.size": uint64(len(text)) + 1, "cuFuncSetAttribute.attrib": 8,
	"cuKernelSetAttribute.attrib": 8, "cuDeviceGetTexture1DLinearMaxWidth.format": 0x20,
	"cuMemHostRegister.bytesize": block, "cuCtxGetDevResource.type": 1, "cuDeviceGetDevResource.type": 1,
	"cuGreenCtxGetDevResource.type": 1,
	"cuStreamGetAttribute.attr":     3, "cuStreamSetAttribute.attr": 3, "cuGraphKernelNodeGetAttribute.attr": 8,
	"cuGraphKernelNodeSetAttribute.attr": 8, "cuGreenCtxStreamCreate.flags": 1, "cuGreenCtxCreate.flags": 1,
	"cuUserObjectCreate.flags": 1, "cuUserObjectCreate.initialRefcount": 1, "cuMemGetDefaultMemPool.type": 1,
	"cuMemGetMemPool.type": 1, "cuMemSetMemPool.type": 1, "cuMemPoolGetAttribute.attr": 4,
	"cuMemPoolSetAttribute.attr":               4,
	"cuMemGetHandleForAddressRange.handleType": 1, "cuMemDiscardBatchAsync.count": 1, "cuMemAdvise.count": amount,
	"cuMemPrefetchAsync.count": amount, "cuMemRangeGetAttribute.count": amount, "cuMemRangeGetAttributes.count": amount,
	"cuTensorMapEncodeIm2colWide.pixelBoxUpperCornerWidth": 0, "cuTensorMapEncodeIm2colWide.mode": 0,
	"cuTensorMapEncodeIm2colWide.swizzle": 3, "cuDeviceGetP2PAttribute.attrib": 1, "cuGraphDebugDotPrint.flags": 0,
	"cuGraphicsGLRegisterBuffer.Flags":            0,
	"cuMemPoolExportToShareableHandle.handleType": 1, "cuDeviceGetGraphMemAttribute.attr": 0,
	"cuDeviceSetGraphMemAttribute.attr": 1, "cuTexRefGetAddressMode.dim": 0, "cuParamSetTexRef.texunit": 0xffffffff,
	"cuGraphRetainUserObject.flags": 0, "cuCtxEnablePeerAccess.Flags": 0, "cuDevSmResourceSplitByCount.minCount": 8,
	"cuStreamGetDevResource.type": 1, "cuDevSmResourceSplit.nbGroups": 1, "summaryGranularity": block,
	"samplingGranularity": block, "cuMemcpyWithAttributesAsync.size": 64, "cuMemGetLocationInfo.size": block,
}

// pointer sets a pointer: to what the call reads, with its numbers, or to room for what it writes.
func (w *world) pointer(a *arguments, s *driver.Symbol, p *driver.Param, v reflect.Value) {
	set := func(q unsafe.Pointer) {
		if v.Kind() == reflect.UnsafePointer {
			v.Set(reflect.ValueOf(q))
			return
		}
		v.Set(reflect.NewAt(v.Type().Elem(), q))
	}
	if p.Out && v.Kind() != reflect.UnsafePointer {
		set(w.arena.block())
		return
	}
	if q, views, ok := w.input(s.Name, p.Name, v.Type()); ok {
		set(q)
		for i, x := range views {
			name := p.Name
			if i > 0 {
				name += "/" + strconv.Itoa(i)
			}
			a.numbers = numbers(a.numbers, name, reflect.ValueOf(x).Elem())
		}
		return
	}
	q := w.arena.block()
	set(q)
	if v.Kind() == reflect.UnsafePointer {
		return
	}
	e := v.Elem()
	if h, ok := w.handle(e.Type(), s.Name, p.Name); ok {
		e.SetUint(h)
		return
	}
	bits, ok := usualLists[p.Name]
	if strings.HasPrefix(s.Name, "cuCoredump") {
		bits = []uint64{1} // a truth value
	}
	if ok && (e.CanInt() || e.CanUint()) {
		for i, b := range bits {
			n := number{v: reflect.NewAt(e.Type(), unsafe.Add(q, uintptr(i)*e.Type().Size())).Elem()}
			n.set(b)
		}
	}
	a.numbers = numbers(a.numbers, p.Name, e)
}

// usualLists are the numbers that pointers lead to.
var usualLists = map[string][]uint64{
	"sizes": {amount / 2}, "dataSizes": {4}, "size": {64}, "globalDim": {16, 16, 16, 16},
	"globalStrides": {64, 1024, 16384}, "boxDim": {4, 4, 4, 4}, "elementStrides": {1, 1, 1, 1}, "nbGroups": {1},
	"attributes": {1},
	"numNodes":   {8}, "numRootNodes": {8}, "numEdges": {8}, "numDependentNodes": {8},
	"numDependencies": {8}, "operations": {0}, "value": {1},
}

// copy2D, copy3D and the others are what calls read.
func (w *world) copy2D() *driver.CUDA_MEMCPY2D {
	p := slot[driver.CUDA_MEMCPY2D](w)
	*p = driver.CUDA_MEMCPY2D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: w.device(), SrcPitch: 512,
		DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: w.device() + amount/2, DstPitch: 512, WidthInBytes: 64,
		Height: 4}
	switch w.variant {
	case 1:
		p.SrcMemoryType, p.SrcDevice, p.SrcHost = driver.CU_MEMORYTYPE_HOST, 0, uintptr(w.arena.block())
	case 2:
		p.DstMemoryType, p.DstDevice, p.DstArray, p.DstXInBytes = driver.CU_MEMORYTYPE_ARRAY, 0, w.array(), 4
	}
	return p
}

func (w *world) copy3D() *driver.CUDA_MEMCPY3D {
	p := slot[driver.CUDA_MEMCPY3D](w)
	*p = driver.CUDA_MEMCPY3D{SrcMemoryType: driver.CU_MEMORYTYPE_DEVICE, SrcDevice: w.device(), SrcPitch: 512,
		SrcHeight: 4, DstMemoryType: driver.CU_MEMORYTYPE_DEVICE, DstDevice: w.device() + amount/2, DstPitch: 512,
		DstHeight: 4, WidthInBytes: 64, Height: 4, Depth: 2}
	switch w.variant {
	case 1:
		p.SrcMemoryType, p.SrcDevice, p.SrcHost = driver.CU_MEMORYTYPE_HOST, 0, uintptr(w.arena.block())
	case 2:
		p.DstMemoryType, p.DstDevice, p.DstArray, p.DstXInBytes, p.Depth = driver.CU_MEMORYTYPE_ARRAY, 0, w.array(), 4,
			1
	}
	return p
}

func (w *world) fill() *driver.CUDA_MEMSET_NODE_PARAMS {
	p := slot[driver.CUDA_MEMSET_NODE_PARAMS](w)
	*p = driver.CUDA_MEMSET_NODE_PARAMS{Dst: w.device(), Pitch: 512, Value: 1, ElementSize: 4, Width: 16, Height: 4}
	return p
}

// params are the parameters of the kernel.
func (w *world) params() *unsafe.Pointer {
	list := (*[2]unsafe.Pointer)(w.arena.block())
	p, n := slot[uint64](w), slot[uint32](w)
	*p = uint64(w.device())
	list[0], list[1] = unsafe.Pointer(p), unsafe.Pointer(n)
	return &list[0]
}

func (w *world) kernelNode() *driver.CUDA_KERNEL_NODE_PARAMS {
	p := slot[driver.CUDA_KERNEL_NODE_PARAMS](w)
	*p = driver.CUDA_KERNEL_NODE_PARAMS{Func: w.function(), GridDimX: 1, GridDimY: 1, GridDimZ: 1, BlockDimX: 1,
		BlockDimY: 1, BlockDimZ: 1, KernelParams: w.params()}
	return p
}

func (w *world) hostNode() *driver.CUDA_HOST_NODE_PARAMS {
	p := slot[driver.CUDA_HOST_NODE_PARAMS](w)
	if w.t != nil && w.t.HostFunc != nil {
		p.Fn, p.UserData, _ = w.t.HostFunc(func() {})
	}
	return p
}

func (w *world) allocNode() *driver.CUDA_MEM_ALLOC_NODE_PARAMS {
	p := slot[driver.CUDA_MEM_ALLOC_NODE_PARAMS](w)
	*p = driver.CUDA_MEM_ALLOC_NODE_PARAMS{PoolProps: *w.poolProps(), AccessDescs: w.access(), AccessDescCount: 1,
		Bytesize: 4096}
	p.PoolProps.HandleTypes = 0
	return p
}

// writes are two operations on memory, one of which writes and one waits for what it has.
func (w *world) writes() *[2]driver.CUstreamBatchMemOpParams {
	list := slot[[2]driver.CUstreamBatchMemOpParams](w)
	x, y := list[0].WriteValue(), list[1].WaitValue()
	x.Operation, x.Address = driver.CU_STREAM_MEM_OP_WRITE_VALUE_32, w.device()
	y.Operation, y.Address = driver.CU_STREAM_MEM_OP_WAIT_VALUE_32, w.device()
	return list
}

func (w *world) batchNode() *driver.CUDA_BATCH_MEM_OP_NODE_PARAMS {
	p := slot[driver.CUDA_BATCH_MEM_OP_NODE_PARAMS](w)
	*p = driver.CUDA_BATCH_MEM_OP_NODE_PARAMS{Ctx: w.context(), Count: 1, ParamArray: &w.writes()[0]}
	return p
}

func (w *world) arrayResource() *driver.CUDA_RESOURCE_DESC {
	p := slot[driver.CUDA_RESOURCE_DESC](w)
	p.ResType = driver.CU_RESOURCE_TYPE_ARRAY
	p.Res.Array().HArray = w.array()
	return p
}
