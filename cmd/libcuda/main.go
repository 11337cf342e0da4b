//go:build linux && cgo

package main

/*
#cgo CFLAGS: -DGOCUDA_CORE -I${SRCDIR}/front
#include "front.h"
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"
	"unsafe"

	"github.com/gocuda/cuda/internal/cudart"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

// main is for the linker, which wants one in a library too.
func main() {
	fmt.Fprintln(os.Stderr, "libcuda: this is the core of a library, built with: make libcuda")
	os.Exit(2)
}

// frame is struct gocuda_frame of front.h.
type frame struct {
	cur    driver.CUcontext
	a      [16]uint64
	stands uint64
}

// pointer is an argument that is an address of the caller's memory.
func (f *frame) pointer(i int) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&f.a[i])) }

// What is above the number of a function; front.h says what each means.
const (
	functionMask = 0xffff
	perThread    = C.GOCUDA_PER_THREAD
	stack        = C.GOCUDA_STACK
	newThread    = C.GOCUDA_NEW_THREAD
	ask          = C.GOCUDA_ASK
	runtimeAPI   = C.GOCUDA_RUNTIME
)

// core is the one device of the process: C programs have no handle of the driver that could lead to another.
var core struct {
	device    *softdev.Driver // nil where the table is the NVIDIA driver's
	table     *driver.Table
	perThread *driver.Table
	trace     bool
	exit      int // of a program in which checks have found errors, 0 for its own
	runtime   *cudart.Views
	modules   []*cudart.Module // by the number that cudart.c has as a handle; 0 is none
}

// gocuda_start makes the device when a call of the program first needs one; its result is that of cuInit when there is
// none.
//
//export gocuda_start
func gocuda_start(front *C.struct_gocuda_front) (result C.uint32_t) {
	defer caught(&result)
	return C.uint32_t(start(front))
}

// gocuda_end is called when the program ends, if there are checks. What is above zero is the exit code that the
// environment asks for.
//
//export gocuda_end
func gocuda_end() C.int {
	if core.device != nil && core.device.EndChecks() {
		return C.int(core.exit)
	}
	return 0
}

// gocuda_call runs a function of the table.
//
//export gocuda_call
func gocuda_call(fn C.uint32_t, f *C.struct_gocuda_frame) (result C.uint32_t) {
	defer caught(&result)
	defer faulted(uint32(fn), debug.SetPanicOnFault(true))
	if fn&newThread != 0 && core.device != nil {
		core.device.StartThread()
	}
	if fn&runtimeAPI != 0 {
		return C.uint32_t(runtimeCall(uint32(fn), (*frame)(unsafe.Pointer(f))))
	}
	t := core.table
	if fn&perThread != 0 {
		t = core.perThread
	}
	g := (*frame)(unsafe.Pointer(f))
	r := calls[fn&functionMask](t, g)
	if fn&stack != 0 {
		g.cur = 0
		core.table.CtxGetCurrent(0, &g.cur)
	}
	if fn&ask != 0 && r == driver.CUDA_SUCCESS {
		g.stands = 0
		if stands(uint32(fn&functionMask), g) {
			g.stands = 1
		}
	}
	if core.trace && r != driver.CUDA_SUCCESS {
		trace(uint32(fn), g.cur, r)
	}
	return C.uint32_t(r)
}
