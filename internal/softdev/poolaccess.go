package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// validPlace says whether a location is one that memory can be accessed from: a device that there is, or the host.
func (d *Driver) validPlace(l driver.CUmemLocation) bool {
	switch l.Type {
	case driver.CU_MEM_LOCATION_TYPE_DEVICE:
		return l.Id >= 0 && int(l.Id) < len(d.devices)
	case driver.CU_MEM_LOCATION_TYPE_HOST, driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return true
	case driver.CU_MEM_LOCATION_TYPE_HOST_NUMA:
		return l.Id == hostNode
	}
	return false
}

// knownPlace says whether a location is of a type that there is.
func knownPlace(l driver.CUmemLocation) bool {
	return l.Type >= driver.CU_MEM_LOCATION_TYPE_NONE && l.Type <= driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
}

// hostNode is the only NUMA node of the host (CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID).
const hostNode = 0

// onHost says whether a location is host memory.
func onHost(l driver.CUmemLocation) bool {
	return l.Type >= driver.CU_MEM_LOCATION_TYPE_HOST && l.Type <= driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT
}

// located is the device and the heap of memory of a type at a location (cuMemPoolCreate, CUmemAllocationType). Managed
// memory moves by itself and may have no location.
func (d *Driver) located(typ driver.CUmemAllocationType, l driver.CUmemLocation) (*device, *mem.Heap, driver.CUresult) {
	dev := d.devices[0]
	switch {
	case typ == driver.CU_MEM_ALLOCATION_TYPE_MANAGED &&
		(l.Type == driver.CU_MEM_LOCATION_TYPE_NONE || l.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT):
		return dev, d.memory.managed, success
	case typ != driver.CU_MEM_ALLOCATION_TYPE_PINNED && typ != driver.CU_MEM_ALLOCATION_TYPE_MANAGED, !d.validPlace(l),
		l.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return nil, nil, invalidValue
	case l.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE:
		dev = d.devices[l.Id]
	}
	switch {
	case typ == driver.CU_MEM_ALLOCATION_TYPE_MANAGED:
		return dev, d.memory.managed, success
	case onHost(l):
		return dev, d.memory.pinned, success
	}
	return dev, dev.heap, success
}

// owner says whether a place has access to the pool's memory that cannot be taken away.
func (p *pool) owner(l driver.CUmemLocation) bool {
	switch {
	case p.props.AllocType == driver.CU_MEM_ALLOCATION_TYPE_MANAGED:
		return true
	case onHost(p.props.Location):
		return onHost(l)
	}
	return l.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE && l.Id == p.dev.ordinal
}

