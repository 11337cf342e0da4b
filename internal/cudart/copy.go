package cudart

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// kinds says what memory a direction of copy has at both ends. Unified lets the driver find out.
var kinds = [...]struct{ src, dst driver.CUmemorytype }{
	MemcpyHostToHost:     {driver.CU_MEMORYTYPE_HOST, driver.CU_MEMORYTYPE_HOST},
	MemcpyHostToDevice:   {driver.CU_MEMORYTYPE_HOST, driver.CU_MEMORYTYPE_DEVICE},
	MemcpyDeviceToHost:   {driver.CU_MEMORYTYPE_DEVICE, driver.CU_MEMORYTYPE_HOST},
	MemcpyDeviceToDevice: {driver.CU_MEMORYTYPE_DEVICE, driver.CU_MEMORYTYPE_DEVICE},
	MemcpyDefault:        {driver.CU_MEMORYTYPE_UNIFIED, driver.CU_MEMORYTYPE_UNIFIED},
}

// Memcpy is cudaMemcpy.
func (r *Runtime) Memcpy(t *Thread, dst, src uintptr, n uint64, kind MemcpyKind) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	switch {
	case kind > MemcpyDefault:
		return t.fail(ErrorInvalidMemcpyDirection)
	case n == 0:
		return Success
	}
	return r.done(t, r.copy(cur, dst, src, n, kind))
}

func (r *Runtime) copy(cur driver.CUcontext, dst, src uintptr, n uint64, kind MemcpyKind) driver.CUresult {
	switch kind {
	case MemcpyHostToDevice:
		return r.table.MemcpyHtoD_v2(cur, driver.CUdeviceptr(dst), pointer(src), n)
	case MemcpyDeviceToHost:
		return r.table.MemcpyDtoH_v2(cur, pointer(dst), driver.CUdeviceptr(src), n)
	case MemcpyDeviceToDevice:
		return r.table.MemcpyDtoD_v2(cur, driver.CUdeviceptr(dst), driver.CUdeviceptr(src), n)
	default:
		return r.table.Memcpy(cur, driver.CUdeviceptr(dst), driver.CUdeviceptr(src), n)
	}
}

// MemcpyAsync is cudaMemcpyAsync.
func (r *Runtime) MemcpyAsync(t *Thread, dst, src uintptr, n uint64, kind MemcpyKind, stream driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	switch {
	case kind > MemcpyDefault:
		return t.fail(ErrorInvalidMemcpyDirection)
	case n == 0:
		return Success
	}
	return r.done(t, r.copyAsync(cur, dst, src, n, kind, stream))
}

func (r *Runtime) copyAsync(cur driver.CUcontext, dst, src uintptr, n uint64, kind MemcpyKind,
	stream driver.CUstream) driver.CUresult {
	switch kind {
	case MemcpyHostToDevice:
		return r.table.MemcpyHtoDAsync_v2(cur, driver.CUdeviceptr(dst), pointer(src), n, stream)
	case MemcpyDeviceToHost:
		return r.table.MemcpyDtoHAsync_v2(cur, pointer(dst), driver.CUdeviceptr(src), n, stream)
	case MemcpyDeviceToDevice:
		return r.table.MemcpyDtoDAsync_v2(cur, driver.CUdeviceptr(dst), driver.CUdeviceptr(src), n, stream)
	default:
		return r.table.MemcpyAsync(cur, driver.CUdeviceptr(dst), driver.CUdeviceptr(src), n, stream)
	}
}

// MemcpyPeer is cudaMemcpyPeer.
func (r *Runtime) MemcpyPeer(t *Thread, dst uintptr, dstDevice int32, src uintptr, srcDevice int32, n uint64) Error {
	cur, to, from, e := r.peers(t, dstDevice, srcDevice)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.table.MemcpyPeer(cur, driver.CUdeviceptr(dst), to, driver.CUdeviceptr(src), from, n))
}

