package softdev

import (
	"slices"

	"github.com/gocuda/cuda/internal/driver"
)

// Which devices are joined. Those of one profile with NVLink reach each other's memory through switches, as in the
// machines that such GPUs are built into; all others have the host between them. What joined devices answer was
// recorded on two H100 (internal/conform/api, TestTwo). What others do is documented, not recorded: copies between them
// go through the host, kernels reach nothing of each other.

// joined says whether NVLink joins two devices. A device is not joined to itself.
func (dev *device) joined(o *device) bool {
	return dev != o && dev.profile.NVLink && dev.profile.ID == o.profile.ID
}

// reachable says whether a device can be given access to memory of another.
func (dev *device) reachable(o *device) bool { return dev == o || dev.joined(o) }

// multicast says whether the device can be one of a multicast team: NVLink's switches do that for devices of compute
// capability 9.0 and more, where there is another one (CUDA Programming Guide, "Multicast Support").
func (dev *device) multicast() bool {
	if dev.sm() < 90 {
		return false
	}
	for _, o := range dev.d.devices {
		if dev.joined(o) {
			return true
		}
	}
	return false
}

func (d *Driver) deviceCanAccessPeer(_ driver.CUcontext, out *int32, ordinal, peer driver.CUdevice) driver.CUresult {
	dev, r := d.asked(out != nil, ordinal)
	if r != success {
		return r
	}
	o, r := d.deviceOf(peer)
	if r != success {
		return r
	}
	*out = 0
	if dev.joined(o) {
		*out = 1
	}
	return success
}

func (d *Driver) deviceGetP2PAttribute(_ driver.CUcontext, out *int32, attr driver.CUdevice_P2PAttribute, src,
	dst driver.CUdevice) driver.CUresult {
	from, r := d.asked(out != nil, src)
	if r != success {
		return r
	}
	to, r := d.deviceOf(dst)
	if r != success {
		return r
	}
	if src == dst {
		return driver.CUDA_ERROR_INVALID_DEVICE
	}
	switch attr {
	case driver.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, driver.CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED,
		driver.CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
		*out = 0
		if from.joined(to) {
			*out = 1
		}
	case driver.CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK,
		driver.CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
		*out = 0
	default:
		return invalidValue
	}
	return success
}

// grants says whether a device can be given access to memory of another (cuMemPoolSetAccess).
func (d *Driver) grants(dev *device, l driver.CUmemLocation) bool {
	return l.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE || dev.reachable(d.devices[l.Id])
}

// grants says whether a place can be given access to what a handle stands for (cuMemSetAccess).
func (h *memHandle) grants(l driver.CUmemLocation) bool {
	d := h.dev.d
	if h.multi == nil || l.Type != driver.CU_MEM_LOCATION_TYPE_DEVICE {
		return d.grants(h.dev, l)
	}
	return slices.Contains(h.multi.team.devices(), d.devices[l.Id].uuid())
}
