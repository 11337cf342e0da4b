package cudart

import (
	"reflect"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// GetDeviceCount is cudaGetDeviceCount.
func (r *Runtime) GetDeviceCount(t *Thread, count *int32) Error {
	if count == nil {
		return t.fail(ErrorInvalidValue)
	}
	cur, e := r.begin(t)
	if e != Success {
		*count = 0
		return t.fail(e)
	}
	if result := r.table.DeviceGetCount(cur, count); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	if *count == 0 {
		return t.fail(ErrorNoDevice)
	}
	return Success
}

// exists says whether there is a device of that number.
func (r *Runtime) exists(cur driver.CUcontext, device int32) Error {
	var d driver.CUdevice
	if r.plain.DeviceGet(cur, &d, device) != driver.CUDA_SUCCESS {
		return ErrorInvalidDevice
	}
	return Success
}

// SetDevice is cudaSetDevice: it makes the device's primary context, too.
func (r *Runtime) SetDevice(t *Thread, device int32) Error { return r.use(t, device) }

// InitDevice is cudaInitDevice: the primary context is made and not made current.
func (r *Runtime) InitDevice(t *Thread, device int32, deviceFlags, flags uint32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if e := r.exists(cur, device); e != Success {
		return t.fail(e)
	}
	if flags&1 != 0 { // cudaInitDeviceFlagsAreValid
		if result := r.plain.DevicePrimaryCtxSetFlags_v2(cur, driver.CUdevice(device),
			deviceFlags&^8); result != driver.CUDA_SUCCESS {
			return r.done(t, result)
		}
	}
	if _, e := r.retain(device); e != Success {
		return t.fail(e)
	}
	return Success
}

func (r *Runtime) use(t *Thread, device int32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if e := r.exists(cur, device); e != Success {
		return t.fail(e)
	}
	resets := r.resets.Load()
	ctx, e := r.retain(device)
	if e != Success {
		return t.fail(e)
	}
	if result := r.plain.CtxSetCurrent(0, ctx); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	t.Current, t.Device, t.resets = ctx, device, resets
	return Success
}

// GetDevice is cudaGetDevice: the device of the current context, whoever has made it, else that of cudaSetDevice.
func (r *Runtime) GetDevice(t *Thread, device *int32) Error {
	if device == nil {
		return t.fail(ErrorInvalidValue)
	}
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	*device = t.Device
	if c := r.context(cur); c != 0 {
		if d, e := r.device(cur); e == Success {
			*device = int32(d)
		}
	}
	return Success
}

// SetValidDevices is cudaSetValidDevices: the devices to choose from, in this order.
func (r *Runtime) SetValidDevices(t *Thread, devices *int32, n int32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if n < 0 || n > 0 && devices == nil {
		return t.fail(ErrorInvalidValue)
	}
	var list []int32
	if n > 0 {
		list = append(list, unsafe.Slice(devices, n)...)
	}
	for _, d := range list {
		if e := r.exists(cur, d); e != Success {
			return t.fail(e)
		}
	}
	r.mu.Lock()
	r.valid = list
	r.mu.Unlock()
	if len(list) > 0 && r.context(cur) == 0 {
		t.Device = list[0]
	}
	return Success
}

// deviceFlags are those of a context that cudaSetDeviceFlags takes.
const deviceFlags = 0xff

// SetDeviceFlags is cudaSetDeviceFlags. Memory is mapped in any case.
func (r *Runtime) SetDeviceFlags(t *Thread, flags uint32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if flags&^deviceFlags != 0 || flags&7 != 0 && flags&7&(flags&7-1) != 0 {
		return t.fail(ErrorInvalidValue)
	}
	device := t.Device
	if r.context(cur) != 0 {
		if d, e := r.device(cur); e == Success {
			device = int32(d)
		}
	}
	flags &= 0x97 // how to wait, how to resize local memory, synchronous copies: the others mean nothing (recorded)
	if result := r.plain.DevicePrimaryCtxSetFlags_v2(cur, driver.CUdevice(device),
		flags); result != driver.CUDA_SUCCESS {
		return r.done(t, result)
	}
	return Success
}

// GetDeviceFlags is cudaGetDeviceFlags.
func (r *Runtime) GetDeviceFlags(t *Thread, flags *uint32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if flags == nil {
		return t.fail(ErrorInvalidValue)
	}
	if r.context(cur) != 0 {
		return r.done(t, r.table.CtxGetFlags(cur, flags))
	}
	var active int32
	result := r.plain.DevicePrimaryCtxGetState(cur, driver.CUdevice(t.Device), flags, &active)
	*flags |= 8 // memory is always mapped
	return r.done(t, result)
}

// DeviceReset is cudaDeviceReset: the primary context of the current device ends, with all that is in it.
func (r *Runtime) DeviceReset(t *Thread) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	device := t.Device
	if r.context(cur) != 0 {
		if d, e := r.device(cur); e == Success {
			device = int32(d)
		}
		r.plain.CtxSynchronize(cur) // what kernels have printed comes out
	}
	r.mu.Lock()
	held := r.primary[device]
	delete(r.primary, device)
	r.mu.Unlock()
	r.resets.Add(1)
	result := r.plain.DevicePrimaryCtxReset_v2(0, driver.CUdevice(device))
	if held != 0 {
		if r.context(cur) == held {
			r.plain.CtxSetCurrent(0, 0)
			r.plain.CtxGetCurrent(0, &t.Current)
		}
		r.plain.DevicePrimaryCtxRelease_v2(0, driver.CUdevice(device))
	}
	t.Device = device
	return r.done(t, result)
}

