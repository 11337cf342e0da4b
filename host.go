package cuda

import (
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// PinnedView is a range of pinned host memory: memory that is never moved, so that the device can access it while the
// program continues. Asynchronous copies take it.
type PinnedView[T any] struct {
	c     *Context
	owner *owned
	data  []T
}

// Pinned is pinned host memory: allocated by the driver ([AllocPinned]), or a registered Go slice ([Register]). It has
// the methods of [PinnedView]; p.PinnedView is the whole of it as a PinnedView.
type Pinned[T any] struct {
	owned
	PinnedView[T]
}

// PinnedOptions are the options of [AllocPinned]; the zero value suits nearly all programs.
type PinnedOptions struct {
	// WriteCombined memory is fast for the device to read and very slow for the host to read.
	WriteCombined bool
}

// AllocPinned allocates zeroed pinned host memory. Kernels can access it too, over the bus: see [Ptr].
func AllocPinned[T any](c *Context, n int, o PinnedOptions) (*Pinned[T], error) {
	const op = "cuMemHostAlloc"
	size, err := elementSize[T](op)
	if err != nil {
		return nil, err
	}
	bytes, err := byteCount(op, n, size)
	if err != nil {
		return nil, err
	}
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	p := new(Pinned[T])
	p.PinnedView = PinnedView[T]{c: c, owner: &p.owned}
	if n > 0 {
		flags := cu.CU_MEMHOSTALLOC_PORTABLE | cu.CU_MEMHOSTALLOC_DEVICEMAP
		if o.WriteCombined {
			flags |= cu.CU_MEMHOSTALLOC_WRITECOMBINED
		}
		at, err := c.api.MemHostAlloc(bytes, uint32(flags))
		if err != nil {
			return nil, c.fail(op, "", err)
		}
		p.data = unsafe.Slice((*T)(at), n)
		clear(p.data)
	}
	at := unsafe.Pointer(unsafe.SliceData(p.data))
	p.born(&c.owned, "pinned memory", int64(bytes), c.giveBack("cuMemFreeHost", "", func(api cu.API) error {
		if n == 0 {
			return nil
		}
		return api.MemFreeHost(at)
	}))
	watch(p, &p.owned)
	return p, nil
}

// Register pins a Go slice and registers it with the driver until Close. The slice must not be registered already.
// Registering is slow on a GPU (the operating system locks every page), so it is for memory that is used many times.
func Register[T any](c *Context, data []T) (*Pinned[T], error) {
	const op = "cuMemHostRegister"
	if _, err := elementSize[T](op); err != nil {
		return nil, err
	}
	if len(data) == 0 {
		return nil, invalid(op, "", "the slice is empty")
	}
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	p := new(Pinned[T])
	p.PinnedView = PinnedView[T]{c: c, owner: &p.owned, data: data}
	pin, at := new(runtime.Pinner), unsafe.Pointer(unsafe.SliceData(data))
	pin.Pin(at)
	flags := uint32(cu.CU_MEMHOSTREGISTER_PORTABLE | cu.CU_MEMHOSTREGISTER_DEVICEMAP)
	if err := c.api.MemHostRegister(at, uint64(len(asBytes(data))), flags); err != nil {
		pin.Unpin()
		return nil, c.fail(op, "", err)
	}
	p.born(&c.owned, "registered memory", int64(len(asBytes(data))), c.giveBack("cuMemHostUnregister", "",
		func(api cu.API) error {
			defer pin.Unpin()
			return api.MemHostUnregister(at)
		}))
	watch(p, &p.owned)
	return p, nil
}

// Close frees the memory, or unregisters the slice, which remains the program's. Slices of memory from AllocPinned must
// not be used afterwards.
func (p *Pinned[T]) Close() error { return p.end() }

// Data returns the memory, or nil after Close. Memory of AllocPinned is not Go memory: slices of it must not be used
// after Close.
func (v PinnedView[T]) Data() []T {
	if v.owner != nil && v.owner.isClosed() {
		return nil
	}
	return v.data
}

// Len returns the number of elements.
func (v PinnedView[T]) Len() int { return len(v.data) }

// Slice returns the elements from i up to, but not including, j.
func (v PinnedView[T]) Slice(i, j int) PinnedView[T] {
	checkRange(i, j, len(v.data))
	v.data = v.data[i:j:j]
	return v
}

// Context returns the context that the memory was allocated in. Every context of the process can use it.
func (v PinnedView[T]) Context() *Context { return v.c }

// Device returns the memory as kernels address it (zero copy: every access goes over the bus).
func (v PinnedView[T]) Device() (View[T], error) {
	const op = "cuMemHostGetDevicePointer"
	if v.owner == nil || v.owner.isClosed() {
		return View[T]{}, closedError(op, "pinned memory")
	}
	if len(v.data) == 0 {
		return View[T]{c: v.c, owner: v.owner}, nil
	}
	p, err := v.c.api.MemHostGetDevicePointer(unsafe.Pointer(unsafe.SliceData(v.data)), 0)
	if err != nil {
		return View[T]{}, v.c.fail(op, "", err)
	}
	return View[T]{c: v.c, owner: v.owner, ptr: p, n: len(v.data)}, nil
}

// Managed is managed memory, which host and device share; the driver migrates it to where it is used. The host must not
// access it while a kernel may, unless [DeviceInfo.ConcurrentManaged].
type Managed[T any] struct {
	owned
	View[T]
	data []T
}

// AllocManaged allocates zeroed managed memory.
func AllocManaged[T any](c *Context, n int) (*Managed[T], error) {
	const op = "cuMemAllocManaged"
	size, err := elementSize[T](op)
	if err != nil {
		return nil, err
	}
	bytes, err := byteCount(op, n, size)
	if err != nil {
		return nil, err
	}
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	m := new(Managed[T])
	m.View = View[T]{c: c, owner: &m.owned, n: n}
	if n > 0 {
		if m.ptr, err = c.api.MemAllocManaged(bytes, uint32(cu.CU_MEM_ATTACH_GLOBAL)); err != nil {
			return nil, c.fail(op, "", err)
		}
		m.data = unsafe.Slice((*T)(hostPointer(m.ptr)), n)
		clear(m.data)
	}
	m.born(&c.owned, "managed memory", int64(bytes), c.freeMemory(m.ptr))
	watch(m, &m.owned)
	return m, nil
}

// hostPointer is the host's view of managed memory, which has one address on both sides. The memory is not Go's, so the
// collector ignores the pointer.
func hostPointer(p cu.CUdeviceptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p))
}

