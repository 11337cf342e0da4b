package softdev

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// memHandle is a CUmemGenericAllocationHandle: memory without an address, or a multicast object.
type memHandle struct {
	handle driver.CUmemGenericAllocationHandle
	store  *mem.Store // nil for a multicast object
	multi  *multicast // nil for memory
	prop   driver.CUmemAllocationProp
	dev    *device

	mu   sync.Mutex
	refs int // of the program: cuMemCreate and cuMemRetainAllocationHandle
	maps int // mappings, which keep the handle too
}

// handleTypes answers for the kinds of handles that memory or a pool is to have: Linux has none of Windows (recorded).
func handleTypes(t driver.CUmemAllocationHandleType) driver.CUresult {
	if t&(driver.CU_MEM_HANDLE_TYPE_WIN32|driver.CU_MEM_HANDLE_TYPE_WIN32_KMT) != 0 {
		return invalidValue
	}
	return success
}

// mappedMemory is what the driver knows of a mapping besides what package mem does: who may access it.
type mappedMemory struct {
	h      *memHandle
	mu     sync.Mutex
	access map[driver.CUmemLocation]driver.CUmemAccess_flags
}

func (d *Driver) memHandle(h driver.CUmemGenericAllocationHandle) (*memHandle, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	m := d.memHandles.get(uintptr(h))
	if m == nil || !m.held() {
		return nil, invalidValue
	}
	return m, success
}

// held says whether the program has the handle: what it has released and is mapped only answers for its properties
// (recorded).
func (m *memHandle) held() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refs > 0
}

func (d *Driver) memAddressReserve(_ driver.CUcontext, out *driver.CUdeviceptr, size, align uint64,
	_ driver.CUdeviceptr, flags uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	// The wanted address is a hint, and the window gives what it has.
	if out == nil || size == 0 || size%mem.Granule != 0 || align&(align-1) != 0 || flags != 0 {
		return invalidValue
	}
	p, err := d.memory.w.Reserve(size, align)
	if err != nil {
		d.explain(nil, "%s", err.Error())
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = driver.CUdeviceptr(p)
	return success
}

func (d *Driver) memAddressFree(_ driver.CUcontext, p driver.CUdeviceptr, size uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if d.memory.w.Owned(uint64(p)) {
		return d.notReserved(p)
	}
	if err := d.memory.w.Unreserve(uint64(p), size); err != nil {
		d.explain(nil, "%s", err.Error())
		return invalidValue
	}
	return success
}

// notReserved answers for memory that has reserved addresses and is another call's: imported, of an array.
func (d *Driver) notReserved(p driver.CUdeviceptr) driver.CUresult {
	d.explain(nil, "%#x was not reserved by cuMemAddressReserve", p)
	return invalidValue
}

// memGetAllocationGranularity looks at the option only (recorded: any type, location and device).
func (d *Driver) memGetAllocationGranularity(_ driver.CUcontext, out *uint64, prop *driver.CUmemAllocationProp,
	option driver.CUmemAllocationGranularity_flags) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || prop == nil || option > driver.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED {
		return invalidValue
	}
	*out = mem.Granule
	return success
}

