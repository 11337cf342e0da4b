package cu

import (
	"fmt"

	"github.com/gocuda/cuda/internal/driver"
)

// Result is the result code of a call.
type Result = CUresult

// Error is the name and the text of a result, for example "CUDA_ERROR_NOT_FOUND: named symbol not found". Both come
// from a table, not from the device, so they are there without one.
func (r CUresult) Error() string {
	text, ok := driver.CUresult(r).Text()
	if !ok {
		return r.String() + ": unrecognized error code"
	}
	return r.String() + ": " + text
}

// String is the name of the code, as [CUresult.Name], or CUresult(n) for a number that the API does not have.
func (r CUresult) String() string { return driver.CUresult(r).String() }

// Name is the name of the code, for example "CUDA_ERROR_NOT_FOUND", as cuGetErrorName gives it; empty for a number that
// the API does not have.
func (r CUresult) Name() string {
	name, _ := driver.CUresult(r).Name()
	return name
}

// Err is nil for CUDA_SUCCESS and the code itself otherwise. A CUresult must become an error only this way: a
// CUDA_SUCCESS in an error would not be nil.
func (r CUresult) Err() error {
	if r == CUDA_SUCCESS {
		return nil
	}
	return r
}

// ArgumentError is an argument that has no C form, found before the call. It unwraps to CUDA_ERROR_INVALID_VALUE.
type ArgumentError struct {
	Func   string // C name of the function
	Param  string // C name of the parameter
	Reason string
}

func (e *ArgumentError) Error() string {
	return fmt.Sprintf("%s: %s %s", e.Func, e.Param, e.Reason)
}

// Unwrap returns CUDA_ERROR_INVALID_VALUE.
func (e *ArgumentError) Unwrap() error { return CUDA_ERROR_INVALID_VALUE }

// ImageError is an image that ends before what its header declares, found before the call. It unwraps to
// CUDA_ERROR_INVALID_IMAGE.
type ImageError struct {
	Func   string // C name of the function
	Param  string // C name of the parameter
	Reason string
}

func (e *ImageError) Error() string { return fmt.Sprintf("%s: %s: %s", e.Func, e.Param, e.Reason) }

// Unwrap returns CUDA_ERROR_INVALID_IMAGE.
func (e *ImageError) Unwrap() error { return CUDA_ERROR_INVALID_IMAGE }

// MissingError is a function that the device does not provide, as a rule because its driver is older. It unwraps to
// CUDA_ERROR_NOT_SUPPORTED, or to CUDA_ERROR_NOT_INITIALIZED when there is no device at all.
type MissingError struct {
	Symbol string // C name
	Since  int    // first CUDA version that has it, 1000*major + 10*minor; 0 when unknown
	Have   int    // CUDA version of the driver, counted as Since; 0 when not asked for
	NoAPI  bool   // the call went through a zero API
}

func (e *MissingError) Error() string {
	switch {
	case e.NoAPI:
		return e.Symbol + ": no device is open"
	case e.Have > 0:
		return fmt.Sprintf("%s needs a driver for CUDA %s or newer; this one is of %s", e.Symbol,
			versionText(e.Since), versionText(e.Have))
	case e.Since > 0:
		return fmt.Sprintf("%s: the device does not provide it (CUDA %s has it)", e.Symbol, versionText(e.Since))
	}
	return e.Symbol + ": the device does not provide it"
}

// versionText is a CUDA version as people write it.
func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// Unwrap returns the result code that stands for the error.
func (e *MissingError) Unwrap() error {
	if e.NoAPI {
		return CUDA_ERROR_NOT_INITIALIZED
	}
	return CUDA_ERROR_NOT_SUPPORTED
}

// DeviceError says why [Default] has no device.
type DeviceError struct {
	Choice string // value of GOCUDA_DEVICE, "auto" when unset
	Err    error
}

func (e *DeviceError) Error() string {
	return fmt.Sprintf("no CUDA device (GOCUDA_DEVICE=%s): %v", e.Choice, e.Err)
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }
