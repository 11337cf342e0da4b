package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// pointerAttribute writes one attribute of an address to data. known is false for memory that the driver does not know.
func (d *Driver) pointerAttribute(cur driver.CUcontext, data unsafe.Pointer, attr driver.CUpointer_attribute,
	p driver.CUdeviceptr) (r driver.CUresult, known bool) {
	reached := func() bool { // by the context that asks
		c, r := d.attach(cur)
		return r != success || c.reaches(p, 1)
	}
	rng, a, ok := d.memory.find(p)
	if ok && a.graph != nil && a.graph.dormant.Load() {
		ok = false
	}
	put32 := func(v uint32) { *(*uint32)(data) = v }
	put64 := func(v uint64) { *(*uint64)(data) = v }
	flag := func(v bool) { // the driver writes four bytes also where the header says bool (recorded)
		put32(0)
		if v {
			put32(1)
		}
	}
	// Mappings of the window are granules, those of registered memory pages.
	mapping := func() (base, size uint64) {
		unit := uint64(mem.Granule)
		if rng.Kind == mem.Registered {
			unit = 4096
		}
		base = rng.Base &^ (unit - 1)
		return base, (rng.End() - base + unit - 1) &^ (unit - 1)
	}
	if attr < driver.CU_POINTER_ATTRIBUTE_CONTEXT || attr > driver.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE {
		return invalidValue, ok
	}
	if !ok {
		return invalidValue, false
	}
	switch attr {
	case driver.CU_POINTER_ATTRIBUTE_CONTEXT:
		if a.pool != nil || a.mapped != nil {
			put64(0) // memory of a pool and mapped memory belong to no context
			return success, true
		}
		put64(uint64(a.ctx.handle))
	case driver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		if rng.Kind == mem.Device || rng.Kind == mem.Managed {
			put32(uint32(driver.CU_MEMORYTYPE_DEVICE))
		} else {
			put32(uint32(driver.CU_MEMORYTYPE_HOST))
		}
	case driver.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		if !reached() {
			put64(0)
			return invalidValue, true // recorded
		}
		put64(uint64(p))
	case driver.CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if rng.Kind == mem.Device {
			put64(0)
			return invalidValue, true
		}
		put64(uint64(p))
	case driver.CU_POINTER_ATTRIBUTE_P2P_TOKENS:
		tokens := (*driver.CUDA_POINTER_ATTRIBUTE_P2P_TOKENS)(data)
		tokens.P2pToken, tokens.VaSpaceToken = 0, 0
		if rng.Kind != mem.Device && rng.Kind != mem.Managed {
			return invalidValue, true
		}
		tokens.VaSpaceToken = 0xfe00 // recorded
	case driver.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		flag(a.memops.Load() != (rng.Kind == mem.Managed)) // managed memory has it from the beginning (recorded)
	case driver.CU_POINTER_ATTRIBUTE_BUFFER_ID:
		put64(rng.ID)
	case driver.CU_POINTER_ATTRIBUTE_IS_MANAGED:
		flag(rng.Kind == mem.Managed)
	case driver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		put32(uint32(a.device().ordinal))
	case driver.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		flag(a.shareable(rng.Kind) && ipcHost)
	case driver.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		flag(rng.Kind == mem.Device && a.device().attribute(driver.CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED) != 0)
	case driver.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
		flag(rng.Kind == mem.Device &&
			a.device().attribute(driver.CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK) != 0)
	case driver.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		put64(rng.Base)
	case driver.CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		base, _ := mapping()
		put64(base)
	case driver.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		if _, size, ok := d.memory.w.Reservation(rng.Base); ok && a.mapped != nil {
			put64(size) // of what was reserved (recorded)
			break
		}
		put64(rng.Size)
	case driver.CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		_, size := mapping()
		put64(size)
	case driver.CU_POINTER_ATTRIBUTE_MAPPED:
		put32(1)
	case driver.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		switch {
		case a.mapped != nil:
			put64(uint64(a.mapped.h.prop.RequestedHandleTypes))
		case a.pool != nil:
			put64(uint64(a.pool.props.HandleTypes))
		default:
			put64(0)
		}
	case driver.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		put32(uint32(driver.CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE))
		if a.mapped != nil && !reached() { // other memory is said to be open to all (recorded)
			put32(uint32(driver.CU_POINTER_ATTRIBUTE_ACCESS_FLAG_NONE))
		}
	case driver.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		put64(0)
		if a.pool != nil {
			put64(uint64(a.pool.handle))
		}
	case driver.CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		put64(rng.ID)
	default:
		return invalidValue, true
	}
	return success, true
}

func (d *Driver) pointerGetAttribute(cur driver.CUcontext, data unsafe.Pointer, attr driver.CUpointer_attribute,
	p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if data == nil {
		return invalidValue
	}
	r, _ := d.pointerAttribute(cur, data, attr, p)
	return r
}

// pointerGetAttributes gives zero for what does not apply instead of failing (cuPointerGetAttributes).
func (d *Driver) pointerGetAttributes(cur driver.CUcontext, n uint32, attrs *driver.CUpointer_attribute,
	data *unsafe.Pointer, p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if n == 0 || attrs == nil || data == nil {
		return invalidValue
	}
	ids, places := unsafe.Slice(attrs, n), unsafe.Slice(data, n)
	for i, id := range ids {
		if places[i] == nil {
			return invalidValue
		}
		if id < driver.CU_POINTER_ATTRIBUTE_CONTEXT || id > driver.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE ||
			id == driver.CU_POINTER_ATTRIBUTE_P2P_TOKENS {
			return invalidValue
		}
	}
	for i, id := range ids {
		if r, _ := d.pointerAttribute(cur, places[i], id, p); r == success {
			continue
		}
		switch id {
		case driver.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
			*(*int32)(places[i]) = int32(driver.CU_DEVICE_INVALID)
		case driver.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, driver.CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
			driver.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, driver.CU_POINTER_ATTRIBUTE_IS_MANAGED,
			driver.CU_POINTER_ATTRIBUTE_MAPPED, driver.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE,
			driver.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS,
			driver.CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE:
			*(*uint32)(places[i]) = 0
		default:
			*(*uint64)(places[i]) = 0
		}
	}
	return success
}

func (d *Driver) pointerSetAttribute(cur driver.CUcontext, value unsafe.Pointer, attr driver.CUpointer_attribute,
	p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if value == nil || attr != driver.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS {
		return invalidValue
	}
	rng, a, ok := d.memory.find(p)
	switch {
	case !ok:
		return invalidValue
	case a.mapped != nil:
		return notSupported // recorded
	}
	a.memops.Store((*(*uint32)(value) != 0) != (rng.Kind == mem.Managed))
	return success
}
