package softdev

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// blockAlign is what memory of arrays is a multiple of and where it can start in a handle of cuMemCreate, in bytes
// (recorded).
const blockAlign = 64 << 10

// laidOut is how much memory the driver takes for an array: blocks of units of 64 bytes by 8 rows, as many rows and
// slices high and deep as the array fills, up to 16 units and 32 slices (recorded for 64 by 64 texels of 4 bytes and 0
// to 12 slices). Rows that follow each other take no more.
func (a *array) laidOut() uint64 {
	const unit, rows = 64, 8
	up := func(n, to uint64) uint64 { return (n + to - 1) / to * to }
	power := func(n, most uint64) uint64 { return min(1<<bits.Len64(max(n, 1)-1), most) }
	l := &a.level
	high := rows * power(up(a.rows(), rows)/rows, 16)
	deep := uint64(l.Depth)
	if a.desc.Flags&(driver.CUDA_ARRAY3D_LAYERED|driver.CUDA_ARRAY3D_CUBEMAP) == 0 {
		deep = up(deep, power(deep, 32))
	}
	return up(l.Row, unit) * up(a.rows(), high) * deep
}

// deferred is the place of an array that was made with CUDA_ARRAY3D_DEFERRED_MAPPING: addresses that get memory of
// cuMemCreate by cuMemMapArrayAsync, all at once; or of one of external memory. The levels of a mipmapped array have
// one together.
type deferred struct {
	c          *context
	base, size uint64 // the addresses, in whole granules
	bytes      uint64 // the memory
	mapped     atomic.Bool
	external   bool // cuExternalMemoryGetMappedMipmappedArray: it has its memory for good
}

