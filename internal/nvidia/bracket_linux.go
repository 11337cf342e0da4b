//go:build !gocuda_nodriver && (amd64 || arm64)

package nvidia

import (
	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
)

// bracketABI0 is the address of gocuda_nvidia_bracket, set by the assembler. It is a C function: int bracket(frame *). It pushes the
// context if there is one, loads the words and the floats of the frame as the C calling convention wants them, calls, and pops.
// It runs on the system stack that purego.SyscallN switches to, as all C code does.
var bracketABI0 uintptr

// bound runs fn with cur pushed.
func (d *Driver) bound(fn uintptr, cur driver.CUcontext, f *frame, _ int) uintptr {
	push, pop, r := d.bracketSymbols()
	if r != driver.CUDA_SUCCESS {
		return uintptr(r)
	}
	f.fn, f.push, f.pop, f.cur = fn, push, pop, uintptr(cur)
	_, _, _ = purego.SyscallN(bracketABI0, f.self[:]...)
	return f.result
}

// callFloats runs a symbol whose float arguments are f.x, in their order, and whose other arguments are in f.a. purego.SyscallN cannot: it
// loads the same words in the integer and in the float registers.
func (d *Driver) callFloats(sym int, cur driver.CUcontext, f *frame) driver.CUresult {
	defer d.frames.Put(f)
	fn := d.fn[sym].Load()
	if fn < firstAddress {
		var r driver.CUresult
		if fn, r = d.resolve(sym); fn == 0 {
			return r
		}
	}
	if cur != 0 {
		return driver.CUresult(d.bound(fn, cur, f, maxWords))
	}
	f.fn, f.cur = fn, 0
	_, _, _ = purego.SyscallN(bracketABI0, f.self[:]...)
	return driver.CUresult(f.result)
}

// setFloat stores the argument at position i, float number k, in a frame for callFloats.
func (f *frame) setFloat(_, k int, bits uint32) { f.x[k] = uint64(bits) }