func (d *Driver) memCreate(_ driver.CUcontext, out *driver.CUmemGenericAllocationHandle, size uint64,
	prop *driver.CUmemAllocationProp, flags uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || prop == nil || flags != 0 || size == 0 || size%mem.Granule != 0 {
		return invalidValue
	}
	dev, heap := d.devices[0], d.memory.pinned
	switch l := prop.Location; {
	case l.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE:
		var r driver.CUresult
		if dev, r = d.deviceOf(driver.CUdevice(l.Id)); r != success {
			return r
		}
		heap = dev.heap
	case !onHost(l) || !d.validPlace(l) || l.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return invalidValue
	}
	if prop.Type != driver.CU_MEM_ALLOCATION_TYPE_PINNED { // after the device (recorded)
		return invalidValue
	}
	// Bits that mean nothing do not matter (recorded).
	switch t := prop.RequestedHandleTypes; {
	case handleTypes(t) != success || prop.AllocFlags.CompressionType > uint8(driver.CU_MEM_ALLOCATION_COMP_GENERIC):
		return invalidValue
	case t&driver.CU_MEM_HANDLE_TYPE_FABRIC != 0 && !dev.multicast():
		d.explain(nil, "handles of a fabric need the right to one of its channels, and there is no fabric")
		return driver.CUDA_ERROR_NOT_PERMITTED
	}
	if r := d.unsafe(); r != success {
		return r
	}
	h := &memHandle{prop: *prop, dev: dev, refs: 1}
	h.prop.AllocFlags.Usage = 0 // not told (recorded)
	if onHost(prop.Location) {
		// as it is told (recorded)
		h.prop.Location = driver.CUmemLocation{Type: driver.CU_MEM_LOCATION_TYPE_HOST_NUMA, Id: hostNode}
	}
	return d.addStore(out, h, func() (err error) {
		if publish := h.prop.RequestedHandleTypes&shareableTypes != 0; publish && openByName(&h.prop) {
			h.store, err = heap.NewPublishedStore(size, h)
		} else {
			h.store, err = heap.NewStore(size, h)
		}
		return err
	})
}