// ThreadExit is cudaThreadExit, an old name of cudaDeviceReset.
func (r *Runtime) ThreadExit(t *Thread) Error { return r.DeviceReset(t) }

// properties are the members of cudaDeviceProp that are attributes of the device, by name; those of arrays in order.
var properties = map[string][]driver.CUdevice_attribute{
	"SharedMemPerBlock":  {driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
	"RegsPerBlock":       {driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
	"WarpSize":           {driver.CU_DEVICE_ATTRIBUTE_WARP_SIZE},
	"MemPitch":           {driver.CU_DEVICE_ATTRIBUTE_MAX_PITCH},
	"MaxThreadsPerBlock": {driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
	"MaxThreadsDim": {
		driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X,
		driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y,
		driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z,
	},
	"MaxGridSize": {
		driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X,
		driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y,
		driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z,
	},
	"TotalConstMem":         {driver.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
	"Major":                 {driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR},
	"Minor":                 {driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR},
	"TextureAlignment":      {driver.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
	"TexturePitchAlignment": {driver.CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT},
	"MultiProcessorCount":   {driver.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
	"Integrated":            {driver.CU_DEVICE_ATTRIBUTE_INTEGRATED},
	"CanMapHostMemory":      {driver.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY},
	"MaxTexture1D":          {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH},
	"MaxTexture1DMipmap":    {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH},
	"MaxTexture1DLinear":    {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH},
	"MaxTexture2D": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT,
	},
	"MaxTexture2DMipmap": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT,
	},
	"MaxTexture2DLinear": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
	},
	"MaxTexture2DGather": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT,
	},
	"MaxTexture3D": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH,
	},
	"MaxTexture3DAlt": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE,
	},
	"MaxTextureCubemap": {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH},
	"MaxTexture1DLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS,
	},
	"MaxTexture2DLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS,
	},
	"MaxTextureCubemapLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS,
	},
	"MaxSurface1D": {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH},
	"MaxSurface2D": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT,
	},
	"MaxSurface3D": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH,
	},
	"MaxSurface1DLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS,
	},
	"MaxSurface2DLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS,
	},
	"MaxSurfaceCubemap": {driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH},
	"MaxSurfaceCubemapLayered": {
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
		driver.CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS,
	},
	"SurfaceAlignment":                       {driver.CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT},
	"ConcurrentKernels":                      {driver.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS},
	"ECCEnabled":                             {driver.CU_DEVICE_ATTRIBUTE_ECC_ENABLED},
	"PciBusID":                               {driver.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID},
	"PciDeviceID":                            {driver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID},
	"PciDomainID":                            {driver.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID},
	"TccDriver":                              {driver.CU_DEVICE_ATTRIBUTE_TCC_DRIVER},
	"AsyncEngineCount":                       {driver.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT},
	"DeviceOverlap":                          {driver.CU_DEVICE_ATTRIBUTE_GPU_OVERLAP},
	"UnifiedAddressing":                      {driver.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING},
	"MemoryBusWidth":                         {driver.CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
	"MemoryClockRate":                        {driver.CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
	"ClockRate":                              {driver.CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
	"KernelExecTimeoutEnabled":               {driver.CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT},
	"ComputeMode":                            {driver.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE},
	"SingleToDoublePrecisionPerfRatio":       {driver.CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO},
	"L2CacheSize":                            {driver.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
	"PersistingL2CacheMaxSize":               {driver.CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE},
	"MaxThreadsPerMultiProcessor":            {driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
	"StreamPrioritiesSupported":              {driver.CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED},
	"GlobalL1CacheSupported":                 {driver.CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED},
	"LocalL1CacheSupported":                  {driver.CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED},
	"SharedMemPerMultiprocessor":             {driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
	"RegsPerMultiprocessor":                  {driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
	"ManagedMemory":                          {driver.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY},
	"IsMultiGpuBoard":                        {driver.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD},
	"MultiGpuBoardGroupID":                   {driver.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID},
	"HostNativeAtomicSupported":              {driver.CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED},
	"PageableMemoryAccess":                   {driver.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS},
	"ConcurrentManagedAccess":                {driver.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS},
	"ComputePreemptionSupported":             {driver.CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED},
	"CanUseHostPointerForRegisteredMem":      {driver.CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM},
	"CooperativeLaunch":                      {driver.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH},
	"CooperativeMultiDeviceLaunch":           {driver.CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH},
	"SharedMemPerBlockOptin":                 {driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
	"PageableMemoryAccessUsesHostPageTables": {driver.CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES},
	"DirectManagedMemAccessFromHost":         {driver.CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST},
	"MaxBlocksPerMultiProcessor":             {driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
	"AccessPolicyMaxWindowSize":              {driver.CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE},
	"ReservedSharedMemPerBlock":              {driver.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
	"HostRegisterSupported":                  {driver.CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED},
	"SparseCudaArraySupported":               {driver.CU_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED},
	"HostRegisterReadOnlySupported":          {driver.CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED},
	"TimelineSemaphoreInteropSupported":      {driver.CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED},
	"MemoryPoolsSupported":                   {driver.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED},
	"GpuDirectRDMASupported":                 {driver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED},
	"GpuDirectRDMAFlushWritesOptions":        {driver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS},
	"GpuDirectRDMAWritesOrdering":            {driver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WRITES_ORDERING},
	"MemoryPoolSupportedHandleTypes":         {driver.CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES},
	"DeferredMappingCudaArraySupported":      {driver.CU_DEVICE_ATTRIBUTE_DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED},
	"IpcEventSupported":                      {driver.CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED},
	"ClusterLaunch":                          {driver.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH},
	"UnifiedFunctionPointers":                {driver.CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS},
	"DeviceNumaConfig":                       {driver.CU_DEVICE_ATTRIBUTE_NUMA_CONFIG},
	"DeviceNumaId":                           {driver.CU_DEVICE_ATTRIBUTE_NUMA_ID},
	"MpsEnabled":                             {driver.CU_DEVICE_ATTRIBUTE_MPS_ENABLED},
	"HostNumaId":                             {driver.CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID},
	"GpuPciDeviceID":                         {driver.CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID},
	"GpuPciSubsystemID":                      {driver.CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID},
	"HostNumaMultinodeIpcSupported":          {driver.CU_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED},
}

// legacyProp is the size of cudaDeviceProp before CUDA 12, which had the first members of the later one.
const legacyProp = 728

// GetDeviceProperties is cudaGetDeviceProperties of CUDA 13, cudaGetDeviceProperties_v2 of CUDA 12. The record has the
// version's layout.
func (r *Runtime) GetDeviceProperties(t *Thread, prop *DeviceProp, device int32) Error {
	if prop == nil {
		return t.fail(ErrorInvalidValue)
	}
	var p any = new(DeviceProp)
	if r.v12 {
		p = new(DeviceProp_v12)
	}
	if e := r.properties(t, p, device); e != Success {
		return e
	}
	if r.v12 {
		*(*DeviceProp_v12)(unsafe.Pointer(prop)) = *p.(*DeviceProp_v12)
	} else {
		*prop = *p.(*DeviceProp)
	}
	return Success
}

// GetDevicePropertiesLegacy is the symbol cudaGetDeviceProperties of libcudart.so.12, for the layout before CUDA 12.
func (r *Runtime) GetDevicePropertiesLegacy(t *Thread, prop uintptr, device int32) Error {
	if prop == 0 {
		return t.fail(ErrorInvalidValue)
	}
	p := new(DeviceProp_v12)
	if e := r.properties(t, p, device); e != Success {
		return e
	}
	*(*[legacyProp]byte)(pointer(prop)) = *(*[legacyProp]byte)(unsafe.Pointer(p))
	return Success
}

// properties fills a record of either version.
func (r *Runtime) properties(t *Thread, prop any, device int32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if e := r.exists(cur, device); e != Success {
		return t.fail(e)
	}
	d := driver.CUdevice(device)
	v := reflect.ValueOf(prop).Elem()
	for name, attributes := range properties {
		f := v.FieldByName(name)
		if !f.IsValid() {
			continue // not in this version
		}
		for i, a := range attributes {
			var n int32
			if r.table.DeviceGetAttribute(cur, &n, a, d) != driver.CUDA_SUCCESS {
				continue // newer than the driver
			}
			x := f
			if f.Kind() == reflect.Array {
				x = f.Index(i)
			}
			if x.CanUint() {
				x.SetUint(uint64(uint32(n)))
			} else {
				x.SetInt(int64(n))
			}
		}
	}
	name := v.FieldByName("Name").Addr().Interface().(*[256]byte)
	uuid := v.FieldByName("Uuid").Addr().Interface().(*Uuid)
	luid := v.FieldByName("Luid").Addr().Interface().(*[8]byte)
	var mask uint32
	var total uint64
	for _, result := range []driver.CUresult{
		r.table.DeviceGetName(cur, &name[0], int32(len(name)), d),
		r.table.DeviceGetUuid_v2(cur, (*driver.CUuuid)(unsafe.Pointer(uuid)), d),
		r.table.DeviceTotalMem_v2(cur, &total, d),
	} {
		if result != driver.CUDA_SUCCESS {
			return r.done(t, result)
		}
	}
	r.table.DeviceGetLuid(cur, &luid[0], &mask, d) // of Windows alone
	v.FieldByName("LuidDeviceNodeMask").SetUint(uint64(mask))
	v.FieldByName("TotalGlobalMem").SetUint(total)
	return Success
}

// ChooseDevice is cudaChooseDevice: the device that has most of what the record asks for.
func (r *Runtime) ChooseDevice(t *Thread, device *int32, prop *DeviceProp) Error {
	if device == nil || prop == nil {
		return t.fail(ErrorInvalidValue)
	}
	var n int32
	if e := r.GetDeviceCount(t, &n); e != Success {
		return e
	}
	wish := reflect.ValueOf(prop).Elem()
	if r.v12 {
		wish = reflect.ValueOf((*DeviceProp_v12)(unsafe.Pointer(prop))).Elem()
	}
	best := -1
	for i := range n {
		have := reflect.New(wish.Type())
		if e := r.properties(t, have.Interface(), i); e != Success {
			return e
		}
		score := 0
		for _, name := range []string{"Major", "Minor", "MultiProcessorCount", "TotalGlobalMem", "SharedMemPerBlock"} {
			w, h := wish.FieldByName(name), have.Elem().FieldByName(name)
			if w.CanInt() && h.Int() >= w.Int() || w.CanUint() && h.Uint() >= w.Uint() {
				score++
			}
		}
		if score > best {
			best = score
			*device = i
		}
	}
	return Success
}

// DeviceGetTexture1DLinearMaxWidth is cudaDeviceGetTexture1DLinearMaxWidth.
func (r *Runtime) DeviceGetTexture1DLinearMaxWidth(t *Thread, width *uint64, desc *ChannelFormatDesc,
	device int32) Error {
	cur, e := r.begin(t)
	if e != Success {
		return t.fail(e)
	}
	if desc == nil || width == nil {
		return t.fail(ErrorInvalidValue)
	}
	format, channels, e := desc.format()
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.DeviceGetTexture1DLinearMaxWidth(cur, width, format, channels, driver.CUdevice(device)))
}

// DeviceEnablePeerAccess is cudaDeviceEnablePeerAccess.
func (r *Runtime) DeviceEnablePeerAccess(t *Thread, peer int32, flags uint32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	ctx, e := r.peer(cur, peer)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.CtxEnablePeerAccess(cur, ctx, flags))
}

// DeviceDisablePeerAccess is cudaDeviceDisablePeerAccess.
func (r *Runtime) DeviceDisablePeerAccess(t *Thread, peer int32) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	ctx, e := r.peer(cur, peer)
	if e != Success {
		return t.fail(e)
	}
	return r.done(t, r.table.CtxDisablePeerAccess(cur, ctx))
}

// peer is the primary context of another device.
func (r *Runtime) peer(cur driver.CUcontext, device int32) (driver.CUcontext, Error) {
	if e := r.exists(cur, device); e != Success {
		return 0, e
	}
	if d, e := r.device(cur); e == Success && int32(d) == device {
		return r.context(cur), Success
	}
	return r.retain(device)
}