// MemcpyPeerAsync is cudaMemcpyPeerAsync.
func (r *Runtime) MemcpyPeerAsync(t *Thread, dst uintptr, dstDevice int32, src uintptr, srcDevice int32, n uint64,
	stream driver.CUstream) Error {
	cur, to, from, e := r.peers(t, dstDevice, srcDevice)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.table.MemcpyPeerAsync(cur, driver.CUdeviceptr(dst), to, driver.CUdeviceptr(src), from, n,
		stream))
}

func (r *Runtime) peers(t *Thread, dst, src int32) (cur, to, from driver.CUcontext, e Error) {
	if cur, e = r.enter(t); e != Success {
		return
	}
	if to, e = r.peer(cur, dst); e != Success {
		return
	}
	from, e = r.peer(cur, src)
	return
}

// symbolCopy finds the variable of a copy to or from it.
func (r *Runtime) symbolCopy(t *Thread, symbol uintptr, n, offset uint64, kind, way MemcpyKind) (driver.CUcontext,
	uintptr, Error) {
	cur, e := r.enter(t)
	if e != Success {
		return 0, 0, e
	}
	p, size, e := r.symbol(cur, symbol)
	if e != Success {
		return 0, 0, e
	}
	if kind != way && kind != MemcpyDeviceToDevice && kind != MemcpyDefault {
		return 0, 0, ErrorInvalidMemcpyDirection
	}
	if offset > size || n > size-offset {
		return 0, 0, ErrorInvalidValue
	}
	return cur, uintptr(p) + uintptr(offset), Success
}

// MemcpyToSymbol is cudaMemcpyToSymbol.
func (r *Runtime) MemcpyToSymbol(t *Thread, symbol, src uintptr, n, offset uint64, kind MemcpyKind) Error {
	cur, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyHostToDevice)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.copy(cur, p, src, n, kind))
}

// MemcpyFromSymbol is cudaMemcpyFromSymbol.
func (r *Runtime) MemcpyFromSymbol(t *Thread, dst, symbol uintptr, n, offset uint64, kind MemcpyKind) Error {
	cur, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyDeviceToHost)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.copy(cur, dst, p, n, kind))
}

// MemcpyToSymbolAsync is cudaMemcpyToSymbolAsync.
func (r *Runtime) MemcpyToSymbolAsync(t *Thread, symbol, src uintptr, n, offset uint64, kind MemcpyKind,
	stream driver.CUstream) Error {
	cur, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyHostToDevice)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.copyAsync(cur, p, src, n, kind, stream))
}

// MemcpyFromSymbolAsync is cudaMemcpyFromSymbolAsync.
func (r *Runtime) MemcpyFromSymbolAsync(t *Thread, dst, symbol uintptr, n, offset uint64, kind MemcpyKind,
	stream driver.CUstream) Error {
	cur, p, e := r.symbolCopy(t, symbol, n, offset, kind, MemcpyDeviceToHost)
	if e != Success {
		return t.fail(e)
	}
	if n == 0 {
		return Success
	}
	return r.done(t, r.copyAsync(cur, dst, p, n, kind, stream))
}

// end is one end of a copy with rows: an address and its pitch, or an array and a place in it.
type end struct {
	p     uintptr
	pitch uint64
	array driver.CUarray
	x, y  uint64
}

// rows makes the driver's description of a copy with rows.
func rows(dst, src end, width, height uint64, kind MemcpyKind) (driver.CUDA_MEMCPY2D, Error) {
	if kind > MemcpyDefault {
		return driver.CUDA_MEMCPY2D{}, ErrorInvalidMemcpyDirection
	}
	c := driver.CUDA_MEMCPY2D{
		SrcXInBytes: src.x, SrcY: src.y, SrcMemoryType: kinds[kind].src, SrcPitch: src.pitch,
		DstXInBytes: dst.x, DstY: dst.y, DstMemoryType: kinds[kind].dst, DstPitch: dst.pitch,
		WidthInBytes: width, Height: height,
	}
	if src.array != 0 {
		c.SrcMemoryType, c.SrcArray = driver.CU_MEMORYTYPE_ARRAY, src.array
	} else {
		c.SrcHost, c.SrcDevice = src.p, driver.CUdeviceptr(src.p)
	}
	if dst.array != 0 {
		c.DstMemoryType, c.DstArray = driver.CU_MEMORYTYPE_ARRAY, dst.array
	} else {
		c.DstHost, c.DstDevice = dst.p, driver.CUdeviceptr(dst.p)
	}
	return c, Success
}