// addStore gives new memory its handle.
func (d *Driver) addStore(out *driver.CUmemGenericAllocationHandle, h *memHandle, make func() error) driver.CUresult {
	if err := make(); err != nil {
		d.explain(nil, "%s", err.Error())
		var full *mem.OutOfMemoryError
		switch {
		case errors.As(err, &full):
			return driver.CUDA_ERROR_OUT_OF_MEMORY
		case errors.Is(err, errors.ErrUnsupported):
			return notSupported
		}
		return driver.CUDA_ERROR_OPERATING_SYSTEM
	}
	h.handle = driver.CUmemGenericAllocationHandle(d.memHandles.add(h))
	if h.handle == 0 {
		_ = h.store.Release()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = h.handle
	return success
}

// memRelease takes one of the program's references; what is mapped stays mapped.
func (d *Driver) memRelease(_ driver.CUcontext, handle driver.CUmemGenericAllocationHandle) driver.CUresult {
	h, r := d.memHandle(handle)
	if r != success {
		return r
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refs == 0 {
		return invalidValue
	}
	if h.refs--; h.refs > 0 {
		return success
	}
	if h.maps == 0 {
		d.memHandles.remove(uintptr(handle))
	}
	if h.multi != nil {
		if h.maps == 0 {
			h.multi.close()
		}
		return success
	}
	if err := h.store.Release(); err != nil {
		return invalidValue
	}
	return success
}

// memMap maps whole handles only, as the driver does (recorded; cuMemMap: "offset ... must be zero").
func (d *Driver) memMap(_ driver.CUcontext, p driver.CUdeviceptr, size, offset uint64,
	handle driver.CUmemGenericAllocationHandle, flags uint64) driver.CUresult {
	h, r := d.memHandle(handle)
	if r != success {
		return r
	}
	if flags != 0 || p == 0 || size == 0 {
		return invalidValue
	}
	if offset != 0 || size != h.size() {
		return notSupported
	}
	if h.multi != nil {
		if r := h.multi.assembled(); r != success {
			return r
		}
	}
	m := &mappedMemory{h: h, access: map[driver.CUmemLocation]driver.CUmemAccess_flags{}}
	h.mu.Lock()
	defer h.mu.Unlock()
	var err error
	if h.multi != nil {
		_, err = d.memory.w.MapNothing(uint64(p), size, mem.Device, &allocation{mapped: m})
	} else {
		_, err = d.memory.w.Map(uint64(p), size, h.store, offset, &allocation{mapped: m})
	}
	if err != nil {
		d.explain(nil, "%s", err.Error())
		return invalidValue
	}
	h.maps++
	return success
}

// size is what a mapping of the handle has.
func (h *memHandle) size() uint64 {
	if h.multi != nil {
		return h.multi.team.size
	}
	return h.store.Size()
}

// memUnmap waits for work that may use the memory; a range without mappings is fine (recorded).
func (d *Driver) memUnmap(_ driver.CUcontext, p driver.CUdeviceptr, size uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	for _, c := range d.contexts.all() {
		if !c.dead.Load() {
			c.wait()
		}
	}
	if d.memory.w.Owned(uint64(p)) {
		return d.notReserved(p)
	}
	gone := d.memory.mappedIn(p, size)
	if err := d.memory.w.Unmap(uint64(p), size); err != nil {
		d.explain(nil, "%s", err.Error())
		return invalidValue
	}
	for _, h := range gone {
		h.unmapped()
	}
	return success
}

// unmapped takes a mapping off the account.
func (h *memHandle) unmapped() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.maps--; h.maps == 0 && h.refs == 0 {
		h.dev.d.memHandles.remove(uintptr(h.handle))
		if h.multi != nil {
			h.multi.close()
		}
	}
}

// mappedIn is what lies in a range of addresses with gaps, once for each mapping.
func (m *memory) mappedIn(p driver.CUdeviceptr, size uint64) (list []*memHandle) {
	end := uint64(p) + size
	if end <= uint64(p) || !m.w.Contains(uint64(p)) || !m.w.Contains(end-1) {
		return nil
	}
	for at := uint64(p); at < end; {
		rng, a, ok := m.find(driver.CUdeviceptr(at))
		if !ok || a.mapped == nil {
			at += mem.Granule
			continue
		}
		list = append(list, a.mapped.h)
		at = rng.End()
	}
	return list
}

// mappings calls f for each mapping in a range of addresses.
func (m *memory) mappings(p driver.CUdeviceptr, size uint64, f func(*mappedMemory)) {
	for at := uint64(p); at-uint64(p) < size; {
		rng, a, ok := m.find(driver.CUdeviceptr(at))
		if !ok || a.mapped == nil {
			return
		}
		f(a.mapped)
		at = rng.End()
	}
}

// memSetAccess keeps the rights of each device. The host has one set of page rights for all of them, which is the
// union; that a device may not use a mapping at all is seen when a kernel of its comes to it (reach.go).
func (d *Driver) memSetAccess(_ driver.CUcontext, p driver.CUdeviceptr, size uint64, desc *driver.CUmemAccessDesc,
	n uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if desc == nil || n == 0 || p == 0 || size == 0 || n > uint64(len(d.devices))+1 {
		return invalidValue
	}
	if d.memory.w.Owned(uint64(p)) {
		return d.notReserved(p)
	}
	// The host reaches its own memory only (cuMemSetAccess), and devices that of those that they are joined to.
	host := true
	var owners []*memHandle
	d.memory.mappings(p, size, func(m *mappedMemory) {
		if !onHost(m.h.prop.Location) {
			host = false
			owners = append(owners, m.h)
		}
	})
	list := unsafe.Slice(desc, n)
	for _, a := range list {
		if !d.validPlace(a.Location) {
			return invalidValue
		}
		if onHost(a.Location) && !host {
			return notSupported
		}
		switch a.Flags {
		case driver.CU_MEM_ACCESS_FLAGS_PROT_NONE, driver.CU_MEM_ACCESS_FLAGS_PROT_READ,
			driver.CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
		default:
			return invalidValue
		}
		for _, o := range owners {
			if a.Flags != driver.CU_MEM_ACCESS_FLAGS_PROT_NONE && !o.grants(a.Location) {
				d.explain(nil, "device %d has no way to the memory", a.Location.Id)
				return driver.CUDA_ERROR_INVALID_DEVICE
			}
		}
	}
	// The rights in force before the call count for the devices that it does not name.
	union := mem.NoAccess
	for _, a := range list {
		union = max(union, mem.Access(a.Flags))
	}
	d.memory.mappings(p, size, func(m *mappedMemory) {
		m.mu.Lock()
		defer m.mu.Unlock()
	next:
		for where, flags := range m.access {
			for _, a := range list {
				if a.Location == where {
					continue next
				}
			}
			union = max(union, mem.Access(flags))
		}
	})
	if err := d.memory.w.Protect(uint64(p), size, union); err != nil {
		d.explain(nil, "%s", err.Error())
		return invalidValue
	}
	if union == mem.ReadOnly {
		d.memory.readOnly.Store(true)
	}
	d.memory.mappings(p, size, func(m *mappedMemory) {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, a := range list {
			m.access[a.Location] = a.Flags
		}
	})
	return success
}

func (d *Driver) memGetAccess(_ driver.CUcontext, out *uint64, where *driver.CUmemLocation,
	p driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || where == nil || p == 0 {
		return invalidValue
	}
	if where.Type == driver.CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT {
		return driver.CUDA_ERROR_INVALID_DEVICE
	}
	if where.Type == driver.CU_MEM_LOCATION_TYPE_DEVICE {
		if _, r := d.deviceOf(driver.CUdevice(where.Id)); r != success {
			return r // recorded with two devices
		}
	}
	if !d.validPlace(*where) {
		return invalidValue
	}
	*out = 0
	_, a, ok := d.memory.find(p)
	if !ok || a.mapped == nil {
		return invalidValue
	}
	a.mapped.mu.Lock()
	defer a.mapped.mu.Unlock()
	for l, flags := range a.mapped.access { // the host is one, by whatever name
		if l == *where || onHost(l) && onHost(*where) {
			*out = max(*out, uint64(flags))
		}
	}
	return success
}

func (d *Driver) memGetAllocationProperties(_ driver.CUcontext, out *driver.CUmemAllocationProp,
	handle driver.CUmemGenericAllocationHandle) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	h := d.memHandles.get(uintptr(handle))
	if h == nil || out == nil || h.multi != nil {
		return invalidValue
	}
	*out = h.prop
	return success
}

