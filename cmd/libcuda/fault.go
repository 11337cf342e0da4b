//go:build linux && cgo

package main

/*
#include <stdint.h>

// The access comes again in C, where a fault is the program's: it gets the signal that it would have got from a driver in C, with the address.
static inline void gocuda_fault_again(uintptr_t p) { __atomic_fetch_or((volatile unsigned char *)p, 0, __ATOMIC_RELAXED); }
*/
import "C"

import (
	"fmt"
	"os"
	"runtime/debug"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// faulted is deferred by a call, which runs with debug.SetPanicOnFault; before is what that was. A call that has been
// given a pointer to no memory ends as with a driver in C, by SIGSEGV, after a line that says which call it was.
func faulted(fn uint32, before bool) {
	r := recover()
	debug.SetPanicOnFault(before)
	if r == nil {
		return
	}
	addr, ok := mem.Faulted(r)
	if !ok {
		panic(defect.Of(r))
	}
	what := name(fn)
	if fn&runtimeAPI != 0 {
		what = runtimeName(fn & functionMask)
	}
	fmt.Fprintf(os.Stderr, "libcuda.so.1: %s was given a pointer to %#x, where the program has no memory, or none that can be written\n", what, addr)
	if core.trace {
		debug.PrintStack()
	}
	C.gocuda_fault_again(C.uintptr_t(addr))
	panic(r) // the memory has come meanwhile
}

// caught is deferred where C comes in: what panics here, outside the table and its boundary, is a defect that the
// program gets as a result.
func caught(result *C.uint32_t) {
	if r := recover(); r != nil {
		fmt.Fprintln(os.Stderr, "libcuda.so.1:", defect.Of(r))
		*result = C.uint32_t(driver.CUDA_ERROR_UNKNOWN)
	}
}
