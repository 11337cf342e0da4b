//go:build !gocuda_nodriver && (amd64 || arm64)

package nvidia

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// bracketABI0 is the address of gocuda_nvidia_bracket, set by the assembler. It is a C function: int bracket(frame *).
// It pushes the context if there is one, loads the words and the floats of the frame as the C calling convention wants
// them, calls, and pops. It runs on the system stack that cgocall switches to, as all C code does.
var bracketABI0 uintptr

// cgocall calls a C function with one argument on the system stack and tells the scheduler, as every call of C does.
// The runtime keeps its name and signature for purego, which calls it in the same way and sets up what it needs in
// programs without cgo; purego.SyscallN in between would copy the arguments three times, which costs as much again as
// the call.
//
//go:linkname cgocall runtime.cgocall
func cgocall(fn uintptr, arg unsafe.Pointer) int32

// plain runs fn with the thread's own context.
func (d *Driver) plain(fn uintptr, f *frame, _ int) uintptr {
	f.fn, f.cur = fn, 0
	_ = cgocall(bracketABI0, unsafe.Pointer(f))
	return f.result
}

// bound runs fn with cur pushed.
func (d *Driver) bound(fn uintptr, cur driver.CUcontext, f *frame, _ int) uintptr {
	push, pop, r := d.bracketSymbols()
	if r != driver.CUDA_SUCCESS {
		return uintptr(r)
	}
	f.fn, f.push, f.pop, f.cur = fn, push, pop, uintptr(cur)
	_ = cgocall(bracketABI0, unsafe.Pointer(f))
	return f.result
}

// callFloats runs a symbol whose float arguments are f.x, in their order, and whose other arguments are in f.a. only
// the bracket loads floats.
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
	return driver.CUresult(d.plain(fn, f, maxWords))
}

// setFloat stores the argument at position i, float number k, in a frame for callFloats.
func (f *frame) setFloat(_, k int, bits uint32) { f.x[k] = uint64(bits) }
