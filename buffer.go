package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Pointer is a device address of elements of type T, the type of a kernel's pointer parameter. It does not keep the
// memory open. Use it in argument structs and in typed kernels ([Bind1] and so on).
type Pointer[T any] uint64

// View is a range of device memory: an address, a length in elements, and a reference to its owner. It is small and
// meant to be copied. Slice shares memory as slicing in Go does. The zero View is empty.
type View[T any] struct {
	c     *Context
	owner *owned
	ptr   cu.CUdeviceptr
	n     int
}

// Buffer is device memory owned by the program, which must close it. The garbage collector never frees it: it knows
// neither the size of device memory nor what the device still does with it. A Buffer has the methods of [View]; b.View
// is the whole buffer as a View.
type Buffer[T any] struct {
	owned
	View[T]
}

// Memory is any device-accessible memory with an address: [*Buffer], [View], [*Managed], [*Pinned] and [PinnedView].
// [Ptr] takes it.
type Memory interface {
	memory() (c *Context, owner *owned, ptr cu.CUdeviceptr)
}

func (v View[T]) memory() (*Context, *owned, cu.CUdeviceptr) { return v.c, v.owner, v.ptr }

// Alloc allocates n elements of device memory with undefined contents. T may be any type without Go pointers: numbers,
// arrays, structs (in Go's layout, which equals C's for fields of the same sizes). n = 0 gives an empty buffer without
// memory.
func Alloc[T any](c *Context, n int) (*Buffer[T], error) {
	b, err := alloc[T](c, n, "cuMemAlloc", func(bytes uint64) (cu.CUdeviceptr, error) { return c.api.MemAlloc(bytes) })
	if err == nil {
		watch(b, &b.owned)
	}
	return b, err
}

// alloc is the common part of the allocating functions.
func alloc[T any](c *Context, n int, op string, get func(bytes uint64) (cu.CUdeviceptr, error)) (*Buffer[T], error) {
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
	b := new(Buffer[T])
	b.View = View[T]{c: c, owner: &b.owned, n: n}
	if n > 0 { // cuMemAlloc refuses 0 bytes
		if b.ptr, err = get(bytes); err != nil {
			return nil, c.fail(op, "", err)
		}
	}
	b.born(&c.owned, "buffer", int64(bytes), c.freeMemory(b.ptr))
	return b, nil
}

// Upload allocates a buffer and copies a slice into it, as [View.CopyFrom] does.
func Upload[T any](c *Context, src []T) (*Buffer[T], error) {
	b, err := Alloc[T](c, len(src))
	if err != nil {
		return nil, err
	}
	if err := b.CopyFrom(src); err != nil {
		_ = b.Close() // the first error counts
		return nil, err
	}
	return b, nil
}

// AllocAsync allocates n elements from the device's current memory pool in stream order: work queued later in the
// stream may use the memory, and so may other streams that wait for it. On a GPU it is far cheaper than Alloc. Free the
// buffer with [Buffer.CloseAsync] or Close.
func AllocAsync[T any](s *Stream, n int) (*Buffer[T], error) {
	const op = "cuMemAllocAsync"
	if err := s.check(op); err != nil {
		return nil, err
	}
	b, err := alloc[T](s.c, n, op, func(bytes uint64) (cu.CUdeviceptr, error) {
		return s.api.MemAllocAsync(bytes, s.handle)
	})
	if err == nil {
		watch(b, &b.owned)
	}
	return b, err
}

// Close frees the memory. Work that uses it must have finished; the driver waits for it in most cases.
func (b *Buffer[T]) Close() error { return b.end() }

// CloseAsync frees the memory in stream order. The buffer counts as closed immediately.
func (b *Buffer[T]) CloseAsync(s *Stream) error {
	if b.isClosed() {
		return ErrClosed
	}
	s, err := b.c.stream("cuMemFreeAsync", s)
	if err != nil {
		return err
	}
	return b.endBy(func() error {
		if b.n == 0 {
			return nil
		}
		return b.c.fail("cuMemFreeAsync", "", b.c.api.MemFreeAsync(b.ptr, s.handle))
	})
}

// Len returns the number of elements.
func (v View[T]) Len() int { return v.n }

// Bytes returns the size in bytes.
func (v View[T]) Bytes() uint64 { return uint64(v.n) * sizeOf[T]() }

// Ptr returns the device address.
func (v View[T]) Ptr() Pointer[T] { return Pointer[T](v.ptr) }

// DevicePtr returns the device address in the type of package cu.
func (v View[T]) DevicePtr() cu.CUdeviceptr { return v.ptr }

// Context returns the context that owns the memory, or nil for the zero View.
func (v View[T]) Context() *Context { return v.c }

