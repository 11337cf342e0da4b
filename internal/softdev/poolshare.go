package softdev

import (
	"encoding/binary"
	"errors"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// Pools that are made with a file descriptor as their type of handle take their memory from a file (mem.Arena). Whoever
// has its descriptor opens the pool, and then, by the data that cuMemPoolExportPointer gives, each allocation in it.

// arenaSize is the room in the file of a pool. Only what is allocated takes memory; small allocations take 2 MiB of
// room each.
const arenaSize = 512 << 30

// imported says whether the pool is another process's: nothing can be allocated from it
// (cuMemPoolImportFromShareableHandle).
func (p *pool) imported() bool { return p.arena != nil && p.arena.Opened() }

// share gives a new pool its file, if it is to have one.
func (p *pool) share() driver.CUresult {
	const known = driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | driver.CU_MEM_HANDLE_TYPE_FABRIC
	switch t := p.props.HandleTypes; {
	case t == driver.CU_MEM_HANDLE_TYPE_NONE:
		return success
	case t&^known != 0:
		return invalidValue
	// Managed memory has no handles, and memory of the host only that of a node (recorded).
	case p.props.AllocType != driver.CU_MEM_ALLOCATION_TYPE_PINNED,
		p.props.Location.Type == driver.CU_MEM_LOCATION_TYPE_HOST:
		return invalidValue
	case t&driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR == 0:
		return success // what cannot be had without a fabric is the handle, not the pool (recorded)
	}
	arena, err := p.heap.NewArena(arenaSize, p.dev.uuid())
	if err != nil {
		return p.d.ipcFailure(nil, err)
	}
	p.arena = arena
	return success
}

// allocateArena is allocate for memory that is shared.
func (c *context) allocateArena(from *mem.Arena, n uint64, a *allocation) (driver.CUdeviceptr, driver.CUresult) {
	a.ctx = c
	r, err := from.Alloc(n, a)
	if err != nil {
		c.d.explain(c, "%s", err.Error())
		return 0, memoryResult(err)
	}
	return driver.CUdeviceptr(r.Base), success
}

// giveBack frees memory, wherever it is from.
func (a *allocation) giveBack(r mem.Range) error {
	a.release()
	if a.left.Load() {
		return nil // freeContext does it
	}
	if a.pool != nil && a.pool.arena != nil {
		return a.pool.arena.Free(r.Base)
	}
	return r.Heap.Free(r.Base)
}

func (d *Driver) memPoolExportToShareableHandle(_ driver.CUcontext, out unsafe.Pointer, h driver.CUmemoryPool,
	typ driver.CUmemAllocationHandleType, flags uint64) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	switch {
	case out == nil || flags != 0 || p.imported() || typ&p.props.HandleTypes == 0:
		return invalidValue
	case typ == driver.CU_MEM_HANDLE_TYPE_FABRIC: // as cuMemCreate answers
		d.explain(nil, "handles of a fabric need the right to one of its channels, and there is no fabric")
		return driver.CUDA_ERROR_NOT_PERMITTED
	case typ != driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || p.arena == nil:
		return invalidValue
	}
	fd, err := p.arena.Descriptor()
	if err != nil {
		return d.ipcFailure(nil, err)
	}
	*(*int32)(out) = int32(fd)
	p.shown.Store(true)
	return success
}

func (d *Driver) memPoolImportFromShareableHandle(_ driver.CUcontext, out *driver.CUmemoryPool, osHandle uintptr,
	typ driver.CUmemAllocationHandleType, flags uint64) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil || flags != 0 {
		return invalidValue
	}
	*out = 0 // whatever comes of it (recorded)
	switch typ {
	case driver.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR:
	case driver.CU_MEM_HANDLE_TYPE_WIN32, driver.CU_MEM_HANDLE_TYPE_WIN32_KMT, driver.CU_MEM_HANDLE_TYPE_FABRIC:
		d.explain(nil, "of the shareable handles only file descriptors are supported")
		return notSupported
	default:
		return invalidValue
	}
	// The file says which device the memory belongs to, and the heap of it counts what is opened.
	arena, err := d.devices[0].heap.OpenArena(osHandle)
	if err == nil {
		if dev, r := d.deviceWithID(arena.Label()); r != success {
			_ = arena.Release()
			return r
		} else if dev.ordinal != 0 {
			_ = arena.Release()
			arena, err = dev.heap.OpenArena(osHandle)
		}
	}
	if err != nil {
		d.explain(nil, "%s", err.Error())
		if errors.Is(err, errors.ErrUnsupported) {
			return notSupported
		}
		return driver.CUDA_ERROR_UNKNOWN // recorded for a number that is no file
	}
	dev, _ := d.deviceWithID(arena.Label())
	p := newPool(dev)
	if p.handle == 0 {
		_ = arena.Release()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	p.props.HandleTypes = typ
	p.arena = arena
	*out = p.handle
	return success
}

// exportMagic begins the data of a pointer.
const exportMagic = 0x5054_6463

func (d *Driver) memPoolExportPointer(_ driver.CUcontext, out *driver.CUmemPoolPtrExportData,
	ptr driver.CUdeviceptr) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	rng, a, ok := d.memory.find(ptr)
	// not before the pool's own handle was given out (recorded)
	if !ok || a.pool == nil || a.pool.arena == nil || a.pool.imported() || !a.pool.shown.Load() {
		return invalidValue
	}
	off, ok := a.pool.arena.Offset(rng.Base)
	if !ok {
		return invalidValue
	}
	e := binary.NativeEndian
	*out = driver.CUmemPoolPtrExportData{}
	e.PutUint32(out.Reserved[0:], exportMagic)
	e.PutUint64(out.Reserved[8:], a.pool.arena.Cookie())
	e.PutUint64(out.Reserved[16:], off)
	e.PutUint64(out.Reserved[24:], rng.Size)
	return success
}

func (d *Driver) memPoolImportPointer(cur driver.CUcontext, out *driver.CUdeviceptr, h driver.CUmemoryPool,
	data *driver.CUmemPoolPtrExportData) driver.CUresult {
	p, r := d.pool(h)
	if r != success {
		return r
	}
	if out == nil || data == nil {
		return invalidValue
	}
	*out = 0 // whatever comes of it (recorded)
	if !p.imported() {
		return invalidValue
	}
	e := binary.NativeEndian
	if e.Uint32(data.Reserved[0:]) != exportMagic || e.Uint64(data.Reserved[8:]) != p.arena.Cookie() {
		d.explain(nil, "the data is not of a pointer from this pool")
		return invalidValue
	}
	c, r := d.attach(cur)
	if r != success {
		c = &context{d: d, dev: p.dev} // memory of a pool belongs to no context
	}
	a := &allocation{ctx: c, home: p.dev, pool: p, size: e.Uint64(data.Reserved[24:])}
	p.mu.Lock()
	defer p.mu.Unlock()
	rng, err := p.arena.Open(e.Uint64(data.Reserved[16:]), a.size, a)
	if err != nil {
		return d.ipcFailure(nil, err)
	}
	p.taken(a.size)
	*out = driver.CUdeviceptr(rng.Base)
	return success
}
