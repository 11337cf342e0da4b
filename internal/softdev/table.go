package softdev

import (
	"reflect"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// newTable fills a table with what the device implements, group by group; the rest answers CUDA_ERROR_NOT_SUPPORTED and
// says its name in LastDetail.
func (d *Driver) newTable() *driver.Table {
	t := new(driver.Table)

	// Initialisation, version, errors, entry points, profiler.
	t.Init = d.init
	t.DriverGetVersion = d.driverGetVersion
	t.GetErrorName = d.getErrorName
	t.GetErrorString = d.getErrorString
	t.GetExportTable = d.getExportTable
	t.GetProcAddress = d.getProcAddress
	t.GetProcAddress_v2 = d.getProcAddressV2
	t.ProfilerStart = d.profilerStart
	t.ProfilerStop = d.profilerStop
	t.ProfilerInitialize = d.profilerInitialize

	// Advice and prefetches.
	t.MemAdvise = d.memAdvise1
	t.MemAdvise_v2 = d.memAdvise
	t.MemPrefetchAsync = d.memPrefetchAsync1
	t.MemPrefetchAsync_v2 = d.memPrefetchAsync
	t.MemPrefetchBatchAsync = d.memPrefetchBatchAsync
	t.MemDiscardBatchAsync = d.memDiscardBatchAsync
	t.MemDiscardAndPrefetchBatchAsync = d.memDiscardAndPrefetchBatchAsync
	t.MemRangeGetAttribute = d.memRangeGetAttribute
	t.MemRangeGetAttributes = d.memRangeGetAttributes
	t.MemGetLocationInfo = d.memGetLocationInfo

	// Tensor maps.
	t.TensorMapEncodeTiled = d.tensorMapEncodeTiled
	t.TensorMapEncodeIm2col = d.tensorMapEncodeIm2col
	t.TensorMapEncodeIm2colWide = d.tensorMapEncodeIm2colWide
	t.TensorMapReplaceAddress = d.tensorMapReplaceAddress

	// Devices.
	t.DeviceGet = d.deviceGet
	t.DeviceGetCount = d.deviceGetCount
	t.DeviceGetName = d.deviceGetName
	t.DeviceGetUuid = d.deviceGetUUID
	t.DeviceGetUuid_v2 = d.deviceGetUUID
	t.DeviceGetLuid = d.deviceGetLuid
	t.DeviceGetAttribute = d.deviceGetAttribute
	t.DeviceTotalMem_v2 = d.deviceTotalMem
	t.DeviceTotalMem = func(cur driver.CUcontext, out *uint32, dev driver.CUdevice) driver.CUresult {
		return narrow(out, func(v *uint64) driver.CUresult { return d.deviceTotalMem(cur, v, dev) })
	}
	t.DeviceComputeCapability = d.deviceComputeCapability
	t.DeviceGetProperties = d.deviceGetProperties
	t.DeviceGetPCIBusId = d.deviceGetPCIBusID
	t.DeviceGetByPCIBusId = d.deviceGetByPCIBusID
	t.DeviceGetExecAffinitySupport = d.deviceGetExecAffinitySupport
	t.DeviceCanAccessPeer = d.deviceCanAccessPeer
	t.DeviceGetP2PAttribute = d.deviceGetP2PAttribute
	t.DeviceGetP2PAtomicCapabilities = d.deviceGetP2PAtomicCapabilities
	t.DeviceGetHostAtomicCapabilities = d.deviceGetHostAtomicCapabilities
	t.DeviceGetTexture1DLinearMaxWidth = d.deviceGetTexture1DLinearMaxWidth
	t.CtxEnablePeerAccess = d.ctxEnablePeerAccess
	t.CtxDisablePeerAccess = d.ctxDisablePeerAccess

	// Primary contexts.
	t.DevicePrimaryCtxRetain = d.primaryRetain
	t.DevicePrimaryCtxRelease = d.primaryRelease1
	t.DevicePrimaryCtxRelease_v2 = d.primaryRelease
	t.DevicePrimaryCtxReset = d.primaryReset
	t.DevicePrimaryCtxReset_v2 = d.primaryReset
	t.DevicePrimaryCtxSetFlags = d.primarySetFlags1
	t.DevicePrimaryCtxSetFlags_v2 = d.primarySetFlags
	t.DevicePrimaryCtxGetState = d.primaryGetState

	// Contexts.
	t.CtxCreate = d.ctxCreate
	t.CtxCreate_v2 = d.ctxCreateV2
	t.CtxCreate_v3 = d.ctxCreateV3
	t.CtxCreate_v4 = d.ctxCreateV4
	t.CtxDestroy = d.ctxDestroy
	t.CtxDestroy_v2 = d.ctxDestroy
	t.CtxAttach = d.ctxAttach
	t.CtxDetach = d.ctxDetach
	t.CtxPushCurrent = d.ctxPush1
	t.CtxPushCurrent_v2 = d.ctxPush
	t.CtxPopCurrent = d.ctxPop
	t.CtxPopCurrent_v2 = d.ctxPop
	t.CtxSetCurrent = d.ctxSetCurrent
	t.CtxGetCurrent = d.ctxGetCurrent
	t.CtxGetDevice = d.ctxGetDevice
	t.CtxGetDevice_v2 = d.ctxGetDeviceV2
	t.CtxGetFlags = d.ctxGetFlags
	t.CtxSetFlags = d.ctxSetFlags
	t.CtxGetId = d.ctxGetID
	t.CtxGetApiVersion = d.ctxGetAPIVersion
	t.CtxSynchronize = d.ctxSynchronize
	t.CtxSynchronize_v2 = d.ctxSynchronizeV2
	t.CtxGetLimit = d.ctxGetLimit
	t.CtxSetLimit = d.ctxSetLimit
	t.CtxGetCacheConfig = d.ctxGetCacheConfig
	t.CtxSetCacheConfig = d.ctxSetCacheConfig
	t.CtxGetSharedMemConfig = d.ctxGetSharedMemConfig
	t.CtxSetSharedMemConfig = d.ctxSetSharedMemConfig
	t.CtxGetStreamPriorityRange = d.ctxGetStreamPriorityRange
	t.CtxResetPersistingL2Cache = d.ctxResetPersistingL2
	t.CtxGetExecAffinity = d.ctxGetExecAffinity
	t.CtxRecordEvent = d.ctxRecordEvent
	t.CtxWaitEvent = d.ctxWaitEvent

	d.memoryTable(t)
	d.copyTable(t)
	d.textureTable(t)

	// Streams and events.
	t.StreamCreate = d.streamCreate
	t.StreamCreateWithPriority = d.streamCreateWithPriority
	t.StreamDestroy = d.streamDestroy
	t.StreamDestroy_v2 = d.streamDestroy
	t.StreamQuery = d.streamQuery
	t.StreamSynchronize = d.streamSynchronize
	t.StreamWaitEvent = d.streamWaitEvent
	t.StreamGetPriority = d.streamGetPriority
	t.StreamGetFlags = d.streamGetFlags
	t.StreamGetId = d.streamGetID
	t.StreamGetCtx = d.streamGetCtx
	t.StreamGetCtx_v2 = d.streamGetCtxV2
	t.StreamGetDevice = d.streamGetDevice
	t.StreamGetAttribute = d.streamGetAttribute
	t.StreamSetAttribute = d.streamSetAttribute
	t.StreamCopyAttributes = d.streamCopyAttributes
	t.StreamGetGreenCtx = d.streamGetGreenCtx
	t.StreamAddCallback = d.streamAddCallback
	t.StreamAttachMemAsync = d.streamAttachMem
	t.LaunchHostFunc = d.launchHostFunc
	t.LaunchHostFunc_v2 = d.launchHostFuncV2
	t.EventCreate = d.eventCreate
	t.EventDestroy = d.eventDestroy
	t.EventDestroy_v2 = d.eventDestroy
	t.EventRecord = d.eventRecord
	t.EventRecordWithFlags = d.eventRecordWithFlags
	t.EventQuery = d.eventQuery
	t.EventSynchronize = d.eventSynchronize
	t.EventElapsedTime = d.eventElapsedTime
	t.EventElapsedTime_v2 = d.eventElapsedTime

	// Modules and libraries.
	t.ModuleLoad = d.moduleLoad
	t.ModuleLoadData = d.moduleLoadData
	t.ModuleLoadDataEx = d.moduleLoadDataEx
	t.ModuleLoadFatBinary = d.moduleLoadFatBinary
	t.ModuleUnload = d.moduleUnload
	t.ModuleGetFunction = d.moduleGetFunction
	t.ModuleGetGlobal = d.moduleGetGlobalV1
	t.ModuleGetGlobal_v2 = d.moduleGetGlobal
	t.ModuleGetFunctionCount = d.moduleGetFunctionCount
	t.ModuleEnumerateFunctions = d.moduleEnumerateFunctions
	t.ModuleGetLoadingMode = d.moduleGetLoadingMode
	t.LibraryLoadData = d.libraryLoadData
	t.LibraryLoadFromFile = d.libraryLoadFromFile
	t.LibraryUnload = d.libraryUnload
	t.LibraryGetKernel = d.libraryGetKernel
	t.LibraryGetKernelCount = d.libraryGetKernelCount
	t.LibraryEnumerateKernels = d.libraryEnumerateKernels
	t.LibraryGetModule = d.libraryGetModule
	t.LibraryGetGlobal = d.libraryGetGlobal
	t.LibraryGetManaged = d.libraryGetManaged
	t.LibraryGetUnifiedFunction = d.libraryGetUnifiedFunction
	t.KernelGetFunction = d.kernelGetFunction
	t.KernelGetLibrary = d.kernelGetLibrary
	t.KernelGetName = d.kernelGetName
	t.KernelGetParamInfo = d.kernelGetParamInfo
	t.KernelGetParamCount = d.kernelGetParamCount
	t.KernelGetAttribute = d.kernelGetAttribute
	t.KernelSetAttribute = d.kernelSetAttribute
	t.KernelSetCacheConfig = d.kernelSetCacheConfig
	d.linkTable(t)

	// Functions and launches.
	t.FuncGetAttribute = d.funcGetAttribute
	t.FuncSetAttribute = d.funcSetAttribute
	t.FuncGetModule = d.funcGetModule
	t.FuncGetName = d.funcGetName
	t.FuncGetParamInfo = d.funcGetParamInfo
	t.FuncGetParamCount = d.funcGetParamCount
	t.FuncIsLoaded = d.funcIsLoaded
	t.FuncLoad = d.funcLoad
	t.FuncSetCacheConfig = d.funcSetCacheConfig
	t.FuncSetSharedMemConfig = d.funcSetSharedMemConfig
	t.LaunchKernel = d.launchKernel
	t.LaunchKernelEx = d.launchKernelEx
	t.LaunchCooperativeKernel = d.launchCooperativeKernel
	t.LaunchCooperativeKernelMultiDevice = d.launchCooperativeMultiDevice
	t.FuncSetBlockShape = d.funcSetBlockShape
	t.FuncSetSharedSize = d.funcSetSharedSize
	t.ParamSetSize = d.paramSetSize
	t.ParamSeti = d.paramSeti
	t.ParamSetf = d.paramSetf
	t.ParamSetv = d.paramSetv
	t.Launch = d.launch
	t.LaunchGrid = d.launchGrid
	t.LaunchGridAsync = d.launchGridAsync
	t.OccupancyMaxActiveBlocksPerMultiprocessor = d.occupancyMaxActiveBlocks
	t.OccupancyMaxActiveBlocksPerMultiprocessorWithFlags = d.occupancyMaxActiveBlocksWithFlags
	t.OccupancyMaxPotentialBlockSize = d.occupancyMaxPotentialBlockSize
	t.OccupancyMaxPotentialBlockSizeWithFlags = d.occupancyMaxPotentialBlockSizeWithFlags
	t.OccupancyAvailableDynamicSMemPerBlock = d.occupancyAvailableDynamicShared
	t.OccupancyMaxActiveClusters = d.occupancyMaxActiveClusters
	t.OccupancyMaxPotentialClusterSize = d.occupancyMaxPotentialClusterSize

	d.graphTable(t)
	d.virtualTable(t)
	d.partitionTable(t)
	d.externalTable(t)
	d.checkpointTable(t)
	d.diagnosisTable(t)
	d.checkFirstVersions(t)
	d.withhold(t)
	if d.defects != nil {
		d.apiNames = methodNames(t)
	}
	d.refuseRest(t)
	t.PerThread = driver.DerivePerThread(t)
	t.Guard(d.caught)
	return t
}

func (d *Driver) memoryTable(t *driver.Table) {
	t.MemAlloc_v2 = d.memAlloc
	t.MemAllocPitch_v2 = d.memAllocPitch
	t.MemFree_v2 = d.memFree
	t.MemGetInfo_v2 = d.memGetInfo
	t.MemGetAddressRange_v2 = d.memGetAddressRange
	t.MemAllocHost_v2 = d.memAllocHost
	t.MemHostAlloc = d.memHostAlloc
	t.MemFreeHost = d.memFreeHost
	t.MemHostGetDevicePointer_v2 = d.memHostGetDevicePointer
	t.MemHostGetFlags = d.memHostGetFlags
	t.MemHostRegister_v2 = d.memHostRegister
	t.MemHostRegister = d.memHostRegister
	t.MemHostUnregister = d.memHostUnregister
	t.MemAllocManaged = d.memAllocManaged
	t.PointerGetAttribute = d.pointerGetAttribute
	t.PointerGetAttributes = d.pointerGetAttributes
	t.PointerSetAttribute = d.pointerSetAttribute
	t.MemAllocAsync = d.memAllocAsync
	t.MemAllocFromPoolAsync = d.memAllocFromPoolAsync
	t.MemFreeAsync = d.memFreeAsync
	t.DeviceGetDefaultMemPool = d.deviceGetDefaultMemPool
	t.DeviceGetMemPool = d.deviceGetMemPool
	t.DeviceSetMemPool = d.deviceSetMemPool
	t.MemPoolCreate = d.memPoolCreate
	t.MemPoolDestroy = d.memPoolDestroy
	t.MemPoolGetAttribute = d.memPoolGetAttribute
	t.MemPoolSetAttribute = d.memPoolSetAttribute
	t.MemPoolTrimTo = d.memPoolTrimTo
	t.MemPoolGetAccess = d.memPoolGetAccess
}

func (d *Driver) copyTable(t *driver.Table) {
	t.MemcpyHtoD_v2 = d.memcpyHtoD
	t.MemcpyHtoDAsync_v2 = d.memcpyHtoDAsync
	t.MemcpyDtoH_v2 = d.memcpyDtoH
	t.MemcpyDtoHAsync_v2 = d.memcpyDtoHAsync
	t.MemcpyDtoD_v2 = d.memcpyDtoD
	t.MemcpyDtoDAsync_v2 = d.memcpyDtoDAsync
	t.Memcpy = d.memcpy
	t.MemcpyAsync = d.memcpyAsync
	t.MemcpyPeer = d.memcpyPeer
	t.MemcpyPeerAsync = d.memcpyPeerAsync
	t.Memcpy2D_v2 = d.memcpy2D
	t.Memcpy2DUnaligned_v2 = d.memcpy2D
	t.Memcpy2DAsync_v2 = d.memcpy2DAsync
	t.Memcpy3D_v2 = d.memcpy3D
	t.Memcpy3DAsync_v2 = d.memcpy3DAsync
	t.Memcpy3DPeer = d.memcpy3DPeer
	t.Memcpy3DPeerAsync = d.memcpy3DPeerAsync

	type (
		ctx = driver.CUcontext
		ptr = driver.CUdeviceptr
		str = driver.CUstream
		res = driver.CUresult
	)
	t.MemsetD8_v2 = func(cur ctx, p ptr, v uint8, n uint64) res { return d.memset(cur, p, 1, uint32(v), n, 0, false) }
	t.MemsetD16_v2 = func(cur ctx, p ptr, v uint16, n uint64) res { return d.memset(cur, p, 2, uint32(v), n, 0, false) }
	t.MemsetD32_v2 = func(cur ctx, p ptr, v uint32, n uint64) res { return d.memset(cur, p, 4, v, n, 0, false) }
	t.MemsetD8Async = func(cur ctx, p ptr, v uint8, n uint64, s str) res {
		return d.memset(cur, p, 1, uint32(v), n, s, true)
	}
	t.MemsetD16Async = func(cur ctx, p ptr, v uint16, n uint64, s str) res {
		return d.memset(cur, p, 2, uint32(v), n, s, true)
	}
	t.MemsetD32Async = func(cur ctx, p ptr, v uint32, n uint64, s str) res { return d.memset(cur, p, 4, v, n, s, true) }
	t.MemsetD2D8_v2 = func(cur ctx, p ptr, pitch uint64, v uint8, w, h uint64) res {
		return d.memset2D(cur, p, pitch, 1, uint32(v), w, h, 0, false)
	}
	t.MemsetD2D16_v2 = func(cur ctx, p ptr, pitch uint64, v uint16, w, h uint64) res {
		return d.memset2D(cur, p, pitch, 2, uint32(v), w, h, 0, false)
	}
	t.MemsetD2D32_v2 = func(cur ctx, p ptr, pitch uint64, v uint32, w, h uint64) res {
		return d.memset2D(cur, p, pitch, 4, v, w, h, 0, false)
	}
	t.MemsetD2D8Async = func(cur ctx, p ptr, pitch uint64, v uint8, w, h uint64, s str) res {
		return d.memset2D(cur, p, pitch, 1, uint32(v), w, h, s, true)
	}
	t.MemsetD2D16Async = func(cur ctx, p ptr, pitch uint64, v uint16, w, h uint64, s str) res {
		return d.memset2D(cur, p, pitch, 2, uint32(v), w, h, s, true)
	}
	t.MemsetD2D32Async = func(cur ctx, p ptr, pitch uint64, v uint32, w, h uint64, s str) res {
		return d.memset2D(cur, p, pitch, 4, v, w, h, s, true)
	}
	t.MemAllocHost = func(cur ctx, out *unsafe.Pointer, n uint32) res { return d.memAllocHost(cur, out, uint64(n)) }
}

// narrow serves a first-version call that reports a size in 32 bits; what does not fit is cut to the largest value.
func narrow(out *uint32, call func(*uint64) driver.CUresult) driver.CUresult {
	if out == nil {
		return call(nil)
	}
	var v uint64
	r := call(&v)
	if r == success {
		*out = uint32(min(v, 1<<32-1))
	}
	return r
}

// Implements says whether a function of the API (its C symbol, for example cuMemAlloc_v2) does more than answer
// CUDA_ERROR_NOT_SUPPORTED.
func (d *Driver) Implements(symbol string) bool {
	_, ok := driver.Lookup(symbol)
	return ok && !d.refused[symbol]
}

// refuseRest fills what is left with functions that answer CUDA_ERROR_NOT_SUPPORTED (or that there is no cuInit yet)
// and leave the function's name as detail.
func (d *Driver) refuseRest(t *driver.Table) {
	v := reflect.ValueOf(t).Elem()
	for i := range v.NumField() {
		field := v.Field(i)
		ft := field.Type()
		if ft.Kind() != reflect.Func || !field.IsNil() || ft.NumOut() != 1 ||
			ft.Out(0) != reflect.TypeFor[driver.CUresult]() {
			continue
		}
		name := "cu" + v.Type().Field(i).Name
		d.refused[name] = true
		field.Set(reflect.MakeFunc(ft, func(args []reflect.Value) []reflect.Value {
			r := d.ready()
			if r == success {
				r = notSupported
				c, _ := d.attach(driver.CUcontext(args[0].Uint()))
				d.explain(c, "%s", d.refusal(name))
			}
			return []reflect.Value{reflect.ValueOf(r)}
		}))
	}
}
