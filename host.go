package cuda

import (
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// PinnedView is a part of pinned host memory: memory that stays where it is, so that the device can read and write it
// while the program goes on. It is what asynchronous copies take.
type PinnedView[T any] struct {
	c     *Context
	owner *owned
	data  []T
}

// Pinned is pinned host memory: allocated by the driver ([AllocPinned]), or a Go slice that was made so ([Register]).
// It has the methods of [PinnedView]; p.PinnedView is the whole of it where a function takes a PinnedView.
type Pinned[T any] struct {
	owned
	PinnedView[T]
}

// PinnedOptions are the options of [AllocPinned]; the zero value is right nearly always.
type PinnedOptions struct {
	// WriteCombined memory is fast for the device to read and very slow for the host to read.
	WriteCombined bool
}

// AllocPinned allocates pinned host memory, zeroed. Kernels can use it too, over the bus: see [Ptr].
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

// Register pins a Go slice and tells the driver about it, until Close. The slice must not be registered already. It
// takes long on a GPU (the operating system locks every page), so it is for memory that is used again and again.
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

// Close frees the memory, or unregisters the slice, which stays the program's. Slices of memory that AllocPinned made
// must not be used afterwards.
func (p *Pinned[T]) Close() error { return p.end() }

// Data is the memory, nil after Close. Memory of AllocPinned is not Go memory: slices of it must not be used after
// Close.
func (v PinnedView[T]) Data() []T {
	if v.owner != nil && v.owner.isClosed() {
		return nil
	}
	return v.data
}

// Len is the number of elements.
func (v PinnedView[T]) Len() int { return len(v.data) }

// Slice is the elements from i up to, not including, j.
func (v PinnedView[T]) Slice(i, j int) PinnedView[T] {
	checkRange(i, j, len(v.data))
	v.data = v.data[i:j:j]
	return v
}

// Context is the context that the memory was made in. Every context of the process can use it.
func (v PinnedView[T]) Context() *Context { return v.c }

// Device is the memory as kernels see it (zero copy: every access goes over the bus).
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

// Managed is memory that host and device share; the driver moves it to where it is used. The host must not touch it
// while a kernel may, unless [DeviceInfo.ConcurrentManaged].
type Managed[T any] struct {
	owned
	View[T]
	data []T
}

// AllocManaged allocates managed memory, zeroed.
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

// Data is the memory as the host sees it, nil after Close. Slices of it must not be used after Close.
func (m *Managed[T]) Data() []T {
	if m.isClosed() {
		return nil
	}
	return m.data
}

// Close frees the memory.
func (m *Managed[T]) Close() error { return m.end() }

// Prefetch queues moving the memory to its device, so that the kernel after it does not wait for each page.
func (m *Managed[T]) Prefetch(s *Stream) error {
	return m.prefetch(s, cu.CUmemLocation{Type: cu.CU_MEM_LOCATION_TYPE_DEVICE, Id: int32(m.c.dev.handle)})
}

// PrefetchHost queues moving the memory to the host.
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
