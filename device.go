package cuda

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"

	"github.com/gocuda/cuda/cu"
)

func joinNames(names []string) string { return strings.Join(names, ",") }

// Device is a GPU or a software device.
type Device struct {
	sys     *System
	handle  cu.CUdevice
	ordinal int
	primary *health
}

// System returns the system of the device.
func (d *Device) System() *System { return d.sys }

// Ordinal returns the number of the device in its system.
func (d *Device) Ordinal() int { return d.ordinal }

// Handle returns the driver's handle of the device.
func (d *Device) Handle() cu.CUdevice { return d.handle }

// Kind returns whether this is a GPU or a software device.
func (d *Device) Kind() Kind { return d.sys.Kind() }

// String returns the kind, ordinal and name, for example "software device 0: NVIDIA H200 (software)".
func (d *Device) String() string {
	name, err := d.Name()
	if err != nil {
		name = err.Error()
	}
	return fmt.Sprintf("%s device %d: %s", d.Kind(), d.ordinal, name)
}

// check is the start of every call about the device.
func (d *Device) check(op string) error {
	if d.sys.isClosed() {
		return closedError(op, "system")
	}
	return nil
}

func (d *Device) fail(op string, err error) error {
	if err == nil {
		return nil
	}
	return d.sys.wrap(op, "", 0, err)
}

// Name returns the driver's name of the device, for example "NVIDIA H200".
func (d *Device) Name() (string, error) {
	if err := d.check("cuDeviceGetName"); err != nil {
		return "", err
	}
	name, err := d.sys.api.DeviceGetName(d.handle)
	return name, d.fail("cuDeviceGetName", err)
}

// UUID returns the device's identifier, which is the same in all processes and after a reboot.
func (d *Device) UUID() ([16]byte, error) {
	var id [16]byte
	if err := d.check("cuDeviceGetUuid"); err != nil {
		return id, err
	}
	u, err := d.sys.api.DeviceGetUuid(d.handle)
	for i := range id {
		id[i] = byte(u.Bytes[i])
	}
	return id, d.fail("cuDeviceGetUuid", err)
}

// PCIBusID returns the PCI address of the device, for example "0000:1b:00.0".
func (d *Device) PCIBusID() (string, error) {
	if err := d.check("cuDeviceGetPCIBusId"); err != nil {
		return "", err
	}
	id, err := d.sys.api.DeviceGetPCIBusId(d.handle)
	return id, d.fail("cuDeviceGetPCIBusId", err)
}

// TotalMemory returns the memory of the device in bytes.
func (d *Device) TotalMemory() (uint64, error) {
	if err := d.check("cuDeviceTotalMem"); err != nil {
		return 0, err
	}
	n, err := d.sys.api.DeviceTotalMem(d.handle)
	return n, d.fail("cuDeviceTotalMem", err)
}

// Attribute returns any attribute of the device, by its name in the driver API.
func (d *Device) Attribute(a cu.CUdevice_attribute) (int, error) {
	if err := d.check("cuDeviceGetAttribute"); err != nil {
		return 0, err
	}
	v, err := d.sys.api.DeviceGetAttribute(a, d.handle)
	return int(v), d.fail("cuDeviceGetAttribute", err)
}

