package softdev

import (
	"errors"
	"os"
	"sync"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

const hostAllocFlags = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP |
	driver.CU_MEMHOSTALLOC_WRITECOMBINED

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
	flags = c.hostBlocks.enter(n, flags)
	p, r := c.allocate(d.memory.pinned, n, mem.MinAlign, &allocation{flags: flags})
	if r != success {
		c.hostBlocks.leave(n, flags)
		return r
	}
	*out = d.memory.w.Ptr(uint64(p))
	return success
}

// hostBlocks are the blocks that small allocations of host memory share, one for those with
// CU_MEMHOSTALLOC_WRITECOMBINED and one for those without. cuMemHostGetFlags gives the flags of the block, which are
// those of the first allocation in it; a block that is empty again is forgotten (recorded: memory/host-alloc/flags in
// one process, one after the other).
type hostBlocks struct {
	mu     sync.Mutex
	blocks [2]struct {
		flags uint32
		live  int
	}
}

// hostBlock is how large an allocation has a block of its own.
const hostBlock = 2 << 20

func blockOf(flags uint32) int { return int(flags / driver.CU_MEMHOSTALLOC_WRITECOMBINED % 2) }

// enter takes a new allocation into its block and returns what cuMemHostGetFlags says of it. With unified addressing
// all host memory is mapped and portable; only the first always shows.
func (b *hostBlocks) enter(n uint64, flags uint32) uint32 {
	flags |= driver.CU_MEMHOSTALLOC_DEVICEMAP
	if n >= hostBlock {
		return flags
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	block := &b.blocks[blockOf(flags)]
	if block.live == 0 {
		block.flags = flags
	}
	block.live++
	return block.flags
}

// leave takes an allocation out of its block.
func (b *hostBlocks) leave(n uint64, flags uint32) {
	if n >= hostBlock {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.blocks[blockOf(flags)].live--
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
	if !ok || rng.Kind != mem.Pinned || rng.Base != uint64(uintptr(p)) || a.use != useProgram || a.left.Load() ||
		a.pool != nil || a.mapped != nil {
		if d.memory.check != nil {
			d.memory.check.badFree(uint64(uintptr(p)))
		}
		return d.deadOr(cur, invalidValue)
	}
	if r := d.settle(cur, a); r != success {
		return r
	}
	if err := rng.Heap.Free(rng.Base); err != nil {
		return invalidValue
	}
	a.ctx.hostBlocks.leave(rng.Size, a.flags)
	return success
}

func (d *Driver) memHostGetDevicePointer(cur driver.CUcontext, out *driver.CUdeviceptr, p unsafe.Pointer,
	flags uint32) driver.CUresult {
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
	case a.mapped != nil:
		*out = driver.CU_MEMHOSTALLOC_PORTABLE | driver.CU_MEMHOSTALLOC_DEVICEMAP
	default:
		*out = a.flags
	}
	return success
}

const hostRegisterFlags = driver.CU_MEMHOSTREGISTER_PORTABLE | driver.CU_MEMHOSTREGISTER_DEVICEMAP |
	driver.CU_MEMHOSTREGISTER_IOMEMORY | driver.CU_MEMHOSTREGISTER_READ_ONLY

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
	if n <= -uint64(uintptr(p)) && !present(uint64(uintptr(p)), n) {
		d.explain(c, "not all of %#x to %#x is memory of the process", uintptr(p), uint64(uintptr(p))+n-1)
		return invalidValue
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

// present says whether all pages of a range are there to be read. What is not there cannot be page-locked.
func present(address, n uint64) bool {
	const least = 4096 // faults in the first page are nil pointers to Go
	if address < least {
		return false
	}
	_, ok := attempt(func() { touch(address, n) })
	return ok
}

// touch reads a byte of every page. The race detector must not look: who registers memory may be writing to it.
//
//go:norace
//go:noinline
func touch(address, n uint64) (sum byte) {
	page := uint64(os.Getpagesize())
	for at := uint64(0); at < n; at += page - (address+at)%page {
		sum ^= *(*byte)(foreign(address + at))
	}
	return sum
}

// unregister takes memory of the program off the list; nil when it is not on it.
func (m *memory) unregister(addr uint64) *allocation {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := m.registered[addr]
	delete(m.registered, addr)
	return a
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
	a := m.unregister(addr)
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

func (d *Driver) memAllocManaged(cur driver.CUcontext, out *driver.CUdeviceptr, n uint64,
	flags uint32) driver.CUresult {
	if out == nil {
		return invalidValue
	}
	*out = 0
	if f := driver.CUmemAttach_flags(flags); n == 0 ||
		f != driver.CU_MEM_ATTACH_GLOBAL && f != driver.CU_MEM_ATTACH_HOST {
		return invalidValue // before the context (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
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