// copy2D makes a copy with rows; without a stream it waits.
func (r *Runtime) copy2D(t *Thread, dst, src end, width, height uint64, kind MemcpyKind,
	stream *driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	c, e := rows(dst, src, width, height, kind)
	if e != Success {
		return t.fail(e)
	}
	if dst.array != 0 && kinds[kind].dst == driver.CU_MEMORYTYPE_HOST ||
		src.array != 0 && kinds[kind].src == driver.CU_MEMORYTYPE_HOST {
		return t.fail(ErrorInvalidMemcpyDirection) // an array is the device's
	}
	if src.array == 0 && src.pitch < width && height > 1 || dst.array == 0 && dst.pitch < width && height > 1 {
		return t.fail(ErrorInvalidPitchValue)
	}
	if width == 0 || height == 0 {
		return Success
	}
	if stream != nil {
		return r.done(t, r.table.Memcpy2DAsync_v2(cur, &c, *stream))
	}
	return r.done(t, r.table.Memcpy2DUnaligned_v2(cur, &c))
}

// Memcpy2D is cudaMemcpy2D.
func (r *Runtime) Memcpy2D(t *Thread, dst uintptr, dpitch uint64, src uintptr, spitch, width, height uint64,
	kind MemcpyKind) Error {
	return r.copy2D(t, end{p: dst, pitch: dpitch}, end{p: src, pitch: spitch}, width, height, kind, nil)
}

// Memcpy2DAsync is cudaMemcpy2DAsync.
func (r *Runtime) Memcpy2DAsync(t *Thread, dst uintptr, dpitch uint64, src uintptr, spitch, width, height uint64,
	kind MemcpyKind, stream driver.CUstream) Error {
	return r.copy2D(t, end{p: dst, pitch: dpitch}, end{p: src, pitch: spitch}, width, height, kind, &stream)
}

// Memcpy2DToArray is cudaMemcpy2DToArray.
func (r *Runtime) Memcpy2DToArray(t *Thread, dst driver.CUarray, x, y uint64, src uintptr, spitch, width, height uint64,
	kind MemcpyKind) Error {
	if dst == 0 {
		return t.fail(ErrorInvalidResourceHandle)
	}
	return r.copy2D(t, end{array: dst, x: x, y: y}, end{p: src, pitch: spitch}, width, height, kind, nil)
}

// Memcpy2DToArrayAsync is cudaMemcpy2DToArrayAsync.
func (r *Runtime) Memcpy2DToArrayAsync(t *Thread, dst driver.CUarray, x, y uint64, src uintptr, spitch, width,
	height uint64, kind MemcpyKind, stream driver.CUstream) Error {
	if dst == 0 {
		return t.fail(ErrorInvalidResourceHandle)
	}
	return r.copy2D(t, end{array: dst, x: x, y: y}, end{p: src, pitch: spitch}, width, height, kind, &stream)
}

// Memcpy2DFromArray is cudaMemcpy2DFromArray.
func (r *Runtime) Memcpy2DFromArray(t *Thread, dst uintptr, dpitch uint64, src driver.CUarray, x, y, width,
	height uint64, kind MemcpyKind) Error {
	if src == 0 {
		return t.fail(ErrorInvalidResourceHandle)
	}
	return r.copy2D(t, end{p: dst, pitch: dpitch}, end{array: src, x: x, y: y}, width, height, kind, nil)
}

// Memcpy2DFromArrayAsync is cudaMemcpy2DFromArrayAsync.
func (r *Runtime) Memcpy2DFromArrayAsync(t *Thread, dst uintptr, dpitch uint64, src driver.CUarray, x, y, width,
	height uint64, kind MemcpyKind, stream driver.CUstream) Error {
	if src == 0 {
		return t.fail(ErrorInvalidResourceHandle)
	}
	return r.copy2D(t, end{p: dst, pitch: dpitch}, end{array: src, x: x, y: y}, width, height, kind, &stream)
}

