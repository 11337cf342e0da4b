package softdev

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// boxCopy is a copy of rows and slices between two pitched places.
type boxCopy struct {
	dst, src             unsafe.Pointer
	dstPitch, srcPitch   uint64 // bytes from row to row
	dstSlice, srcSlice   uint64 // bytes from slice to slice
	width, height, depth uint64
	pageable             bool // on either side
	init                 *initcheck
}

func (b *boxCopy) execute(_ *stream, skip bool) {
	if skip {
		return
	}
	for z := range b.depth {
		for y := range b.height {
			dst, src := unsafe.Add(b.dst, z*b.dstSlice+y*b.dstPitch), unsafe.Add(b.src, z*b.srcSlice+y*b.srcPitch)
			copyBytes(dst, src, b.width)
			b.init.copied(dst, src, b.width)
		}
	}
}

func (b *boxCopy) bytes() uint64 { return b.width * b.height * b.depth }

// place is one side of a 2D or 3D copy as the structs give it.
type place struct {
	kind          driver.CUmemorytype
	host          uintptr
	device        driver.CUdeviceptr
	array         driver.CUarray
	x, y, z       uint64
	pitch, height uint64
}

// resolve gives the first byte of the box, the distances, and whether the memory is pageable.
func (p *place) resolve(c *context, w, h, depth uint64) (first unsafe.Pointer, pitch, slice uint64, pageable bool,
	r driver.CUresult) {
	bad := func() (unsafe.Pointer, uint64, uint64, bool, driver.CUresult) { return nil, 0, 0, false, invalidValue }
	var base uint64
	switch p.kind {
	case driver.CU_MEMORYTYPE_HOST:
		base = uint64(p.host)
	case driver.CU_MEMORYTYPE_DEVICE, driver.CU_MEMORYTYPE_UNIFIED:
		base = uint64(p.device)
	case driver.CU_MEMORYTYPE_ARRAY:
		first, pitch, slice, r = p.resolveArray(c, w, h, depth)
		return first, pitch, slice, false, r
	default:
		return bad()
	}
	if base == 0 {
		return bad()
	}
	pitch, rows := p.pitch, p.height
	if pitch == 0 {
		pitch = w + p.x
	}
	if rows == 0 {
		rows = h + p.y
	}
	if pitch < w+p.x || rows < h+p.y || w+p.x < w || h+p.y < h {
		return bad()
	}
	over, slice := bits.Mul64(pitch, rows)
	if over != 0 {
		return bad()
	}
	zo, zoff := bits.Mul64(slice, p.z)
	yo, yoff := bits.Mul64(pitch, p.y)
	zs, zspan := bits.Mul64(slice, depth-1)
	ys, yspan := bits.Mul64(pitch, h-1)
	if zo|yo|zs|ys != 0 {
		return bad()
	}
	start := base + zoff + yoff + p.x
	span := zspan + yspan + w
	if start < base || span < w || start+span < start {
		return bad()
	}
	m := c.d.memory
	var ok bool
	switch p.kind {
	case driver.CU_MEMORYTYPE_HOST:
		first, pageable, ok = m.host(foreign(start), span)
	case driver.CU_MEMORYTYPE_DEVICE:
		first, ok = m.device(driver.CUdeviceptr(start), span)
	default:
		first, pageable, ok = m.unified(driver.CUdeviceptr(start), span)
	}
	if !ok {
		m.badCall(start, span)
		return bad()
	}
	return first, pitch, slice, pageable, success
}

// box checks a copy and makes its operation; nil with success is a copy of nothing.
func (c *context) box(dst, src *place, w, h, depth uint64) (*boxCopy, driver.CUresult) {
	if w == 0 || h == 0 || depth == 0 {
		return nil, success
	}
	b := &boxCopy{width: w, height: h, depth: depth, init: c.d.uninit}
	var r driver.CUresult
	var p, q bool
	if b.src, b.srcPitch, b.srcSlice, p, r = src.resolve(c, w, h, depth); r != success {
		return nil, r
	}
	if b.dst, b.dstPitch, b.dstSlice, q, r = dst.resolve(c, w, h, depth); r != success {
		return nil, r
	}
	if !c.d.memory.writable(b.dst) {
		return nil, invalidValue
	}
	b.pageable = p || q
	return b, success
}