// memPoolSetAccess keeps what cuMemPoolGetAccess reports, and what kernels of other devices are asked for (reach.go).
// Taking the right away from the pool's own place is an error (cuMemPoolSetAccess).
func (d *Driver) memPoolSetAccess(_ driver.CUcontext, h driver.CUmemoryPool, list *driver.CUmemAccessDesc,
	n uint64) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if list == nil || n > uint64(len(d.devices))+1 {
		return invalidValue
	}
	all := unsafe.Slice(list, n)
	for _, a := range all { // codes and their order as recorded for a pool on a device
		device := a.Location.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE
		if !device && !(onHost(a.Location) && onHost(p.props.Location)) {
			return notSupported
		}
		switch a.Flags {
		case driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE, driver.CU_MEM_ACCESS_FLAGS_PROT_NONE:
		default:
			if device && a.Flags != driver.CU_MEM_ACCESS_FLAGS_PROT_READ && !p.owner(a.Location) {
				return invalidValue // recorded for another device's pool
			}
			return notSupported
		}
		if device && !d.validPlace(a.Location) || a.Flags == driver.CU_MEM_ACCESS_FLAGS_PROT_NONE &&
			p.owner(a.Location) {
			return driver.CUDA_ERROR_INVALID_DEVICE
		}
		if device && a.Flags != driver.CU_MEM_ACCESS_FLAGS_PROT_NONE && p.dev != nil && !p.owner(a.Location) &&
			!onHost(p.props.Location) && !d.grants(p.dev, a.Location) {
			// CUDA Programming Guide, "Device Accessibility for Multi-GPU Support"
			return driver.CUDA_ERROR_INVALID_DEVICE
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.access == nil {
		p.access = map[driver.CUmemLocation]driver.CUmemAccess_flags{}
	}
	for _, a := range all {
		p.access[a.Location] = a.Flags
	}
	if p.heap == d.memory.pinned {
		p.hidden.Store(true)
		for l, flags := range p.access {
			if l.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE && flags != driver.CU_MEM_ACCESS_FLAGS_PROT_NONE {
				p.hidden.Store(false)
			}
		}
	}
	return success
}

// poolPlace names the pools of a place besides those of devices: of host memory and of managed memory.
type poolPlace struct {
	typ driver.CUmemAllocationType
	loc driver.CUmemLocation
}

type poolPair struct{ dflt, current *pool }

// placePools are the pools of a place, made when they are first asked for; dev.poolMu of the first device guards them.
func (d *Driver) placePools(typ driver.CUmemAllocationType, l driver.CUmemLocation) (*poolPair, driver.CUresult) {
	dev, heap, r := d.located(typ, l)
	if r != success {
		return nil, r
	}
	if l.Type == driver.CU_MEM_LOCATION_TYPE_HOST {
		l.Id = 0 // it says nothing
	}
	key := poolPlace{typ, l}
	pair := d.placed[key]
	if pair == nil {
		p := newPool(dev)
		p.props.AllocType, p.props.Location = typ, l
		p.heap, p.isDflt = heap, true
		p.hidden.Store(heap == d.memory.pinned)
		pair = &poolPair{p, p}
		if d.placed == nil {
			d.placed = map[poolPlace]*poolPair{}
		}
		d.placed[key] = pair
	}
	return pair, success
}

// forgetPool makes default pools current where a pool was that is destroyed.
func (d *Driver) forgetPool(p *pool) {
	p.dev.forgetPool(p)
	d.devices[0].poolMu.Lock()
	defer d.devices[0].poolMu.Unlock()
	for _, pair := range d.placed {
		if pair.current == p {
			pair.current = pair.dflt
		}
	}
}

func (dev *device) forgetPool(p *pool) {
	dev.poolMu.Lock()
	defer dev.poolMu.Unlock()
	if dev.current == p {
		dev.current = dev.dflt
	}
}

// memPoolOf serves the three calls that ask for or set the pool of a place.
func (d *Driver) memPoolOf(haveOut bool, where *driver.CUmemLocation, typ driver.CUmemAllocationType,
	device func(driver.CUdevice) driver.CUresult, place func(*poolPair) driver.CUresult) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if !haveOut || where == nil {
		return invalidValue
	}
	if !knownPlace(*where) || where.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
		return notSupported
	}
	if typ == driver.CU_MEM_ALLOCATION_TYPE_PINNED && where.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE {
		if !d.validPlace(*where) {
			return invalidValue
		}
		return device(driver.CUdevice(where.Id))
	}
	d.devices[0].poolMu.Lock()
	defer d.devices[0].poolMu.Unlock()
	pair, r := d.placePools(typ, *where)
	if r != success {
		return r
	}
	return place(pair)
}

func (d *Driver) memGetDefaultMemPool(cur driver.CUcontext, out *driver.CUmemoryPool, where *driver.CUmemLocation,
	typ driver.CUmemAllocationType) driver.CUresult {
	return d.memPoolOf(out != nil, where, typ,
		func(dev driver.CUdevice) driver.CUresult { return d.deviceGetDefaultMemPool(cur, out, dev) },
		func(p *poolPair) driver.CUresult { *out = p.dflt.handle; return success })
}

func (d *Driver) memGetMemPool(cur driver.CUcontext, out *driver.CUmemoryPool, where *driver.CUmemLocation,
	typ driver.CUmemAllocationType) driver.CUresult {
	return d.memPoolOf(out != nil, where, typ,
		func(dev driver.CUdevice) driver.CUresult { return d.deviceGetMemPool(cur, out, dev) },
		func(p *poolPair) driver.CUresult { *out = p.current.handle; return success })
}

func (d *Driver) memSetMemPool(cur driver.CUcontext, where *driver.CUmemLocation, typ driver.CUmemAllocationType,
	h driver.CUmemoryPool) driver.CUresult {
	return d.memPoolOf(true, where, typ,
		func(dev driver.CUdevice) driver.CUresult { return d.deviceSetMemPool(cur, dev, h) },
		func(pair *poolPair) driver.CUresult {
			p := d.pools.get(uintptr(h))
			if p == nil || p.imported() || p.props.AllocType != typ ||
				p.props.Location.Type != pair.dflt.props.Location.Type || p.heap != pair.dflt.heap {
				return invalidValue
			}
			pair.current = p
			return success
		})
}

// memBatchDecompressAsync: the device has no decompression engine (CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK),
// as an H200 has none (recorded).
func (d *Driver) memBatchDecompressAsync(cur driver.CUcontext, _ *driver.CUmemDecompressParams, _ uint64, _ uint32,
	_ *uint64, h driver.CUstream) driver.CUresult {
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	d.explain(s.ctx, "the device has no decompression engine")
	return notSupported
}
