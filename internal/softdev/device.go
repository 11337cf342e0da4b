package softdev

import (
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/profiles"
)

// device is one software device.
type device struct {
	d       *Driver
	ordinal int32
	slot    int32 // the ordinal without CUDA_VISIBLE_DEVICES
	profile *profiles.Profile
	attrs   map[driver.CUdevice_attribute]int32
	rules   [driver.CU_LIMIT_MAX]limitRule
	heap    *mem.Heap
	primary primary
	limits  launchLimits
	info    exec.DeviceInfo
	sticky  atomic.Uint32 // result of the fault that broke the device

	poolMu  sync.Mutex
	dflt    *pool
	current *pool
}

// launchLimits are the attributes that every launch is checked against.
type launchLimits struct {
	grid, block [3]uint32
	sms         uint32
}

func newDevice(d *Driver, ordinal int32, name string) (*device, error) {
	p, err := profiles.Get(name)
	if err != nil {
		return nil, err
	}
	dev := &device{d: d, ordinal: ordinal, slot: ordinal, profile: p, attrs: map[driver.CUdevice_attribute]int32{}}
	for _, a := range p.Attributes {
		dev.attrs[driver.CUdevice_attribute(a.ID)] = a.Value
	}
	for _, l := range p.Limits {
		if l.ID < int32(len(dev.rules)) {
			dev.rules[l.ID] = limitRule{l, l.Set != profiles.Unsupported}
		}
	}
	a := func(id driver.CUdevice_attribute) uint32 { return uint32(dev.attribute(id)) }
	dev.limits = launchLimits{
		grid: [3]uint32{a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X), a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y),
			a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
		block: [3]uint32{a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
			a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
		sms: a(driver.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
	}
	dev.info = exec.DeviceInfo{
		SMs:         dev.limits.sms,
		WarpsPerSM:  a(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) / warpSize,
		CTAsPerSM:   a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR),
		ClockKHz:    uint64(a(driver.CU_DEVICE_ATTRIBUTE_CLOCK_RATE)),
		MaxSharedSM: a(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
	}
	return dev, nil
}

func (dev *device) uuid() [16]byte { return dev.profile.UUID(int(dev.slot)) }

// sm is the compute capability as a number: 90 for 9.0.
func (dev *device) sm() int {
	return int(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)*10 +
		dev.attribute(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))
}

// maxSharedOptin is the most shared memory of a block, static and dynamic.
func (dev *device) maxSharedOptin() uint64 {
	return uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))
}

// reservedShared is what the system keeps of each block's shared memory.
func (dev *device) reservedShared() uint64 {
	return uint64(dev.attribute(driver.CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK))
}

// clampPriority brings a stream priority into the device's range, as the driver does with one out of it.
func (dev *device) clampPriority(v int32) int32 {
	return min(max(v, dev.profile.GreatestStreamPriority), dev.profile.LeastStreamPriority)
}

func (d *Driver) deviceGet(_ driver.CUcontext, out *driver.CUdevice, ordinal int32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	if _, r := d.deviceOf(driver.CUdevice(ordinal)); r != success {
		return r
	}
	*out = driver.CUdevice(ordinal)
	return success
}

func (d *Driver) deviceGetCount(_ driver.CUcontext, out *int32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	*out = int32(len(d.devices))
	return success
}

// asked is the beginning of the calls about a device: output first, then the device.
func (d *Driver) asked(haveOut bool, ordinal driver.CUdevice) (*device, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	if !haveOut {
		return nil, invalidValue
	}
	return d.deviceOf(ordinal)
}

// putString writes a text into a caller's buffer of n bytes, cut to fit, with a NUL. The length is unsigned to the
// driver (recorded: -1 is large).
func putString(p *byte, n int32, text string) {
	size := min(uint64(uint32(n)), uint64(len(text)+1))
	b := unsafe.Slice(p, size)
	b[copy(b[:size-1], text)] = 0
}

func (d *Driver) deviceGetName(_ driver.CUcontext, out *byte, n int32, ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(out != nil && n != 0, ordinal)
	if r != success {
		return r
	}
	putString(out, n, dev.profile.Name)
	return success
}

func (d *Driver) deviceGetUUID(_ driver.CUcontext, out *driver.CUuuid, ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(out != nil, ordinal)
	if r != success {
		return r
	}
	out.Bytes = dev.uuid()
	return success
}

// deviceGetLuid: a LUID exists on Windows only.
func (d *Driver) deviceGetLuid(_ driver.CUcontext, out *byte, mask *uint32, ordinal driver.CUdevice) driver.CUresult {
	if _, r := d.asked(out != nil && mask != nil, ordinal); r != success {
		return r
	}
	return notSupported
}

func (d *Driver) deviceGetAttribute(_ driver.CUcontext, out *int32, attr driver.CUdevice_attribute,
	ordinal driver.CUdevice) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	dev, r := d.asked(true, ordinal)
	if r != success {
		return r
	}
	v, ok := dev.attrs[attr]
	if !ok {
		v, ok = dev.laterAttribute(attr)
	}
	if !ok {
		return invalidValue
	}
	switch attr { // which tell devices of a machine apart (recorded)
	case driver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, driver.CU_DEVICE_ATTRIBUTE_MULTI_GPU_BOARD_GROUP_ID:
		v += dev.slot
	case driver.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, driver.CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
		if dev.multicast() {
			v = 1
		}
	}
	*out = v
	return success
}

// attribute is a device attribute, 0 for one that the profile does not have.
func (dev *device) attribute(id driver.CUdevice_attribute) int32 {
	return dev.attrs[id]
}

// totalMem is the device's memory in bytes: the profile's, unless the program or the environment says otherwise.
func (dev *device) totalMem() uint64 {
	if n := dev.d.perDevice; n != 0 {
		return n
	}
	return dev.profile.TotalMemory
}