// ComputeCapability returns the compute capability, for example 9, 0.
func (d *Device) ComputeCapability() (major, minor int, err error) {
	if major, err = d.Attribute(cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR); err != nil {
		return 0, 0, err
	}
	minor, err = d.Attribute(cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
	return major, minor, err
}

// DeviceInfo has the most used properties of a device. [Device.Attribute] has all of them.
type DeviceInfo struct {
	Name                         string
	Major, Minor                 int    // compute capability
	TotalMemory                  uint64 // bytes
	Multiprocessors              int
	WarpSize                     int
	ClockKHz                     int
	MaxThreadsPerBlock           int
	MaxThreadsPerSM              int
	MaxBlock, MaxGrid            Dim3
	SharedPerBlock               int // bytes without asking
	SharedPerBlockOptIn          int // bytes after [Kernel.SetMaxDynamicShared]
	SharedPerSM                  int // bytes
	RegistersPerBlock            int
	L2CacheBytes                 int
	Integrated                   bool // shares memory with the host
	ManagedMemory                bool
	ConcurrentManaged            bool // host and device may touch managed memory at the same time
	CooperativeLaunch            bool
	ClusterLaunch                bool
	MemoryPools                  bool
	UnifiedAddressing            bool
	CanMapHostMemory             bool
	AsyncEngines                 int
	ConcurrentKernels            bool
	ComputeMode                  int // CUcomputemode
	PCIDomain, PCIBus, PCIDevice int
}

// Info returns the properties of the device.
func (d *Device) Info() (DeviceInfo, error) {
	var in DeviceInfo
	var err error
	if in.Name, err = d.Name(); err != nil {
		return in, err
	}
	if in.TotalMemory, err = d.TotalMemory(); err != nil {
		return in, err
	}
	var gx, gy, gz, bx, by, bz int
	for _, a := range []struct {
		id cu.CUdevice_attribute
		to *int
	}{
		{cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &in.Major},
		{cu.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &in.Minor},
		{cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &in.Multiprocessors},
		{cu.CU_DEVICE_ATTRIBUTE_WARP_SIZE, &in.WarpSize},
		{cu.CU_DEVICE_ATTRIBUTE_CLOCK_RATE, &in.ClockKHz},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &in.MaxThreadsPerBlock},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, &in.MaxThreadsPerSM},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, &gx}, {cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, &gy},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, &gz},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, &bx}, {cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, &by},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, &bz},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, &in.SharedPerBlock},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, &in.SharedPerBlockOptIn},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, &in.SharedPerSM},
		{cu.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, &in.RegistersPerBlock},
		{cu.CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &in.L2CacheBytes},
		{cu.CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, &in.AsyncEngines},
		{cu.CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, &in.ComputeMode},
		{cu.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID, &in.PCIDomain}, {cu.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, &in.PCIBus},
		{cu.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, &in.PCIDevice},
	} {
		if *a.to, err = d.Attribute(a.id); err != nil {
			return in, err
		}
	}
	for _, a := range []struct {
		id cu.CUdevice_attribute
		to *bool
	}{
		{cu.CU_DEVICE_ATTRIBUTE_INTEGRATED, &in.Integrated},
		{cu.CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, &in.ManagedMemory},
		{cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, &in.ConcurrentManaged},
		{cu.CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, &in.CooperativeLaunch},
		{cu.CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, &in.MemoryPools},
		{cu.CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, &in.UnifiedAddressing},
		{cu.CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, &in.CanMapHostMemory},
		{cu.CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, &in.ConcurrentKernels},
	} {
		v, err := d.Attribute(a.id)
		if err != nil {
			return in, err
		}
		*a.to = v != 0
	}
	in.ClusterLaunch = false
	if in.Major >= 9 { // the attribute came with CUDA 11.8, clusters with compute capability 9.0
		v, err := d.Attribute(cu.CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
		if err != nil {
			return in, err
		}
		in.ClusterLaunch = v != 0
	}
	in.MaxGrid = Dim3{X: uint32(gx), Y: uint32(gy), Z: uint32(gz)}
	in.MaxBlock = Dim3{X: uint32(bx), Y: uint32(by), Z: uint32(bz)}
	return in, nil
}

// CanAccess reports whether kernels on d can access memory of peer directly, after [Context.EnablePeer].
func (d *Device) CanAccess(peer *Device) (bool, error) {
	if err := errors.Join(d.check("cuDeviceCanAccessPeer"), peer.check("cuDeviceCanAccessPeer")); err != nil {
		return false, err
	}
	v, err := d.sys.api.DeviceCanAccessPeer(d.handle, peer.handle)
	return v != 0, d.fail("cuDeviceCanAccessPeer", err)
}

