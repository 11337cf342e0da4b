package softdev

import (
	"errors"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

const hostAllocFlags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP | driver.CU_MEMHOSTALLOC_WRITECOMBINED

func (d *Driver) memAllocHost(cur driver.CUcontext, out *unsafe.Pointer, n uint64) driver.CUresult {
	return d.hostAlloc(cur, out, n, 0)
}

func (d *Driver) memHostAlloc(cur driver.CUcontext, out *unsafe.Pointer, n uint64, flags uint32) driver.CUresult {
	if out != nil {
		*out = nil
	}
	if flags&^uint32(hostAllocFlags) != 0 {
		if _, r := d.enter(cur); r != success {
			return r
		}
		return invalidValue
	}
	return d.hostAlloc(cur, out, n, flags)
}

func (d *Driver) hostAlloc(cur driver.CUcontext, out *unsafe.Pointer, n uint64, flags uint32) driver.CUresult {
	if out != nil {
		*out = nil
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	if n == 0 {
		return success // and NULL (recorded)
	}
	if r := d.unsafe(); r != success {
		return r
	}
	flags = c.hostBlocks.reported(n, flags)
	p, r := c.allocate(d.memory.pinned, n, mem.MinAlign, &allocation{flags: flags})
	if r == success {
		*out = d.memory.w.Ptr(uint64(p))
	}
	return r
}

// hostBlocks are the flags, plus 1<<31, with which the first small allocation of host memory was made, write-combined and not: small ones share a block,
// which stays when they are freed, and cuMemHostGetFlags gives the block's (recorded).
type hostBlocks [2]atomic.Uint32

// hostBlock is how large an allocation has a block of its own.
const hostBlock = 2 << 20

// reported is what cuMemHostGetFlags says of a new allocation. With unified addressing all host memory is mapped and portable; only the first always shows.
func (b *hostBlocks) reported(n uint64, flags uint32) uint32 {
	flags |= driver.CU_MEMHOSTALLOC_DEVICEMAP
	if n >= hostBlock {
		return flags
	}
	first := &b[flags/driver.CU_MEMHOSTALLOC_WRITECOMBINED%2]
	const set = 1 << 31
	if first.CompareAndSwap(0, flags|set) {
		return flags
	}
	return first.Load() &^ set
}

func (d *Driver) memFreeHost(cur driver.CUcontext, p unsafe.Pointer) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if p == nil {
		return success
	}
	if r := d.unsafe(); r != success {
		return r
	}
	rng, a, ok := d.memory.find(driver.CUdeviceptr(uintptr(p)))
	if !ok || rng.Kind != mem.Pinned || rng.Base != uint64(uintptr(p)) || a.use != useProgram {
		return d.deadOr(cur, invalidValue)
	}
	if r := d.settle(cur, a); r != success {
		return r
	}
	if err := rng.Heap.Free(rng.Base); err != nil {
		return invalidValue
	}
	return success
}

func (d *Driver) memHostGetDevicePointer(cur driver.CUcontext, out *driver.CUdeviceptr, p unsafe.Pointer, flags uint32) driver.CUresult {
	if out != nil {
		*out = 0
	}
	_, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || p == nil || flags != 0 {
		return invalidValue
	}
	rng, _, ok := d.memory.find(driver.CUdeviceptr(uintptr(p)))
	if !ok || rng.Kind != mem.Pinned && rng.Kind != mem.Registered {
		return invalidValue
	}
	*out = driver.CUdeviceptr(uintptr(p))
	return success
}

func (d *Driver) memHostGetFlags(cur driver.CUcontext, out *uint32, p unsafe.Pointer) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	if _, r := d.enter(cur); r != success {
		return r
	}
	rng, a, ok := d.memory.find(driver.CUdeviceptr(uintptr(p)))
	switch {
	case !ok || rng.Kind == mem.Device:
		return invalidValue
	case rng.Kind == mem.Managed:
		*out = driver.CU_MEMHOSTALLOC_DEVICEMAP
	default:
		*out = a.flags
	}
	return success
}

const hostRegisterFlags = driver.CU_MEMHOSTREGISTER_PORTABLE | driver.CU_MEMHOSTREGISTER_DEVICEMAP | driver.CU_MEMHOSTREGISTER_IOMEMORY | driver.CU_MEMHOSTREGISTER_READ_ONLY

func (d *Driver) memHostRegister(cur driver.CUcontext, p unsafe.Pointer, n uint64, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if p == nil || n == 0 || flags&^uint32(hostRegisterFlags) != 0 {
		return invalidValue
	}
	if flags&driver.CU_MEMHOSTREGISTER_IOMEMORY != 0 || d.memory.w.Contains(uint64(uintptr(p))) {
		return invalidValue // recorded for ordinary memory, and for memory that the driver made
	}
	a := &allocation{ctx: c, flags: flags&driver.CU_MEMHOSTREGISTER_PORTABLE | driver.CU_MEMHOSTREGISTER_DEVICEMAP}
	m := d.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	rng, err := m.w.Register(p, n, a)
	var bad *mem.AddressError
	switch {
	case errors.As(err, &bad):
		d.explain(c, "%s", err.Error())
		if n > -uint64(uintptr(p)) {
			return invalidValue
		}
		return driver.CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED
	case err != nil:
		return invalidValue
	}
	m.registered[rng.Base] = a
	return success
}

func (d *Driver) memHostUnregister(cur driver.CUcontext, p unsafe.Pointer) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if p == nil {
		return invalidValue
	}
	m := d.memory
	addr := uint64(uintptr(p))
	m.mu.Lock()
	a := m.registered[addr]
	delete(m.registered, addr)
	m.mu.Unlock()
	if a == nil {
		if _, _, known := m.find(driver.CUdeviceptr(addr)); known {
			return invalidValue // the middle of a registered range, or memory that the driver made
		}
		return driver.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
	}
	if r := d.settle(cur, a); r != success {
		return r
	}
	if err := m.w.Unregister(addr); err != nil {
		return driver.CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED
	}
	return success
}

func (d *Driver) memAllocManaged(cur driver.CUcontext, out *driver.CUdeviceptr, n uint64, flags uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	*out = 0
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if n == 0 {
		return invalidValue
	}
	if f := driver.CUmemAttach_flags(flags); f != driver.CU_MEM_ATTACH_GLOBAL && f != driver.CU_MEM_ATTACH_HOST {
		return invalidValue
	}
	if r := d.unsafe(); r != success {
		return r
	}
	p, r := c.allocate(d.memory.managed, n, mem.MinAlign, &allocation{flags: flags})
	if r == success {
		*out = p
	}
	return r
}
