//go:build linux && cgo

package main

/*
#cgo CFLAGS: -DGOCUDA_CORE -I${SRCDIR}/front
#include "front.h"
#include "zz_generated_numbers.h"
*/
import "C"

import "github.com/gocuda/cuda/internal/driver"

// standsBefore and standsAfter answer GOCUDA_ASK: whether the call, if it succeeds, would succeed again and change nothing until another call that may change
// something. For a launch that is decided before it; it must not be waited for.
func standsBefore(fn uint32, f *frame) uint64 {
	if fn != C.FN_cuLaunchKernel {
		return C.GOCUDA_NOT_NOW
	}
	// Of what is in extra the front knows nothing.
	n, inert := core.device.Inert(f.cur, driver.CUfunction(f.a[0]))
	switch {
	case !inert || f.a[10] != 0:
		return C.GOCUDA_NEVER
	case !core.device.Settled():
		return C.GOCUDA_NOT_NOW
	}
	return C.GOCUDA_STANDS | uint64(n)<<C.GOCUDA_STANDS_SHIFT
}

func standsAfter(fn uint32, f *frame) uint64 {
	switch fn {
	case C.FN_cuLaunchKernel:
		return f.stands
	case C.FN_cuEventQuery, C.FN_cuEventSynchronize:
		if !core.device.Private(driver.CUevent(f.a[0])) {
			return C.GOCUDA_NEVER
		}
	}
	if !core.device.Settled() {
		return C.GOCUDA_NOT_NOW
	}
	return C.GOCUDA_STANDS
}
