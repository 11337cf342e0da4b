package cuda

import (
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Matrix is device memory with rows: two-dimensional, or three-dimensional with Depth planes of Height rows. Each row
// starts Pitch bytes after the previous one, at an address that suits the hardware. The program must close it.
type Matrix[T any] struct {
	owned
	MatrixView[T]
}

// MatrixView is a box of elements of a matrix.
type MatrixView[T any] struct {
	c     *Context
	owner *owned
	ptr   cu.CUdeviceptr
	w, h  int
	d     int
	pitch uint64 // bytes from row to row
	rows  uint64 // rows from plane to plane
}

// AllocMatrix allocates height rows of width elements (cuMemAllocPitch).
func AllocMatrix[T any](c *Context, width, height int) (*Matrix[T], error) {
	return allocMatrix[T](c, width, height, 1)
}

// AllocVolume allocates depth planes of height rows of width elements.
func AllocVolume[T any](c *Context, width, height, depth int) (*Matrix[T], error) {
	return allocMatrix[T](c, width, height, depth)
}

func allocMatrix[T any](c *Context, width, height, depth int) (*Matrix[T], error) {
	const op = "cuMemAllocPitch"
	size, err := elementSize[T](op)
	if err != nil {
		return nil, err
	}
	if width < 1 || height < 1 || depth < 1 {
		return nil, invalid(op, "", "a matrix of %d x %d x %d elements", width, height, depth)
	}
	row, err := byteCount(op, width, size)
	if err != nil {
		return nil, err
	}
	rows, err := byteCount(op, height, uint64(depth))
	if err != nil {
		return nil, err
	}
	if c.isClosed() {
		return nil, closedError(op, "context")
	}
	access := uint32(4) // the widest access that a kernel makes to a row: 4, 8 or 16 bytes (cuda.h)
	switch {
	case size%16 == 0:
		access = 16
	case size%8 == 0:
		access = 8
	}
	p, pitch, err := c.api.MemAllocPitch(row, rows, access)
	if err != nil {
		return nil, c.fail(op, "", err)
	}
	m := new(Matrix[T])
	m.MatrixView = MatrixView[T]{c: c, owner: &m.owned, ptr: p, w: width, h: height, d: depth, pitch: pitch,
		rows: uint64(height)}
	m.born(&c.owned, "matrix", int64(pitch*rows), c.freeMemory(p))
	watch(m, &m.owned)
	return m, nil
}

// Close frees the memory.
func (m *Matrix[T]) Close() error { return m.end() }

// Matrix returns the view as rows of width elements. A remainder at the end is not part of the matrix.
func (v View[T]) Matrix(width int) (MatrixView[T], error) {
	if err := v.gone("Matrix"); err != nil {
		return MatrixView[T]{}, err
	}
	if width < 1 || v.n < width {
		return MatrixView[T]{}, invalid("Matrix", "", "rows of %d elements in %d", width, v.n)
	}
	h := v.n / width
	return MatrixView[T]{c: v.c, owner: v.owner, ptr: v.ptr, w: width, h: h, d: 1, pitch: uint64(width) * sizeOf[T](),
		rows: uint64(h)}, nil
}

// Width returns the number of elements in a row.
func (v MatrixView[T]) Width() int { return v.w }

// Height returns the number of rows in a plane.
func (v MatrixView[T]) Height() int { return v.h }

// Depth returns the number of planes, 1 for two dimensions.
func (v MatrixView[T]) Depth() int { return v.d }

// Pitch returns the distance between rows in bytes, as kernels need it.
func (v MatrixView[T]) Pitch() uint64 { return v.pitch }

// Ptr returns the address of the first element.
func (v MatrixView[T]) Ptr() Pointer[T] { return Pointer[T](v.ptr) }

func (v MatrixView[T]) memory() (*Context, *owned, cu.CUdeviceptr) { return v.c, v.owner, v.ptr }

// Sub returns, of every plane, the part from column x0 and row y0 up to, but not including, x1 and y1. It panics as a
// slice expression does.
func (v MatrixView[T]) Sub(x0, y0, x1, y1 int) MatrixView[T] {
	checkRange(x0, x1, v.w)
	checkRange(y0, y1, v.h)
	v.ptr += cu.CUdeviceptr(uint64(y0)*v.pitch + uint64(x0)*sizeOf[T]())
	v.w, v.h = x1-x0, y1-y0
	return v
}

// Planes returns the planes from z0 up to, but not including, z1.
func (v MatrixView[T]) Planes(z0, z1 int) MatrixView[T] {
	checkRange(z0, z1, v.d)
	v.ptr += cu.CUdeviceptr(uint64(z0) * v.rows * v.pitch)
	v.d = z1 - z0
	return v
}

// Row returns one row of the first plane.
func (v MatrixView[T]) Row(y int) View[T] {
	checkRange(y, y+1, v.h)
	return View[T]{c: v.c, owner: v.owner, ptr: v.ptr + cu.CUdeviceptr(uint64(y)*v.pitch), n: v.w}
}

func (v MatrixView[T]) len() int { return v.w * v.h * v.d }

func (v MatrixView[T]) use(op string) error {
	return View[T]{c: v.c, owner: v.owner}.use(op)
}

// CopyFrom copies a slice of exactly Width x Height x Depth elements, row after row, and waits.
func (v MatrixView[T]) CopyFrom(src []T) error {
	return v.host(src, true)
}

// CopyTo copies into a slice of exactly Width x Height x Depth elements, row after row, and waits.
func (v MatrixView[T]) CopyTo(dst []T) error {
	return v.host(dst, false)
}

// CopyFromAsync queues a copy from pinned memory; see [View.CopyFromAsync].
func (v MatrixView[T]) CopyFromAsync(s *Stream, src PinnedView[T]) error {
	return v.pinned(s, src, true)
}

// CopyToAsync queues a copy into pinned memory.
func (v MatrixView[T]) CopyToAsync(s *Stream, dst PinnedView[T]) error {
	return v.pinned(s, dst, false)
}

// CopyMatrix queues a copy between two boxes of the same size in one context. Between contexts, copy rows with [Copy].
func CopyMatrix[T any](s *Stream, dst, src MatrixView[T]) error {
	const op = "cuMemcpy3DAsync"
	d, err := boxes(op, dst, src)
	if err != nil {
		return err
	}
	s, err = dst.c.stream(op, s)
	if err != nil || dst.len() == 0 {
		return err
	}
	return dst.c.fail(op, "", dst.c.api.Memcpy3DAsync(&d, s.handle))
}

// boxes describes a copy between two boxes.
func boxes[T any](op string, dst, src MatrixView[T]) (cu.CUDA_MEMCPY3D, error) {
	var d cu.CUDA_MEMCPY3D
	if dst.w != src.w || dst.h != src.h || dst.d != src.d {
		return d, invalid(op, "", "a box of %d x %d x %d copied to one of %d x %d x %d", src.w, src.h, src.d, dst.w,
			dst.h, dst.d)
	}
	if err := src.use(op); err != nil {
		return d, err
	}
	if err := dst.use(op); err != nil {
		return d, err
	}
	if dst.c.handle != src.c.handle {
		return d, &Error{Op: op, Code: ErrInvalidContext, Detail: "the boxes belong to different contexts"}
	}
	return cu.CUDA_MEMCPY3D{
		SrcMemoryType: cu.CU_MEMORYTYPE_DEVICE, SrcDevice: src.ptr, SrcPitch: src.pitch, SrcHeight: src.rows,
		DstMemoryType: cu.CU_MEMORYTYPE_DEVICE, DstDevice: dst.ptr, DstPitch: dst.pitch, DstHeight: dst.rows,
		WidthInBytes: uint64(dst.w) * sizeOf[T](), Height: uint64(dst.h), Depth: uint64(dst.d),
	}, nil
}

// box describes a copy between the matrix and tight host memory.
func (v MatrixView[T]) box(host []T, in bool) cu.CUDA_MEMCPY3D {
	row := uint64(v.w) * sizeOf[T]()
	d := cu.CUDA_MEMCPY3D{WidthInBytes: row, Height: uint64(v.h), Depth: uint64(v.d)}
	p := unsafe.Pointer(unsafe.SliceData(host))
	if in {
		d.SrcMemoryType, d.SrcHost, d.SrcPitch, d.SrcHeight = cu.CU_MEMORYTYPE_HOST, p, row, uint64(v.h)
		d.DstMemoryType, d.DstDevice, d.DstPitch, d.DstHeight = cu.CU_MEMORYTYPE_DEVICE, v.ptr, v.pitch, v.rows
		return d
	}
	d.SrcMemoryType, d.SrcDevice, d.SrcPitch, d.SrcHeight = cu.CU_MEMORYTYPE_DEVICE, v.ptr, v.pitch, v.rows
	d.DstMemoryType, d.DstHost, d.DstPitch, d.DstHeight = cu.CU_MEMORYTYPE_HOST, p, row, uint64(v.h)
	return d
}

func (v MatrixView[T]) host(data []T, in bool) error {
	const op = "cuMemcpy3D"
	if len(data) != v.len() {
		return invalid(op, "", "a slice of %d elements for a box of %d x %d x %d", len(data), v.w, v.h, v.d)
	}
	if len(data) == 0 {
		return View[T]{owner: v.owner}.gone(op)
	}
	if err := v.use(op); err != nil {
		return err
	}
	d := v.box(data, in)
	if err := v.c.api.Memcpy3D(&d); err != nil || !in {
		return v.c.waited(op, err)
	}
	return v.c.arrived(op)
}

func (v MatrixView[T]) pinned(s *Stream, data PinnedView[T], in bool) error {
	const op = "cuMemcpy3DAsync"
	if data.Len() != v.len() {
		return invalid(op, "", "%d elements of pinned memory for a box of %d x %d x %d", data.Len(), v.w, v.h, v.d)
	}
	if data.Len() == 0 {
		return View[T]{owner: v.owner}.gone(op)
	}
	s, err := View[T]{c: v.c, owner: v.owner}.ordered(op, s, data.owner)
	if err != nil {
		return err
	}
	d := v.box(data.data, in)
	return v.c.fail(op, "", v.c.api.Memcpy3DAsync(&d, s.handle))
}
