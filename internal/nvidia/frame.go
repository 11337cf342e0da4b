//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import "github.com/gocuda/cuda/internal/driver"

// maxWords is the number of argument words: 16 for cuTensorMapEncodeIm2colWide, 6 registers and a struct of 8 words for
// cuEGLStreamProducerPresentFrame on amd64. frame_amd64.s and frame_arm64.s copy this many.
const maxWords = 16

// frame holds the arguments of one call. It is taken from a pool, since a list of arguments would be allocated at each
// call: what goes to C escapes. Its offsets are used in assembly, by way of go_asm.h.
type frame struct {
	fn     uintptr
	push   uintptr // cuCtxPushCurrent_v2
	pop    uintptr // cuCtxPopCurrent_v2
	cur    uintptr // context to push, 0 for none
	popped uintptr // where cuCtxPopCurrent_v2 leaves the context
	result uintptr // of fn, or of push when that failed
	x      [2]uint64
	a      [maxWords]uintptr
}

// frame takes one from the pool. The words that a call does not set keep old values, which nobody reads.
func (d *Driver) frame() *frame { return d.frames.Get().(*frame) }

// call runs a symbol with the first n words of f and gives f back.
func (d *Driver) call(sym int, cur driver.CUcontext, f *frame, n int) driver.CUresult {
	fn := d.fn[sym].Load()
	if fn < firstAddress {
		var r driver.CUresult
		if fn, r = d.resolve(sym); fn == 0 {
			d.frames.Put(f)
			return r
		}
	}
	var r uintptr
	if cur == 0 {
		r = d.plain(fn, f, n)
	} else {
		r = d.bound(fn, cur, f, n)
	}
	d.frames.Put(f)
	return driver.CUresult(r)
}

// bracketSymbols returns cuCtxPushCurrent_v2 and cuCtxPopCurrent_v2.
func (d *Driver) bracketSymbols() (push, pop uintptr, r driver.CUresult) {
	if push = d.fn[symCtxPushCurrent_v2].Load(); push < firstAddress {
		if push, r = d.resolve(symCtxPushCurrent_v2); push == 0 {
			return 0, 0, r
		}
	}
	if pop = d.fn[symCtxPopCurrent_v2].Load(); pop < firstAddress {
		if pop, r = d.resolve(symCtxPopCurrent_v2); pop == 0 {
			return 0, 0, r
		}
	}
	return push, pop, driver.CUDA_SUCCESS
}
