package softdev

import (
	"errors"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// External memory is a file of the program's that the device has, too: what cuMemExportToShareableHandle gave in this
// or another process, a memory file or a file of shared memory. Of external memory only what calls answer to NULL and
// zeros was recorded (testdata/null_arguments.json); the rest is by the documentation of the functions.

// externals are the tables of external memory and semaphores.
type externals struct {
	memories   handles[externalMemory]
	semaphores handles[externalSemaphore]
}

func (x *externals) init(first uint16) {
	x.memories.init(kindExternalMemory, first)
	x.semaphores.init(kindExternalSemaphore, first)
}

// externalMemory is a CUexternalMemory. What is mapped of it stays when it is destroyed.
type externalMemory struct {
	handle driver.CUexternalMemory
	ctx    *context
	store  *mem.Store
}

// externalBuffer is memory of cuExternalMemoryGetMappedBuffer, which cuMemFree gives back.
type externalBuffer struct{ base uint64 }

// importFailure is the result of an error of package mem.
func (d *Driver) importFailure(c *context, err error) driver.CUresult {
	d.explain(c, "%s", err.Error())
	var (
		full *mem.OutOfMemoryError
		size *mem.AddressError
	)
	switch {
	case errors.As(err, &full):
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	case errors.Is(err, errors.ErrUnsupported):
		return notSupported
	case errors.Is(err, mem.ErrNotMemory):
		return badHandle
	case errors.As(err, &size):
		return invalidValue
	}
	return driver.CUDA_ERROR_OPERATING_SYSTEM
}

func (d *Driver) importExternalMemory(cur driver.CUcontext, out *driver.CUexternalMemory,
	desc *driver.CUDA_EXTERNAL_MEMORY_HANDLE_DESC) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	if out == nil || desc == nil {
		return invalidValue
	}
	switch {
	case desc.Type < driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD ||
		desc.Type > driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_DMABUF_FD ||
		desc.Flags&^uint32(driver.CUDA_EXTERNAL_MEMORY_DEDICATED) != 0 || desc.Size == 0:
		return invalidValue
	case desc.Type != driver.CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD:
		d.explain(c, "of external memory only file descriptors (OPAQUE_FD) can be imported: "+
			"the others belong to Windows, to NvSci and to other devices of the bus")
		return notSupported
	}
	x := &externalMemory{ctx: c}
	var err error
	if x.store, err = c.dev.heap.TakeFile(uintptr(*desc.Handle.Fd()), desc.Size, x); err != nil {
		return d.importFailure(c, err)
	}
	if x.handle = driver.CUexternalMemory(d.external.memories.add(x)); x.handle == 0 {
		_ = x.store.Release()
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = x.handle
	return success
}

// externalMemory resolves a handle; NULL is an invalid value (recorded), and what is no handle an invalid handle.
func (d *Driver) externalMemory(h driver.CUexternalMemory) (*externalMemory, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	if h == 0 {
		return nil, invalidValue
	}
	x := d.external.memories.get(uintptr(h))
	if x == nil {
		return nil, badHandle
	}
	return x, x.ctx.fault()
}

func (d *Driver) destroyExternalMemory(_ driver.CUcontext, h driver.CUexternalMemory) driver.CUresult {
	if _, r := d.externalMemory(h); r != success {
		return r
	}
	x := d.external.memories.remove(uintptr(h))
	if x == nil {
		return badHandle
	}
	_ = x.store.Release() // the handle was its owner
	return success
}

// holds checks a part of the memory.
func (x *externalMemory) holds(offset, size uint64) bool {
	return size != 0 && offset <= x.store.Size() && size <= x.store.Size()-offset
}

func (d *Driver) externalMemoryGetMappedBuffer(_ driver.CUcontext, out *driver.CUdeviceptr, h driver.CUexternalMemory,
	desc *driver.CUDA_EXTERNAL_MEMORY_BUFFER_DESC) driver.CUresult {
	x, r := d.externalMemory(h)
	if r != success {
		return r
	}
	if out == nil || desc == nil || desc.Flags != 0 || !x.holds(desc.Offset, desc.Size) {
		return invalidValue
	}
	c := x.ctx
	b := &externalBuffer{}
	rng, err := d.memory.w.MapBytes(x.store, desc.Offset, desc.Size, &allocation{ctx: c, home: c.dev, external: b})
	if err != nil {
		return d.importFailure(c, err)
	}
	b.base = rng.Base
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.buffers == nil {
		c.buffers = map[*externalBuffer]struct{}{}
	}
	c.buffers[b] = struct{}{}
	*out = driver.CUdeviceptr(rng.Base)
	return success
}

// freeBuffer gives a mapped buffer back, for cuMemFree. The work that may use it has ended.
func (c *context) freeBuffer(b *externalBuffer) driver.CUresult {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, live := c.buffers[b]; !live {
		return invalidValue
	}
	delete(c.buffers, b)
	if err := c.d.memory.w.UnmapBytes(b.base); err != nil {
		c.d.explain(c, "%s", err.Error())
		return driver.CUDA_ERROR_UNMAP_FAILED
	}
	return success
}

// externalMemoryGetMappedMipmappedArray lays the levels out as those of other mipmapped arrays are, one after the other
// at multiples of the alignment of textures: what is shared is the memory, and other software devices know the order.
func (d *Driver) externalMemoryGetMappedMipmappedArray(_ driver.CUcontext, out *driver.CUmipmappedArray,
	h driver.CUexternalMemory, desc *driver.CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC) driver.CUresult {
	x, r := d.externalMemory(h)
	if r != success {
		return r
	}
	const other = driver.CUDA_ARRAY3D_SPARSE | driver.CUDA_ARRAY3D_DEFERRED_MAPPING
	if out == nil || desc == nil || desc.NumLevels == 0 || desc.Offset%arrayAlign != 0 ||
		desc.ArrayDesc.Flags&other != 0 {
		return invalidValue
	}
	c := x.ctx
	// That an image is one that graphics draw in is said of external memory only, and changes nothing here.
	plain := desc.ArrayDesc
	plain.Flags &^= driver.CUDA_ARRAY3D_COLOR_ATTACHMENT
	f, r := c.checkArray(&plain)
	if r != success {
		return r
	}
	m := newMipmap(c, f, &plain, desc.NumLevels)
	m.desc.Flags = desc.ArrayDesc.Flags
	if !x.holds(desc.Offset, m.size) {
		d.explain(c, "the levels take %d bytes, which the memory does not have from offset %d on", m.size, desc.Offset)
		return invalidValue
	}
	rng, err := d.memory.w.MapBytes(x.store, desc.Offset, m.size, &allocation{ctx: c, home: c.dev, use: useInternal})
	if err != nil {
		return d.importFailure(c, err)
	}
	base, size, _ := d.memory.w.Reservation(rng.Base)
	later := &deferred{c: c, base: base, size: size, bytes: m.size, external: true}
	later.mapped.Store(true)
	return d.addMipmap(out, m, rng.Base, later)
}

// closeExternals ends what a context that is torn down has imported and mapped.
func (c *context) closeExternals() {
	for _, x := range c.d.external.memories.all() {
		if x.ctx == c && c.d.external.memories.remove(uintptr(x.handle)) != nil {
			_ = x.store.Release()
		}
	}
	for _, x := range c.d.external.semaphores.all() {
		if x.ctx == c {
			c.d.external.semaphores.remove(uintptr(x.handle))
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for b := range c.buffers {
		_ = c.d.memory.w.UnmapBytes(b.base) // mapped by externalMemoryGetMappedBuffer
	}
	c.buffers = nil
}

func (d *Driver) externalTable(t *driver.Table) {
	t.ImportExternalMemory = d.importExternalMemory
	t.DestroyExternalMemory = d.destroyExternalMemory
	t.ExternalMemoryGetMappedBuffer = d.externalMemoryGetMappedBuffer
	t.ExternalMemoryGetMappedMipmappedArray = d.externalMemoryGetMappedMipmappedArray
	t.ImportExternalSemaphore = d.importExternalSemaphore
	t.DestroyExternalSemaphore = d.destroyExternalSemaphore
	t.SignalExternalSemaphoresAsync = d.signalExternalSemaphores
	t.WaitExternalSemaphoresAsync = d.waitExternalSemaphores
}