// Slice returns the elements from i up to, but not including, j. It panics unless 0 <= i <= j <= Len.
func (v View[T]) Slice(i, j int) View[T] {
	checkRange(i, j, v.n)
	v.ptr += cu.CUdeviceptr(uint64(i) * sizeOf[T]())
	v.n = j - i
	return v
}

// From returns Slice(i, Len()).
func (v View[T]) From(i int) View[T] { return v.Slice(i, v.n) }

// Cast reinterprets memory as elements of another type. The size in bytes must be a multiple of the new element size,
// and the address aligned for it.
func Cast[To, From any](v View[From]) (View[To], error) {
	size, err := elementSize[To]("Cast")
	if err == nil {
		err = v.gone("Cast")
	}
	if err != nil {
		return View[To]{}, err
	}
	var to To
	if v.Bytes()%size != 0 || uint64(v.ptr)%uint64(unsafe.Alignof(to)) != 0 {
		return View[To]{}, invalid("Cast", "", "%d bytes at %#x are no array of %T", v.Bytes(), uint64(v.ptr), to)
	}
	return View[To]{c: v.c, owner: v.owner, ptr: v.ptr, n: int(v.Bytes() / size)}, nil
}

// String returns the location and the length.
func (v View[T]) String() string {
	var e T
	return fmt.Sprintf("[%d]%T at %#x", v.n, e, uint64(v.ptr))
}

// use is the check before a call with the memory.
func (v View[T]) use(op string) error {
	if v.c == nil {
		return invalid(op, "", "the zero View has no memory")
	}
	return v.gone(op)
}

// gone is the check before a call that has nothing to do: memory that was closed is an error all the same.
func (v View[T]) gone(op string) error {
	if v.owner != nil && v.owner.isClosed() {
		return closedError(op, v.owner.kind)
	}
	return nil
}

// CopyFrom copies a slice to the start of the view and returns when the device has the data: work queued afterwards
// sees it, in every stream. The view may be longer than the slice; a shorter one is an error. The copy is ordered with
// the default stream and the streams that synchronise with it, not with non-blocking streams.
func (v View[T]) CopyFrom(src []T) error {
	const op = "cuMemcpyHtoD"
	if len(src) > v.n {
		return invalid(op, "", "%d elements copied to %d", len(src), v.n)
	}
	if len(src) == 0 {
		return v.gone(op)
	}
	if err := v.use(op); err != nil {
		return err
	}
	if err := v.c.api.MemcpyHtoD(v.ptr, asBytes(src)); err != nil {
		return v.c.fail(op, "", err)
	}
	return v.c.arrived(op)
}

// arrived is the end of a synchronous copy from the host. The driver returns when it has ordinary memory in a buffer of
// its own, which is on its way in the default stream (CUDA Driver API, "API synchronization behavior"); a non-blocking
// stream would not wait for that.
func (c *Context) arrived(op string) error { return c.waited(op, c.api.StreamSynchronize(0)) }

// CopyTo copies the start of the view into a slice and returns when the data is there. The view may be longer than the
// slice; a shorter one is an error. The copy is ordered with the default stream and the streams that synchronise with
// it; synchronise with non-blocking streams first.
func (v View[T]) CopyTo(dst []T) error {
	const op = "cuMemcpyDtoH"
	if len(dst) > v.n {
		return invalid(op, "", "%d elements copied from %d", len(dst), v.n)
	}
	if len(dst) == 0 {
		return v.gone(op)
	}
	if err := v.use(op); err != nil {
		return err
	}
	return v.c.waited(op, v.c.api.MemcpyDtoH(asBytes(dst), v.ptr))
}

// Download copies the whole view into a new slice, as [View.CopyTo] does.
func (v View[T]) Download() ([]T, error) {
	dst := make([]T, v.n)
	return dst, v.CopyTo(dst)
}

// CopyFromAsync queues a copy from pinned memory, which must not be changed until the copy is done. Ordinary Go memory
// is not accepted, since nothing would keep it in place: use CopyFrom, or [Register] the slice.
func (v View[T]) CopyFromAsync(s *Stream, src PinnedView[T]) error {
	const op = "cuMemcpyHtoDAsync"
	if src.Len() > v.n {
		return invalid(op, "", "%d elements copied to %d", src.Len(), v.n)
	}
	if src.Len() == 0 {
		return v.gone(op)
	}
	s, err := v.ordered(op, s, src.owner)
	if err != nil {
		return err
	}
	return v.c.fail(op, "", v.c.api.MemcpyHtoDAsync(v.ptr, asBytes(src.data), s.handle))
}

