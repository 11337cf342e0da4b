package cuda

import (
	"math"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Pool is a memory pool, from which [AllocAsync] and [AllocFrom] take memory, and to which it returns.
type Pool struct {
	owned
	dev    *Device
	handle cu.CUmemoryPool
	own    bool
}

// PoolOptions are the options of [Device.NewPool].
type PoolOptions struct {
	// MaxBytes bounds the pool; 0 is no bound (CUDA 12.2).
	MaxBytes uint64
	// KeepBytes is how much memory the pool keeps when all of it is free, instead of giving it back to the system at
	// the next synchronisation. [KeepAll] keeps everything.
	KeepBytes uint64
}

// KeepAll as PoolOptions.KeepBytes keeps all freed memory in the pool.
const KeepAll = math.MaxUint64

// DefaultPool returns the device's own pool. It need not be closed.
func (d *Device) DefaultPool() (*Pool, error) {
	if err := d.check("cuDeviceGetDefaultMemPool"); err != nil {
		return nil, err
	}
	h, err := d.sys.api.DeviceGetDefaultMemPool(d.handle)
	if err != nil {
		return nil, d.fail("cuDeviceGetDefaultMemPool", err)
	}
	return &Pool{dev: d, handle: h}, nil
}

// NewPool creates a pool of the device's memory.
func (d *Device) NewPool(o PoolOptions) (*Pool, error) {
	if err := d.check("cuMemPoolCreate"); err != nil {
		return nil, err
	}
	h, err := d.sys.api.MemPoolCreate(&cu.CUmemPoolProps{
		AllocType: cu.CU_MEM_ALLOCATION_TYPE_PINNED,
		Location:  cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(d.handle)},
		MaxSize:   o.MaxBytes,
	})
	if err != nil {
		return nil, d.fail("cuMemPoolCreate", err)
	}
	p := &Pool{dev: d, handle: h, own: true}
	p.born(&d.sys.owned, "memory pool", 0, d.sys.giveBack("cuMemPoolDestroy", "", func(api cu.API) error {
		return api.MemPoolDestroy(h)
	}))
	watch(p, &p.owned)
	if o.KeepBytes > 0 {
		if err := p.SetKeep(o.KeepBytes); err != nil {
			_ = p.Close() // the first error counts
			return nil, err
		}
	}
	return p, nil
}

// Close destroys the pool. Memory from it stays valid until it is freed. Closing the device's own pool does nothing.
func (p *Pool) Close() error {
	if !p.own {
		return nil
	}
	return p.end()
}

// check is the start of every call about the pool. The device's own pool is closed with the system.
func (p *Pool) check(op string) error {
	if p.isClosed() {
		return closedError(op, "memory pool")
	}
	return p.dev.check(op)
}

// Handle returns the driver's handle of the pool.
func (p *Pool) Handle() cu.CUmemoryPool { return p.handle }

// SetKeep sets [PoolOptions].KeepBytes.
func (p *Pool) SetKeep(bytes uint64) error {
	if err := p.check("cuMemPoolSetAttribute"); err != nil {
		return err
	}
	return p.dev.fail("cuMemPoolSetAttribute", p.dev.sys.api.MemPoolSetAttribute(p.handle,
		cu.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, unsafe.Pointer(&bytes)))
}

// PoolUsage is the memory of a pool in bytes.
type PoolUsage struct {
	Used, UsedHigh         uint64 // by allocations, now and at most
	Reserved, ReservedHigh uint64 // taken from the device
}

// Usage returns the memory use of the pool.
func (p *Pool) Usage() (PoolUsage, error) {
	var u PoolUsage
	if err := p.check("cuMemPoolGetAttribute"); err != nil {
		return u, err
	}
	for _, a := range []struct {
		id cu.CUmemPool_attribute
		to *uint64
	}{
		{cu.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &u.Used}, {cu.CU_MEMPOOL_ATTR_USED_MEM_HIGH, &u.UsedHigh},
		{cu.CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &u.Reserved}, {cu.CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &u.ReservedHigh},
	} {
		if err := p.dev.sys.api.MemPoolGetAttribute(p.handle, a.id, unsafe.Pointer(a.to)); err != nil {
			return u, p.dev.fail("cuMemPoolGetAttribute", err)
		}
	}
	return u, nil
}

// Trim returns free memory to the system until the pool has at most keep bytes.
func (p *Pool) Trim(keep uint64) error {
	if err := p.check("cuMemPoolTrimTo"); err != nil {
		return err
	}
	return p.dev.fail("cuMemPoolTrimTo", p.dev.sys.api.MemPoolTrimTo(p.handle, keep))
}

// Use makes the pool the device's current pool, which [AllocAsync] uses.
func (p *Pool) Use() error {
	if err := p.check("cuDeviceSetMemPool"); err != nil {
		return err
	}
	return p.dev.fail("cuDeviceSetMemPool", p.dev.sys.api.DeviceSetMemPool(p.dev.handle, p.handle))
}

// AllocFrom is [AllocAsync] from a pool.
func AllocFrom[T any](p *Pool, s *Stream, n int) (*Buffer[T], error) {
	const op = "cuMemAllocFromPoolAsync"
	if err := s.check(op); err != nil {
		return nil, err
	}
	if err := p.check(op); err != nil {
		return nil, err
	}
	b, err := alloc[T](s.c, n, op, func(bytes uint64) (cu.CUdeviceptr, error) {
		return s.api.MemAllocFromPoolAsync(bytes, p.handle, s.handle)
	})
	if err == nil {
		watch(b, &b.owned)
	}
	return b, err
}