// Primary returns the primary context, which all parts of a process share, the CUDA runtime included. Each call takes a
// reference, which Close releases; the context ends with the last one.
func (d *Device) Primary() (*Context, error) {
	if err := d.check("cuDevicePrimaryCtxRetain"); err != nil {
		return nil, err
	}
	h, err := d.sys.api.DevicePrimaryCtxRetain(d.handle)
	if err != nil {
		return nil, d.fail("cuDevicePrimaryCtxRetain", err)
	}
	if d.Kind() == Software {
		// Only a context that is new can be well again; on a GPU nothing brings it back.
		if _, err := d.sys.api.In(h).CtxGetFlags(); err == nil {
			d.primary.broken.Store(nil)
		}
	}
	return d.newContext(h, contextPrimary, 0, d.primary), nil
}

// ContextFlags are flags of [Device.NewContext].
type ContextFlags = cu.CUctx_flags

// The flags of a context: how the host waits for the device.
const (
	SchedAuto         ContextFlags = cu.CU_CTX_SCHED_AUTO
	SchedSpin         ContextFlags = cu.CU_CTX_SCHED_SPIN
	SchedYield        ContextFlags = cu.CU_CTX_SCHED_YIELD
	SchedBlockingSync ContextFlags = cu.CU_CTX_SCHED_BLOCKING_SYNC
)

// NewContext creates a context. Most programs want [Device.Primary]: kernels, memory and streams of different contexts
// cannot be combined.
func (d *Device) NewContext(flags ContextFlags) (*Context, error) {
	if err := d.check("cuCtxCreate"); err != nil {
		return nil, err
	}
	// cuCtxCreate pushes the context on the stack of the thread. It must not stay there, since the next goroutine on
	// this thread knows nothing of it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	h, err := d.sys.api.CtxCreate(nil, uint32(flags), d.handle)
	if err != nil {
		return nil, d.fail("cuCtxCreate", err)
	}
	if _, err := d.sys.api.CtxPopCurrent(); err != nil {
		return nil, d.fail("cuCtxPopCurrent", err)
	}
	return d.newContext(h, contextOrdinary, 0, new(health)), nil
}

// NewGreenContext creates a context with at least the given number of the device's multiprocessors to itself (CUDA 12.4
// and later). The driver rounds the number up; [Context.Multiprocessors] returns what it gave.
func (d *Device) NewGreenContext(multiprocessors int) (*Context, error) {
	if err := d.check("cuGreenCtxCreate"); err != nil {
		return nil, err
	}
	if multiprocessors < 1 || multiprocessors > math.MaxInt32 {
		return nil, invalid("cuGreenCtxCreate", "", "%d multiprocessors", multiprocessors)
	}
	api := d.sys.api
	all, err := api.DeviceGetDevResource(d.handle, cu.CU_DEV_RESOURCE_TYPE_SM)
	if err != nil {
		return nil, d.fail("cuDeviceGetDevResource", err)
	}
	groups, _, _, err := api.DevSmResourceSplitByCount(1, &all, 0, uint32(multiprocessors))
	if err != nil {
		return nil, d.fail("cuDevSmResourceSplitByCount", err)
	}
	if len(groups) == 0 {
		return nil, &Error{Op: "cuDevSmResourceSplitByCount", Code: ErrInvalidResourceConfiguration,
			Detail: "the driver made no group"}
	}
	desc, err := api.DevResourceGenerateDesc(groups[:1])
	if err != nil {
		return nil, d.fail("cuDevResourceGenerateDesc", err)
	}
	green, err := api.GreenCtxCreate(desc, d.handle, uint32(cu.CU_GREEN_CTX_DEFAULT_STREAM))
	if err != nil {
		return nil, d.fail("cuGreenCtxCreate", err)
	}
	h, err := api.CtxFromGreenCtx(green)
	if err != nil {
		_ = api.GreenCtxDestroy(green) // the first error counts
		return nil, d.fail("cuCtxFromGreenCtx", err)
	}
	return d.newContext(h, contextGreen, green, new(health)), nil
}