// arrayMemory takes the memory of an array, or addresses for it. hardware is what the array takes on hardware.
func (c *context) arrayMemory(flags uint32, size, hardware uint64) (base uint64, later *deferred, r driver.CUresult) {
	if flags&driver.CUDA_ARRAY3D_DEFERRED_MAPPING == 0 {
		p, r := c.allocate(c.dev.heap, size, arrayAlign, &allocation{use: useInternal})
		return uint64(p), nil, r
	}
	whole := (max(size, hardware) + mem.Granule - 1) &^ uint64(mem.Granule-1)
	at, err := c.d.memory.w.ReserveOwned(whole)
	if err != nil {
		c.d.explain(c, "%s", err.Error())
		return 0, nil, driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	return at, &deferred{c: c, base: at, size: whole,
		bytes: (max(size, hardware) + blockAlign - 1) &^ (blockAlign - 1)}, success
}

// reachable says whether copies can go to and from an array: not while it has no memory.
func (a *array) reachable() bool { return a.later == nil || a.later.mapped.Load() }

// close gives memory and addresses back; the work that may use them has ended.
func (x *deferred) close() {
	w := x.c.d.memory.w
	if x.mapped.Swap(false) {
		_ = w.Unmap(x.base, x.size) // mapped by mapArray
	}
	_ = w.Unreserve(x.base, x.size)
}

// requirements is what the memory has to be like.
func (x *deferred) requirements() driver.CUDA_ARRAY_MEMORY_REQUIREMENTS {
	return driver.CUDA_ARRAY_MEMORY_REQUIREMENTS{Size: x.bytes, Alignment: blockAlign}
}

// arrayGetMemoryRequirements is for arrays with CUDA_ARRAY3D_DEFERRED_MAPPING.
func (d *Driver) arrayGetMemoryRequirements(_ driver.CUcontext, out *driver.CUDA_ARRAY_MEMORY_REQUIREMENTS,
	h driver.CUarray, dev driver.CUdevice) driver.CUresult {
	a := d.tex.arrays.get(uintptr(h))
	if out == nil || a == nil || a.later == nil || a.mip != nil {
		return invalidValue
	}
	if _, r := d.deviceOf(dev); r != success {
		return r
	}
	*out = a.later.requirements()
	return success
}

func (d *Driver) mipmappedArrayGetMemoryRequirements(_ driver.CUcontext, out *driver.CUDA_ARRAY_MEMORY_REQUIREMENTS,
	h driver.CUmipmappedArray, dev driver.CUdevice) driver.CUresult {
	m := d.tex.mipmaps.get(uintptr(h))
	if out == nil || m == nil || m.levels[0].later == nil || m.levels[0].later.external {
		return invalidValue
	}
	if _, r := d.deviceOf(dev); r != success {
		return r
	}
	*out = m.levels[0].later.requirements()
	return success
}

// mapArray is one entry of cuMemMapArrayAsync.
type mapArray struct {
	x      *deferred
	store  *mem.Store // nil to unmap
	offset uint64
}

// apply makes the change. Errors: those of mem.Window.Map.
func (m *mapArray) apply() error {
	w, x := m.x.c.d.memory.w, m.x
	if x.mapped.Swap(false) || m.store == nil {
		if err := w.Unmap(x.base, x.size); err != nil || m.store == nil {
			return err
		}
	}
	if _, err := w.MapPart(x.base, x.size, x.bytes, m.store, m.offset,
		&allocation{ctx: x.c, use: useInternal}); err != nil {
		return err
	}
	if err := w.Protect(x.base, x.size, mem.ReadWrite); err != nil {
		return err
	}
	x.mapped.Store(true)
	return nil
}

// memMapArrayAsync maps whole arrays with CUDA_ARRAY3D_DEFERRED_MAPPING; there are no sparse ones, of which parts could
// be mapped. It waits for the work that may use the arrays, as cuMemUnmap does: an access without memory would end the
// process.
func (d *Driver) memMapArrayAsync(cur driver.CUcontext, list *driver.CUarrayMapInfo, n uint32,
	h driver.CUstream) driver.CUresult {
	if list == nil || n == 0 {
		return invalidValue
	}
	s, r := d.streamOf(cur, h)
	if r != success {
		return r
	}
	if r := s.admit(); r != success {
		return r
	}
	if s.capturing() {
		return s.spoil(driver.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED)
	}
	var entries []mapArray
	for i := range unsafe.Slice(list, n) {
		m, r := d.mapEntry(&unsafe.Slice(list, n)[i])
		if r != success {
			return r
		}
		entries = append(entries, m)
	}
	for _, c := range d.contexts.all() {
		if !c.dead.Load() {
			c.wait()
		}
	}
	for i := range entries {
		if err := entries[i].apply(); err != nil {
			d.explain(s.ctx, "%s", err.Error())
			return driver.CUDA_ERROR_MAP_FAILED
		}
	}
	return s.ctx.fault()
}

// mapEntry checks an entry.
func (d *Driver) mapEntry(e *driver.CUarrayMapInfo) (m mapArray, r driver.CUresult) {
	var x *deferred
	switch e.ResourceType {
	case driver.CU_RESOURCE_TYPE_ARRAY:
		if a := d.tex.arrays.get(uintptr(*e.Resource.Array())); a != nil && a.mip == nil {
			x = a.later
		}
	case driver.CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
		if m := d.tex.mipmaps.get(uintptr(*e.Resource.Mipmap())); m != nil {
			x = m.levels[0].later
		}
	}
	if x == nil || x.external || e.Flags != 0 || e.DeviceBitMask != 1<<x.c.dev.ordinal {
		return m, invalidValue
	}
	switch e.MemOperationType {
	case driver.CU_MEM_OPERATION_TYPE_UNMAP:
		return mapArray{x: x}, success
	case driver.CU_MEM_OPERATION_TYPE_MAP:
	default:
		return m, invalidValue
	}
	g := d.memHandles.get(uintptr(*e.MemHandle.MemHandle()))
	if e.MemHandleType != driver.CU_MEM_HANDLE_TYPE_GENERIC || g == nil || !g.held() || g.dev != x.c.dev ||
		e.Offset%blockAlign != 0 || e.Offset > g.store.Size() || x.bytes > g.store.Size()-e.Offset {
		return m, invalidValue
	}
	return mapArray{x, g.store, e.Offset}, success
}