// CopyToAsync queues a copy into pinned memory, which holds the data once the copy is done.
func (v View[T]) CopyToAsync(s *Stream, dst PinnedView[T]) error {
	const op = "cuMemcpyDtoHAsync"
	if dst.Len() > v.n {
		return invalid(op, "", "%d elements copied from %d", dst.Len(), v.n)
	}
	if dst.Len() == 0 {
		return v.gone(op)
	}
	s, err := v.ordered(op, s, dst.owner)
	if err != nil {
		return err
	}
	return v.c.fail(op, "", v.c.api.MemcpyDtoHAsync(asBytes(dst.data), v.ptr, s.handle))
}

// ordered checks view, stream and another piece of memory of a queued operation.
func (v View[T]) ordered(op string, s *Stream, other *owned) (*Stream, error) {
	if err := v.use(op); err != nil {
		return nil, err
	}
	if other != nil && other.isClosed() {
		return nil, closedError(op, other.kind)
	}
	return v.c.stream(op, s)
}

// Copy copies between two views of the same length, on one device or two, and waits until the copy is done.
func Copy[T any](dst, src View[T]) error { return copyViews(dst, src, nil, false) }

// CopyAsync queues a copy between two views of the same length in a stream of dst's context.
func CopyAsync[T any](s *Stream, dst, src View[T]) error { return copyViews(dst, src, s, true) }

func copyViews[T any](dst, src View[T], s *Stream, async bool) error {
	op := "cuMemcpyDtoDAsync"
	if dst.n != src.n {
		return invalid(op, "", "%d elements copied to %d", src.n, dst.n)
	}
	if dst.n == 0 {
		return errors.Join(dst.gone(op), src.gone(op))
	}
	if err := src.use(op); err != nil {
		return err
	}
	s, err := dst.ordered(op, s, nil)
	if err != nil {
		return err
	}
	api, n := dst.c.api, dst.Bytes()
	if dst.c.handle != src.c.handle {
		op = "cuMemcpyPeerAsync"
		err = api.MemcpyPeerAsync(dst.ptr, dst.c.handle, src.ptr, src.c.handle, n, s.handle)
	} else {
		err = api.MemcpyDtoDAsync(dst.ptr, src.ptr, n, s.handle)
	}
	if err != nil || async {
		return dst.c.fail(op, "", err)
	}
	return s.Synchronize() // copies on the device do not wait by themselves
}

// Zero sets all bytes to zero and waits.
func (v View[T]) Zero() error { return v.zero(nil, true) }

// ZeroAsync queues setting all bytes to zero.
func (v View[T]) ZeroAsync(s *Stream) error { return v.zero(s, false) }

func (v View[T]) zero(s *Stream, wait bool) error {
	const op = "cuMemsetD8Async"
	if v.n == 0 {
		return v.gone(op)
	}
	s, err := v.ordered(op, s, nil)
	if err != nil {
		return err
	}
	if err := v.c.api.MemsetD8Async(v.ptr, 0, v.Bytes(), s.handle); err != nil || !wait {
		return v.c.fail(op, "", err)
	}
	return s.Synchronize()
}

// Fill sets all elements to v and waits. Elements of 1, 2 and 4 bytes take one driver operation, larger ones one
// operation for each word of the element.
func (v View[T]) Fill(value T) error {
	if err := v.FillAsync(nil, value); err != nil || v.n == 0 {
		return err
	}
	return v.c.legacy.Synchronize()
}

// FillAsync queues setting all elements to v.
func (v View[T]) FillAsync(s *Stream, value T) error {
	const op = "cuMemsetD32Async"
	if v.n == 0 {
		return v.gone(op)
	}
	s, err := v.ordered(op, s, nil)
	if err != nil {
		return err
	}
	return v.c.fail(op, "", fillElements(v.c.api, v.ptr, uint64(v.n), asBytes([]T{value}), s.handle))
}

// fillElements sets n elements to a pattern. An element of several words is filled word by word, each as a matrix one
// word wide.
func fillElements(api cu.API, p cu.CUdeviceptr, n uint64, pattern []byte, s cu.CUstream) error {
	size := uint64(len(pattern))
	word := uint64(1)
	switch {
	case size%4 == 0:
		word = 4
	case size%2 == 0:
		word = 2
	}
	for off := uint64(0); off < size; off += word {
		at := p + cu.CUdeviceptr(off)
		var v uint32
		for i := range word {
			v |= uint32(pattern[off+i]) << (8 * i)
		}
		var err error
		switch {
		case size == word && word == 4:
			err = api.MemsetD32Async(at, v, n, s)
		case size == word && word == 2:
			err = api.MemsetD16Async(at, uint16(v), n, s)
		case size == word:
			err = api.MemsetD8Async(at, uint8(v), n, s)
		case word == 4:
			err = api.MemsetD2D32Async(at, size, v, 1, n, s)
		case word == 2:
			err = api.MemsetD2D16Async(at, size, uint16(v), 1, n, s)
		default:
			err = api.MemsetD2D8Async(at, size, uint8(v), 1, n, s)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
