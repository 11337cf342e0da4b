//go:build linux && cgo

package main

/*
#cgo CFLAGS: -DGOCUDA_CORE -I${SRCDIR}/front
#include "front.h"
#include "zz_generated_numbers.h"
*/
import "C"

import "github.com/gocuda/cuda/internal/driver"

// stands answers GOCUDA_ASK: whether a call that has succeeded would succeed again and change nothing until another
// call that may change something.
func stands(fn uint32, f *frame) bool {
	event := fn == C.FN_cuEventQuery || fn == C.FN_cuEventSynchronize
	if event && !core.device.Private(driver.CUevent(f.a[0])) {
		return false
	}
	return core.device.Settled()
}