func (d *Driver) memRetainAllocationHandle(_ driver.CUcontext, out *driver.CUmemGenericAllocationHandle,
	p uintptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || p == 0 {
		return invalidValue
	}
	_, a, ok := d.memory.find(driver.CUdeviceptr(p))
	if !ok || a.mapped == nil {
		return invalidValue
	}
	h := a.mapped.h
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.refs == 0 && h.store != nil { // the program released it, the mapping is what keeps it
		if err := h.store.Retain(); err != nil {
			return invalidValue
		}
	}
	h.refs++
	*out = h.handle
	return success
}

// writable says whether memory can be written by the driver itself: a write to a mapping for reading would end the
// process.
func (m *memory) writable(p unsafe.Pointer) bool {
	if !m.readOnly.Load() {
		return true
	}
	r, ok := m.w.Lookup(uint64(uintptr(p)))
	return !ok || r.Access == mem.ReadWrite
}

// memGetHandleForAddressRange: dma-buf descriptors are for other devices of the bus.
func (d *Driver) memGetHandleForAddressRange(_ driver.CUcontext, out unsafe.Pointer, p driver.CUdeviceptr, size uint64,
	typ driver.CUmemRangeHandleType, _ uint64) driver.CUresult {
	if out == nil || p == 0 || size == 0 || typ != driver.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	d.explain(nil, "there is no bus on which memory could be reached (dma-buf)")
	return notSupported
}

// device is the device that memory belongs to.
func (a *allocation) device() *device {
	if a.mapped != nil {
		return a.mapped.h.dev
	}
	if a.pool != nil && a.pool.dev != nil {
		return a.pool.dev // not the device of the stream that asked for it (recorded)
	}
	if a.home != nil {
		return a.home
	}
	return a.ctx.dev
}