func (d *Driver) deviceTotalMem(_ driver.CUcontext, out *uint64, ordinal driver.CUdevice) driver.CUresult {
	if out != nil {
		*out = 0
	}
	dev, r := d.asked(out != nil, ordinal)
	if r != success {
		return r
	}
	*out = dev.totalMem()
	return success
}

func (d *Driver) deviceComputeCapability(_ driver.CUcontext, major, minor *int32,
	ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(major != nil && minor != nil, ordinal)
	if r != success {
		return r
	}
	*major = dev.attribute(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
	*minor = dev.attribute(driver.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
	return success
}

func (d *Driver) deviceGetProperties(_ driver.CUcontext, out *driver.CUdevprop,
	ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(out != nil, ordinal)
	if r != success {
		return r
	}
	a := dev.attribute
	*out = driver.CUdevprop{
		MaxThreadsPerBlock: a(driver.CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
		MaxThreadsDim: [3]int32{a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X),
			a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y), a(driver.CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)},
		MaxGridSize: [3]int32{a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X),
			a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y), a(driver.CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)},
		SharedMemPerBlock:   a(driver.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK),
		TotalConstantMemory: a(driver.CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY),
		SIMDWidth:           a(driver.CU_DEVICE_ATTRIBUTE_WARP_SIZE),
		MemPitch:            a(driver.CU_DEVICE_ATTRIBUTE_MAX_PITCH),
		RegsPerBlock:        a(driver.CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK),
		ClockRate:           a(driver.CU_DEVICE_ATTRIBUTE_CLOCK_RATE),
		TextureAlign:        a(driver.CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT),
	}
	return success
}

// busID is the PCI address in the driver's form.
func (dev *device) busID() string {
	a := dev.attribute
	return fmt.Sprintf("%04X:%02X:%02X.0", a(driver.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
		a(driver.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), a(driver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)+dev.slot)
}

func (d *Driver) deviceGetPCIBusID(_ driver.CUcontext, out *byte, n int32, ordinal driver.CUdevice) driver.CUresult {
	dev, r := d.asked(out != nil && n != 0, ordinal)
	if r != success {
		return r
	}
	id := dev.busID()
	putString(out, n, id)
	if n >= 0 && int(n) <= len(id) {
		return invalidValue // cut, but written (recorded)
	}
	if n < 0 {
		return invalidValue
	}
	return success
}

// deviceGetByPCIBusID takes [domain]:[bus]:[device].[function], [domain]:[bus]:[device] and [bus]:[device].[function]
// in hexadecimal.
func (d *Driver) deviceGetByPCIBusID(_ driver.CUcontext, out *driver.CUdevice, id *byte) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || id == nil {
		return invalidValue
	}
	text := driver.String(id)
	var domain, bus, slot, function int32
	if n, _ := fmt.Sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function); n < 3 {
		domain, function = 0, 0
		if n, _ := fmt.Sscanf(text, "%x:%x.%x", &bus, &slot, &function); n < 3 {
			return invalidValue
		}
	}
	for _, dev := range d.devices {
		a := dev.attribute
		if function == 0 && domain == a(driver.CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID) &&
			bus == a(driver.CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) &&
			slot == a(driver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)+dev.slot {
			*out = driver.CUdevice(dev.ordinal)
			return success
		}
	}
	return driver.CUDA_ERROR_INVALID_DEVICE
}

func (d *Driver) deviceGetExecAffinitySupport(_ driver.CUcontext, out *int32, kind driver.CUexecAffinityType,
	ordinal driver.CUdevice) driver.CUresult {
	if _, r := d.asked(out != nil, ordinal); r != success {
		return r
	}
	*out = 0 // for any type, known or not (recorded)
	return success
}

func (d *Driver) deviceGetTexture1DLinearMaxWidth(_ driver.CUcontext, out *uint64, format driver.CUarray_format,
	channels uint32, ordinal driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	var size uint64
	switch format {
	case driver.CU_AD_FORMAT_UNSIGNED_INT8, driver.CU_AD_FORMAT_SIGNED_INT8:
		size = 1
	case driver.CU_AD_FORMAT_UNSIGNED_INT16, driver.CU_AD_FORMAT_SIGNED_INT16, driver.CU_AD_FORMAT_HALF:
		size = 2
	case driver.CU_AD_FORMAT_UNSIGNED_INT32, driver.CU_AD_FORMAT_SIGNED_INT32, driver.CU_AD_FORMAT_FLOAT:
		size = 4
	default:
		return invalidValue
	}
	if channels != 1 && channels != 2 && channels != 4 {
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r // after the format (recorded)
	}
	*out = dev.profile.Texture1DLinearMaxWidth(size * uint64(channels))
	return success
}

func (d *Driver) ctxEnablePeerAccess(cur, peer driver.CUcontext, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if flags != 0 {
		return invalidValue
	}
	p, r := d.contextOf(peer)
	if r != success {
		return r
	}
	if !c.dev.joined(p.dev) {
		return driver.CUDA_ERROR_PEER_ACCESS_UNSUPPORTED
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.peers[p]; ok {
		return driver.CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
	}
	if c.peers == nil {
		c.peers = map[*context]struct{}{}
	}
	c.peers[p] = struct{}{}
	c.setSpace()
	return success
}

func (d *Driver) ctxDisablePeerAccess(cur, peer driver.CUcontext) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	p, r := d.contextOf(peer)
	if r != success {
		return r
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.peers[p]; !ok {
		return driver.CUDA_ERROR_PEER_ACCESS_NOT_ENABLED
	}
	delete(c.peers, p)
	c.setSpace()
	return success
}