// Memcpy2DArrayToArray is cudaMemcpy2DArrayToArray.
func (r *Runtime) Memcpy2DArrayToArray(t *Thread, dst driver.CUarray, dx, dy uint64, src driver.CUarray, sx, sy, width,
	height uint64, kind MemcpyKind) Error {
	if dst == 0 || src == 0 {
		return t.fail(ErrorInvalidResourceHandle)
	}
	return r.copy2D(t, end{array: dst, x: dx, y: dy}, end{array: src, x: sx, y: sy}, width, height, kind, nil)
}

// pieces cuts a copy of bytes to or from an array, which goes on in the next row, into copies with rows.
func (r *Runtime) pieces(t *Thread, array driver.CUarray, x, y, n uint64,
	do func(x, y, offset, width, height uint64) Error) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	width, e := r.rowBytes(cur, array)
	if e != Success {
		return t.fail(e)
	}
	if x >= width && n > 0 {
		return t.fail(ErrorInvalidValue)
	}
	for done := uint64(0); done < n; {
		w, h := min(width-x, n-done), uint64(1)
		if x == 0 && n-done >= width {
			w, h = width, (n-done)/width
		}
		if e := do(x, y, done, w, h); e != Success {
			return e
		}
		done += w * h
		x, y = 0, y+h
	}
	return Success
}

// rowBytes is the width of an array's row.
func (r *Runtime) rowBytes(cur driver.CUcontext, array driver.CUarray) (uint64, Error) {
	if array == 0 {
		return 0, ErrorInvalidResourceHandle
	}
	var d driver.CUDA_ARRAY3D_DESCRIPTOR
	if result := r.table.Array3DGetDescriptor_v2(cur, &d, array); result != driver.CUDA_SUCCESS {
		return 0, Error(result)
	}
	return d.Width * uint64(formatBits(d.Format)/8*int32(d.NumChannels)), Success
}

func (r *Runtime) toArray(t *Thread, dst driver.CUarray, x, y uint64, src uintptr, n uint64, kind MemcpyKind,
	stream *driver.CUstream) Error {
	return r.pieces(t, dst, x, y, n, func(x, y, offset, width, height uint64) Error {
		return r.copy2D(t, end{array: dst, x: x, y: y}, end{p: src + uintptr(offset), pitch: width}, width, height,
			kind, stream)
	})
}

func (r *Runtime) fromArray(t *Thread, dst uintptr, src driver.CUarray, x, y, n uint64, kind MemcpyKind,
	stream *driver.CUstream) Error {
	return r.pieces(t, src, x, y, n, func(x, y, offset, width, height uint64) Error {
		return r.copy2D(t, end{p: dst + uintptr(offset), pitch: width}, end{array: src, x: x, y: y}, width, height,
			kind, stream)
	})
}

// MemcpyToArray is cudaMemcpyToArray.
func (r *Runtime) MemcpyToArray(t *Thread, dst driver.CUarray, x, y uint64, src uintptr, n uint64,
	kind MemcpyKind) Error {
	return r.toArray(t, dst, x, y, src, n, kind, nil)
}

// MemcpyToArrayAsync is cudaMemcpyToArrayAsync.
func (r *Runtime) MemcpyToArrayAsync(t *Thread, dst driver.CUarray, x, y uint64, src uintptr, n uint64, kind MemcpyKind,
	stream driver.CUstream) Error {
	return r.toArray(t, dst, x, y, src, n, kind, &stream)
}

// MemcpyFromArray is cudaMemcpyFromArray.
func (r *Runtime) MemcpyFromArray(t *Thread, dst uintptr, src driver.CUarray, x, y, n uint64, kind MemcpyKind) Error {
	return r.fromArray(t, dst, src, x, y, n, kind, nil)
}

// MemcpyFromArrayAsync is cudaMemcpyFromArrayAsync.
func (r *Runtime) MemcpyFromArrayAsync(t *Thread, dst uintptr, src driver.CUarray, x, y, n uint64, kind MemcpyKind,
	stream driver.CUstream) Error {
	return r.fromArray(t, dst, src, x, y, n, kind, &stream)
}

