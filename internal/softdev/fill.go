package softdev

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// boxFill is a fill of rows.
type boxFill struct {
	dst   unsafe.Pointer
	pitch uint64
	width uint8
	value uint32
	n     uint64 // elements of a row
	rows  uint64
}

func (b *boxFill) execute(s *stream, skip bool) {
	if skip {
		return
	}
	for y := range b.rows {
		if y%1024 == 0 && s.ctx.ended() { // rows may be many and short
			return
		}
		fill(unsafe.Add(b.dst, y*b.pitch), b.width, b.value, b.n)
		s.ctx.d.uninit.filled(unsafe.Add(b.dst, y*b.pitch), b.n*uint64(b.width))
	}
}

// memset is the common part of the fills. A fill is asynchronous in every form, except that a synchronous form is in
// order with the legacy stream.
func (d *Driver) memset(cur driver.CUcontext, dst driver.CUdeviceptr, width uint8, value uint32, n uint64,
	stream driver.CUstream, async bool) driver.CUresult {
	c, s, r := d.target(cur, stream, async)
	if r != success {
		return r
	}
	size := n * uint64(width) // wraps, as the driver's does (recorded: 2^62 words are none)
	if size == 0 {
		return success // wherever (recorded)
	}
	if uint64(dst)%uint64(width) != 0 {
		return s.spoil(invalidValue)
	}
	p, ok := d.memory.device(dst, size)
	if !ok {
		d.memory.badCall(uint64(dst), size)
	}
	if !ok || !d.memory.writable(p) || !s.ctx.fills(dst) {
		return s.spoil(invalidValue)
	}
	if s.capturing() {
		return s.captureWork(&fillWork{c, driver.CUDA_MEMSET_NODE_PARAMS{Dst: dst, Value: value,
			ElementSize: uint32(width), Width: size / uint64(width), Height: 1}})
	}
	if d.memory.asleep(p, nil) {
		return invalidValue
	}
	s.offer(&op{kind: opFill, width: width, value: value, dst: p, n: size / uint64(width)}, size <= shortCopy)
	if !async {
		s.filled(p)
	}
	return success
}

func (d *Driver) memset2D(cur driver.CUcontext, dst driver.CUdeviceptr, pitch uint64, width uint8, value uint32, n,
	rows uint64, stream driver.CUstream, async bool) driver.CUresult {
	c, s, r := d.target(cur, stream, async)
	if r != success {
		return r
	}
	w := uint64(width)
	over, row := bits.Mul64(n, w)
	if uint64(dst)%w != 0 || pitch%w != 0 || over != 0 {
		return s.spoil(invalidValue)
	}
	if n == 0 || rows == 0 {
		return success
	}
	if rows > 1 && pitch < row {
		return s.spoil(invalidValue)
	}
	over, span := bits.Mul64(pitch, rows-1)
	if over != 0 || span+row < span {
		return s.spoil(invalidValue)
	}
	p, ok := d.memory.device(dst, span+row)
	if !ok {
		d.memory.badCall(uint64(dst), span+row)
	}
	if !ok || !d.memory.writable(p) || !s.ctx.fills(dst) {
		return s.spoil(invalidValue)
	}
	if s.capturing() {
		return s.captureWork(&fillWork{c, driver.CUDA_MEMSET_NODE_PARAMS{Dst: dst, Pitch: pitch, Value: value,
			ElementSize: uint32(width), Width: n, Height: rows}})
	}
	if d.memory.asleep(p, nil) {
		return invalidValue
	}
	s.offer(&op{kind: opTask, task: &boxFill{p, pitch, width, value, n, rows}}, row*rows <= shortCopy)
	if !async {
		s.filled(p)
	}
	return success
}
