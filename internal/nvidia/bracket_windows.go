//go:build !gocuda_nodriver && (amd64 || arm64)

package nvidia

import (
	"runtime"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/gocuda/cuda/internal/driver"
)

// plain runs fn with the thread's own context.
func (d *Driver) plain(fn uintptr, f *frame, n int) uintptr {
	r, _, _ := purego.SyscallN(fn, f.a[:n]...)
	return r
}

// bound runs fn with cur pushed: three calls on one thread.
func (d *Driver) bound(fn uintptr, cur driver.CUcontext, f *frame, n int) uintptr {
	push, pop, r := d.bracketSymbols()
	if r != driver.CUDA_SUCCESS {
		return uintptr(r)
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if r, _, _ := purego.SyscallN(push, uintptr(cur)); driver.CUresult(r) != driver.CUDA_SUCCESS {
		return r
	}
	result, _, _ := purego.SyscallN(fn, f.a[:n]...)
	_, _, _ = purego.SyscallN(pop, uintptr(unsafe.Pointer(&f.popped)))
	return result
}

// callFloats runs a symbol with float arguments. On amd64 the position of an argument chooses its register, and
// syscall.SyscallN loads the first four words in the integer and the float registers alike, so nothing more is needed.
// On arm64 the first float is in the first float register whatever its position; there is no way to load it.
func (d *Driver) callFloats(sym int, cur driver.CUcontext, f *frame) driver.CUresult {
	if runtime.GOARCH == "arm64" {
		d.frames.Put(f)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.last = symbols[sym].name + ": float arguments cannot be passed on windows/arm64"
		return driver.CUDA_ERROR_NOT_SUPPORTED
	}
	return d.call(sym, cur, f, 4)
}

// setFloat stores the argument at position i, float number k, in a frame for callFloats.
func (f *frame) setFloat(i, _ int, bits uint32) { f.a[i] = uintptr(bits) }