// Data returns the memory as the host addresses it, or nil after Close. Slices of it must not be used after Close.
func (m *Managed[T]) Data() []T {
	if m.isClosed() {
		return nil
	}
	return m.data
}

// Close frees the memory.
func (m *Managed[T]) Close() error { return m.end() }

// Prefetch queues a migration to the device, so that the next kernel does not wait for each page.
func (m *Managed[T]) Prefetch(s *Stream) error {
	return m.prefetch(s, cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(m.c.dev.handle)})
}

// PrefetchHost queues a migration to the host.
func (m *Managed[T]) PrefetchHost(s *Stream) error {
	return m.prefetch(s, cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_HOST})
}

func (m *Managed[T]) prefetch(s *Stream, to cu.CUmemLocation) error {
	const op = "cuMemPrefetchAsync"
	if m.n == 0 {
		return m.gone(op)
	}
	s, err := m.ordered(op, s, nil)
	if err != nil {
		return err
	}
	return m.c.fail(op, "", m.c.api.MemPrefetchAsync(m.ptr, m.Bytes(), to, 0, s.handle))
}

// use is the check before a call with the memory.
func (v PinnedView[T]) use(op string) error {
	if v.owner == nil {
		return invalid(op, "", "the zero PinnedView has no memory")
	}
	if v.owner.isClosed() {
		return closedError(op, v.owner.kind)
	}
	return nil
}

func (v PinnedView[T]) memory() (*Context, *owned, cu.CUdeviceptr) {
	// With unified addressing, which every 64-bit system has, pinned memory has one address on host and device
	// (Programming Guide, Unified Virtual Address Space); memory that was registered has it on all systems where
	// CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM is 1.
	return v.c, v.owner, cu.CUdeviceptr(uintptr(unsafe.Pointer(unsafe.SliceData(v.data))))
}