func (d *Driver) boxed(cur driver.CUcontext, stream driver.CUstream, async bool, dst, src *place, w, h,
	depth uint64) driver.CUresult {
	c, s, r := d.target(cur, stream, async)
	if r != success {
		return r
	}
	b, r := c.box(dst, src, w, h, depth)
	if r != success || b == nil {
		return s.spoil(r)
	}
	if s.capturing() {
		return s.captureWork(&copyWork{c, driver.CUDA_MEMCPY3D{
			SrcXInBytes: src.x, SrcY: src.y, SrcZ: src.z, SrcMemoryType: src.kind, SrcHost: src.host,
			SrcDevice: src.device, SrcArray: src.array, SrcPitch: src.pitch, SrcHeight: src.height,
			DstXInBytes: dst.x, DstY: dst.y, DstZ: dst.z, DstMemoryType: dst.kind, DstHost: dst.host,
			DstDevice: dst.device, DstArray: dst.array, DstPitch: dst.pitch, DstHeight: dst.height,
			WidthInBytes: w, Height: h, Depth: depth,
		}})
	}
	if d.memory.asleep(b.dst, b.src) {
		return invalidValue
	}
	o := &op{kind: opTask, task: b}
	if async && !b.pageable {
		s.offer(o, b.bytes() <= shortCopy)
		return success
	}
	r = s.perform(o)
	s.copied(b.dst, b.src, async)
	if !async {
		c.output.flush()
	}
	return r
}

func (d *Driver) copy2D(cur driver.CUcontext, p *driver.CUDA_MEMCPY2D, stream driver.CUstream,
	async bool) driver.CUresult {
	if p == nil {
		if _, r := d.enter(cur); r != success {
			return r
		}
		return invalidValue
	}
	dst := &place{kind: p.DstMemoryType, host: p.DstHost, device: p.DstDevice, array: p.DstArray, x: p.DstXInBytes,
		y: p.DstY, pitch: p.DstPitch}
	src := &place{kind: p.SrcMemoryType, host: p.SrcHost, device: p.SrcDevice, array: p.SrcArray, x: p.SrcXInBytes,
		y: p.SrcY, pitch: p.SrcPitch}
	return d.boxed(cur, stream, async, dst, src, p.WidthInBytes, p.Height, 1)
}

func (d *Driver) memcpy2D(cur driver.CUcontext, p *driver.CUDA_MEMCPY2D) driver.CUresult {
	return d.copy2D(cur, p, 0, false)
}

func (d *Driver) memcpy2DAsync(cur driver.CUcontext, p *driver.CUDA_MEMCPY2D, s driver.CUstream) driver.CUresult {
	return d.copy2D(cur, p, s, true)
}

func (d *Driver) copy3D(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D, stream driver.CUstream,
	async bool) driver.CUresult {
	if p == nil {
		if _, r := d.enter(cur); r != success {
			return r
		}
		return invalidValue
	}
	dst := &place{p.DstMemoryType, p.DstHost, p.DstDevice, p.DstArray, p.DstXInBytes, p.DstY, p.DstZ, p.DstPitch,
		p.DstHeight}
	src := &place{p.SrcMemoryType, p.SrcHost, p.SrcDevice, p.SrcArray, p.SrcXInBytes, p.SrcY, p.SrcZ, p.SrcPitch,
		p.SrcHeight}
	return d.boxed(cur, stream, async, dst, src, p.WidthInBytes, p.Height, p.Depth)
}

func (d *Driver) memcpy3D(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D) driver.CUresult {
	return d.copy3D(cur, p, 0, false)
}

func (d *Driver) memcpy3DAsync(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D, s driver.CUstream) driver.CUresult {
	return d.copy3D(cur, p, s, true)
}

func (d *Driver) copy3DPeer(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D_PEER, stream driver.CUstream,
	async bool) driver.CUresult {
	if _, r := d.enter(cur); r != success {
		return r
	}
	if p == nil {
		return invalidValue
	}
	for _, side := range []struct {
		kind driver.CUmemorytype
		ctx  driver.CUcontext
	}{{p.SrcMemoryType, p.SrcContext}, {p.DstMemoryType, p.DstContext}} {
		if side.kind == driver.CU_MEMORYTYPE_HOST {
			continue
		}
		if r := d.peerContexts(side.ctx); r != success {
			return r
		}
	}
	dst := &place{p.DstMemoryType, p.DstHost, p.DstDevice, p.DstArray, p.DstXInBytes, p.DstY, p.DstZ, p.DstPitch,
		p.DstHeight}
	src := &place{p.SrcMemoryType, p.SrcHost, p.SrcDevice, p.SrcArray, p.SrcXInBytes, p.SrcY, p.SrcZ, p.SrcPitch,
		p.SrcHeight}
	return d.boxed(cur, stream, async, dst, src, p.WidthInBytes, p.Height, p.Depth)
}

func (d *Driver) memcpy3DPeer(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D_PEER) driver.CUresult {
	return d.copy3DPeer(cur, p, 0, false)
}

func (d *Driver) memcpy3DPeerAsync(cur driver.CUcontext, p *driver.CUDA_MEMCPY3D_PEER,
	s driver.CUstream) driver.CUresult {
	return d.copy3DPeer(cur, p, s, true)
}