// MemcpyArrayToArray is cudaMemcpyArrayToArray: bytes, which go on in the next row of each array.
func (r *Runtime) MemcpyArrayToArray(t *Thread, dst driver.CUarray, dx, dy uint64, src driver.CUarray, sx, sy, n uint64,
	kind MemcpyKind) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	width, e := r.rowBytes(cur, src)
	if e != Success {
		return t.fail(e)
	}
	return r.pieces(t, dst, dx, dy, n, func(x, y, offset, w, h uint64) Error {
		for done := uint64(0); done < w*h; {
			at := sx + offset + done
			piece := min(w-done%w, width-at%width)
			if e := r.copy2D(t, end{array: dst, x: x + done%w, y: y + done/w},
				end{array: src, x: at % width, y: sy + at/width}, piece, 1, kind, nil); e != Success {
				return e
			}
			done += piece
		}
		return Success
	})
}

// volume makes the driver's description of a copy with slices. Widths and places are counted in elements where an array
// takes part.
func (r *Runtime) volume(cur driver.CUcontext, p *Memcpy3DParms) (driver.CUDA_MEMCPY3D, Error) {
	var c driver.CUDA_MEMCPY3D
	if p == nil {
		return c, ErrorInvalidValue
	}
	if p.Kind > MemcpyDefault {
		return c, ErrorInvalidMemcpyDirection
	}
	if (p.SrcArray != 0) == (p.SrcPtr.Ptr != 0) || (p.DstArray != 0) == (p.DstPtr.Ptr != 0) {
		return c, ErrorInvalidValue
	}
	element, e := r.elementBytes(cur, p.SrcArray, p.DstArray)
	if e != Success {
		return c, e
	}
	size := uint64(1)
	if p.SrcArray != 0 || p.DstArray != 0 {
		size = element
	}
	c = driver.CUDA_MEMCPY3D{
		SrcXInBytes: p.SrcPos.X, SrcY: p.SrcPos.Y, SrcZ: p.SrcPos.Z, SrcMemoryType: kinds[p.Kind].src,
		SrcPitch: p.SrcPtr.Pitch, SrcHeight: p.SrcPtr.Ysize,
		DstXInBytes: p.DstPos.X, DstY: p.DstPos.Y, DstZ: p.DstPos.Z, DstMemoryType: kinds[p.Kind].dst,
		DstPitch: p.DstPtr.Pitch, DstHeight: p.DstPtr.Ysize,
		WidthInBytes: p.Extent.Width * size, Height: p.Extent.Height, Depth: p.Extent.Depth,
	}
	if p.SrcArray != 0 {
		c.SrcMemoryType, c.SrcArray, c.SrcXInBytes = driver.CU_MEMORYTYPE_ARRAY, p.SrcArray, p.SrcPos.X*element
	} else {
		c.SrcHost, c.SrcDevice = p.SrcPtr.Ptr, driver.CUdeviceptr(p.SrcPtr.Ptr)
	}
	if p.DstArray != 0 {
		c.DstMemoryType, c.DstArray, c.DstXInBytes = driver.CU_MEMORYTYPE_ARRAY, p.DstArray, p.DstPos.X*element
	} else {
		c.DstHost, c.DstDevice = p.DstPtr.Ptr, driver.CUdeviceptr(p.DstPtr.Ptr)
	}
	return c, Success
}

// elementBytes is the size of an element of the arrays of a copy, which must be the same; 1 without an array.
func (r *Runtime) elementBytes(cur driver.CUcontext, arrays ...driver.CUarray) (uint64, Error) {
	size := uint64(0)
	for _, a := range arrays {
		if a == 0 {
			continue
		}
		var d driver.CUDA_ARRAY3D_DESCRIPTOR
		if result := r.table.Array3DGetDescriptor_v2(cur, &d, a); result != driver.CUDA_SUCCESS {
			return 0, Error(result)
		}
		n := uint64(formatBits(d.Format)/8) * uint64(d.NumChannels)
		if size != 0 && n != size {
			return 0, ErrorInvalidValue
		}
		size = n
	}
	return max(size, 1), Success
}

// empty says that there is nothing to copy.
func (x Extent) empty() bool { return x.Width == 0 || x.Height == 0 || x.Depth == 0 }

