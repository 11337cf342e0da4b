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
	"unsafe"

	"github.com/gocuda/cuda/internal/cudart"
	"github.com/gocuda/cuda/internal/driver"
)

// runtimeCall runs a function of the runtime API, or what cudart.c needs beside those.
func runtimeCall(fn uint32, f *frame) cudart.Error {
	per := 0
	if fn&perThread != 0 {
		per = 1
	}
	r := core.runtime[f.a[14]][per]
	t := (*cudart.Thread)(f.pointer(15))
	t.Current = f.cur
	n := fn & functionMask
	var e cudart.Error
	if int(n) < len(runtimeCalls) {
		e = runtimeCalls[n](r, t, f)
	} else {
		e = register(r, t, n, f)
	}
	f.cur = t.Current
	if core.trace && e != cudart.Success && e != cudart.ErrorNotReady {
		traceRuntime(n, t.Current, e)
	}
	return e
}

// register does what compilers' code asks for before main.
func register(r *cudart.Runtime, t *cudart.Thread, n uint32, f *frame) cudart.Error {
	module := func() *cudart.Module { return core.modules[f.a[0]] }
	switch n {
	case C.GOCUDA_REGISTER_BINARY:
		// The front holds its lock: one call at a time.
		core.modules = append(core.modules, r.RegisterFatBinary(f.pointer(0)))
		f.a[0] = uint64(len(core.modules) - 1)
	case C.GOCUDA_REGISTER_FUNCTION:
		r.RegisterFunction(module(), uintptr(f.a[1]), driver.String((*byte)(f.pointer(2))))
	case C.GOCUDA_REGISTER_VAR:
		r.RegisterVar(module(), uintptr(f.a[1]), driver.String((*byte)(f.pointer(2))), f.a[3],
			(*uintptr)(f.pointer(4)))
	case C.GOCUDA_UNREGISTER_BINARY:
		m := module()
		core.modules[f.a[0]] = nil
		return r.UnregisterFatBinary(t, m)
	case C.GOCUDA_INIT_MODULE:
		return r.InitModule(t, module())
	case C.GOCUDA_PROPERTIES_LEGACY:
		return r.GetDevicePropertiesLegacy(t, uintptr(f.a[0]), int32(f.a[1]))
	default:
		return cudart.ErrorNotSupported
	}
	return cudart.Success
}

// runtimeName is what the documentation calls the function of a call.
func runtimeName(n uint32) string {
	if int(n) < len(runtimeNames) {
		return runtimeNames[n]
	}
	return "registration of a program's kernels"
}

func traceRuntime(n uint32, cur driver.CUcontext, e cudart.Error) {
	text := fmt.Sprintf("%s: error %d", runtimeName(n), e)
	if s, ok := driver.CUresult(e).Name(); ok {
		text += " (" + s + ")"
	}
	if core.device != nil {
		if detail := core.device.TakeDetail(cur); detail != "" {
			text += ": " + detail
		}
	}
	fmt.Fprintln(os.Stderr, text)
}

var _ = unsafe.Sizeof([1]struct{}{}[unsafe.Sizeof(cudart.Thread{})-C.sizeof_struct_gocuda_cudart_thread])
