//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)

package nvidia

import (
	"math"
	"runtime"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// The functions with floats and structs by value. The generator fails when the API gets another one.

func (d *Driver) paramSetf(sym int) func(driver.CUcontext, driver.CUfunction, int32, float32) driver.CUresult {
	return func(cur driver.CUcontext, hfunc driver.CUfunction, offset int32, value float32) driver.CUresult {
		f := d.frame()
		f.a[0], f.a[1] = uintptr(hfunc), uintptr(offset)
		f.setFloat(2, 0, math.Float32bits(value))
		return d.callFloats(sym, cur, f)
	}
}

func (d *Driver) texRefSetMipmapLevelBias(sym int) func(driver.CUcontext, driver.CUtexref, float32) driver.CUresult {
	return func(cur driver.CUcontext, hTexRef driver.CUtexref, bias float32) driver.CUresult {
		f := d.frame()
		f.a[0] = uintptr(hTexRef)
		f.setFloat(1, 0, math.Float32bits(bias))
		return d.callFloats(sym, cur, f)
	}
}

func (d *Driver) texRefSetMipmapLevelClamp(sym int) func(driver.CUcontext, driver.CUtexref, float32,
	float32) driver.CUresult {
	return func(cur driver.CUcontext, hTexRef driver.CUtexref, low, high float32) driver.CUresult {
		f := d.frame()
		f.a[0] = uintptr(hTexRef)
		f.setFloat(1, 0, math.Float32bits(low))
		f.setFloat(2, 1, math.Float32bits(high))
		return d.callFloats(sym, cur, f)
	}
}

const (
	// structWords is the size of every struct that is passed by value and does not fit in a register: 64 bytes.
	structWords = 8
	// registerWords is the number of integer argument registers where stackStructs is true.
	registerWords = 6
)

// A changed size does not compile.
var (
	_ [structWords * 8]byte = [unsafe.Sizeof(driver.CUipcMemHandle{})]byte{}
	_ [structWords * 8]byte = [unsafe.Sizeof(driver.CUipcEventHandle{})]byte{}
	_ [structWords * 8]byte = [unsafe.Sizeof(driver.CUeglFrame{})]byte{}
	_ [8]byte               = [unsafe.Sizeof(driver.CUmemLocation{})]byte{}
)

// callStruct runs a symbol whose second of two or three parameters is a struct of structWords by value. The first is
// before, the third is after (anything when there is none). The callee owns value, which must be a copy.
//
// On the stack the words of the struct come first, since the other parameters fit in registers; so the registers that
// are left over are filled up.
//
//go:uintptrescapes
func (d *Driver) callStruct(sym int, cur driver.CUcontext, before uintptr, value *[structWords]uint64,
	after uintptr) driver.CUresult {
	f := d.frame()
	f.a[0] = before
	if !stackStructs {
		f.a[1], f.a[2] = uintptr(unsafe.Pointer(value)), after
		r := d.call(sym, cur, f, 3)
		runtime.KeepAlive(value)
		return r
	}
	f.a[1] = after
	for i, w := range value {
		f.a[registerWords+i] = uintptr(w)
	}
	return d.call(sym, cur, f, registerWords+structWords)
}

// words copies a struct of 64 bytes.
func words[T any](v *T) *[structWords]uint64 {
	w := new([structWords]uint64)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(w)), structWords*8),
		unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v)))
	return w
}

func (d *Driver) ipcOpenEventHandle(sym int) func(driver.CUcontext, *driver.CUevent,
	driver.CUipcEventHandle) driver.CUresult {
	return func(cur driver.CUcontext, phEvent *driver.CUevent, handle driver.CUipcEventHandle) driver.CUresult {
		return d.callStruct(sym, cur, uintptr(unsafe.Pointer(phEvent)), words(&handle), 0)
	}
}

func (d *Driver) ipcOpenMemHandle(sym int) func(driver.CUcontext, *driver.CUdeviceptr, driver.CUipcMemHandle,
	uint32) driver.CUresult {
	return func(cur driver.CUcontext, pdptr *driver.CUdeviceptr, handle driver.CUipcMemHandle,
		flags uint32) driver.CUresult {
		return d.callStruct(sym, cur, uintptr(unsafe.Pointer(pdptr)), words(&handle), uintptr(flags))
	}
}

func (d *Driver) eglStreamProducerPresentFrame(sym int) func(driver.CUcontext, *driver.CUeglStreamConnection,
	driver.CUeglFrame, *driver.CUstream) driver.CUresult {
	return func(cur driver.CUcontext, conn *driver.CUeglStreamConnection, frame driver.CUeglFrame,
		pStream *driver.CUstream) driver.CUresult {
		return d.callStruct(sym, cur, uintptr(unsafe.Pointer(conn)), words(&frame), uintptr(unsafe.Pointer(pStream)))
	}
}

// locationWord is a CUmemLocation as the register holds it: type in the low half, id in the high one.
func locationWord(l driver.CUmemLocation) uintptr { return *(*uintptr)(unsafe.Pointer(&l)) }

func (d *Driver) memAdvise(sym int) func(driver.CUcontext, driver.CUdeviceptr, uint64, driver.CUmem_advise,
	driver.CUmemLocation) driver.CUresult {
	return func(cur driver.CUcontext, devPtr driver.CUdeviceptr, count uint64, advice driver.CUmem_advise,
		location driver.CUmemLocation) driver.CUresult {
		return d.call4(sym, cur, uintptr(devPtr), uintptr(count), uintptr(advice), locationWord(location))
	}
}

func (d *Driver) memPrefetchAsync(sym int) func(driver.CUcontext, driver.CUdeviceptr, uint64, driver.CUmemLocation,
	uint32, driver.CUstream) driver.CUresult {
	return func(cur driver.CUcontext, devPtr driver.CUdeviceptr, count uint64, location driver.CUmemLocation,
		flags uint32, hStream driver.CUstream) driver.CUresult {
		return d.call5(sym, cur, uintptr(devPtr), uintptr(count), locationWord(location), uintptr(flags),
			uintptr(hStream))
	}
}