// Memcpy3D is cudaMemcpy3D.
func (r *Runtime) Memcpy3D(t *Thread, p *Memcpy3DParms) Error { return r.copy3D(t, p, nil) }

// Memcpy3DAsync is cudaMemcpy3DAsync.
func (r *Runtime) Memcpy3DAsync(t *Thread, p *Memcpy3DParms, stream driver.CUstream) Error {
	return r.copy3D(t, p, &stream)
}

func (r *Runtime) copy3D(t *Thread, p *Memcpy3DParms, stream *driver.CUstream) Error {
	cur, e := r.enter(t)
	if e != Success {
		return t.fail(e)
	}
	if p != nil && p.Kind <= MemcpyDefault && p.Extent.empty() {
		return Success
	}
	c, e := r.volume(cur, p)
	if e != Success {
		return t.fail(e)
	}
	if p.SrcArray == 0 && p.DstArray == 0 && min(p.SrcPtr.Pitch, p.DstPtr.Pitch) < c.WidthInBytes {
		return t.fail(ErrorInvalidPitchValue)
	}
	if stream != nil {
		return r.done(t, r.table.Memcpy3DAsync_v2(cur, &c, *stream))
	}
	return r.done(t, r.table.Memcpy3D_v2(cur, &c))
}

// Memcpy3DPeer is cudaMemcpy3DPeer.
func (r *Runtime) Memcpy3DPeer(t *Thread, p *Memcpy3DPeerParms) Error { return r.peer3D(t, p, nil) }

// Memcpy3DPeerAsync is cudaMemcpy3DPeerAsync.
func (r *Runtime) Memcpy3DPeerAsync(t *Thread, p *Memcpy3DPeerParms, stream driver.CUstream) Error {
	return r.peer3D(t, p, &stream)
}

func (r *Runtime) peer3D(t *Thread, p *Memcpy3DPeerParms, stream *driver.CUstream) Error {
	if p == nil {
		return t.fail(ErrorInvalidValue)
	}
	cur, to, from, e := r.peers(t, p.DstDevice, p.SrcDevice)
	if e != Success {
		return t.fail(e)
	}
	if p.Extent.empty() {
		return Success
	}
	v, e := r.volume(cur, &Memcpy3DParms{SrcArray: p.SrcArray, SrcPos: p.SrcPos, SrcPtr: p.SrcPtr, DstArray: p.DstArray,
		DstPos: p.DstPos, DstPtr: p.DstPtr, Extent: p.Extent, Kind: MemcpyDefault})
	if e != Success {
		return t.fail(e)
	}
	c := *(*driver.CUDA_MEMCPY3D_PEER)(unsafe.Pointer(&v)) // which has the contexts where the other has nothing
	c.SrcContext, c.DstContext = from, to
	if stream != nil {
		return r.done(t, r.table.Memcpy3DPeerAsync(cur, &c, *stream))
	}
	return r.done(t, r.table.Memcpy3DPeer(cur, &c))
}

// MemcpyBatchAsync_v1 is cudaMemcpyBatchAsync of CUDA 12, which can tell the copy that failed.
func (r *Runtime) MemcpyBatchAsync_v1(t *Thread, dsts, srcs *uintptr, sizes *uint64, n uint64, attrs *MemcpyAttributes,
	attrsIdxs *uint64, numAttrs uint64, failed *uint64, stream driver.CUstream) Error {
	e := r.MemcpyBatchAsync(t, dsts, srcs, sizes, n, attrs, attrsIdxs, numAttrs, stream)
	if e != Success && failed != nil {
		*failed = ^uint64(0) // none in particular
	}
	return e
}

// Memcpy3DBatchAsync_v1 is cudaMemcpy3DBatchAsync of CUDA 12.
func (r *Runtime) Memcpy3DBatchAsync_v1(t *Thread, n uint64, ops *Memcpy3DBatchOp, failed *uint64, flags uint64,
	stream driver.CUstream) Error {
	e := r.Memcpy3DBatchAsync(t, n, ops, flags, stream)
	if e != Success && failed != nil {
		*failed = ^uint64(0)
	}
	return e
}
