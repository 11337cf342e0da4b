package cu

import (
	"github.com/gocuda/cuda/internal/driver"
)

// API is the driver API of one device, with or without a context bound to it. It is small and meant to be copied. The
// zero value has no device: every call fails with CUDA_ERROR_NOT_INITIALIZED.
type API struct {
	table *driver.Table
	cur   driver.CUcontext
}

// New returns the API of a device. The table is an internal type: programs get an API from [Default] or from package
// cuda.
func New(t *driver.Table) *API { return &API{table: t} }

// In binds a context: every call through the result runs with ctx current and leaves the current context of the OS
// thread as it was. Zero unbinds.
func (a API) In(ctx CUcontext) API {
	a.cur = driver.CUcontext(ctx)
	return a
}

// Context is the context bound with [API.In], zero for none.
func (a API) Context() CUcontext { return CUcontext(a.cur) }

// Table returns the functions of the device, for the packages of this module.
func (a API) Table() *driver.Table { return a.table }

// PerThread returns the API with per-thread default stream: stream 0 is CU_STREAM_PER_THREAD, as in C programs compiled
// with CUDA_API_PER_THREAD_DEFAULT_STREAM. Only the functions that such a variant changes differ; ok is false when the
// device has no variants.
func (a API) PerThread() (p API, ok bool) {
	if a.table == nil || a.table.PerThread == nil {
		return API{}, false
	}
	t := *a.table
	t.OverlayPerThread(a.table.PerThread)
	return API{table: &t, cur: a.cur}, true
}

// HostFunc makes the members Fn and UserData of a struct such as [CUDA_HOST_NODE_PARAMS] out of a Go function. The
// function may run any number of times until release is called, which must wait until no graph that holds it can run.
func (a API) HostFunc(run func()) (fn, userData uintptr, release func(), err error) {
	pair := a.fn().HostFunc
	if pair == nil {
		return 0, 0, func() {}, a.missing("CUhostFn from a Go function")
	}
	fn, userData, release = pair(run)
	return fn, userData, release, nil
}

// none stands for the device of a zero API.
var none driver.Table

func (a API) fn() *driver.Table {
	if a.table == nil {
		return &none
	}
	return a.table
}

// result is the error of a call.
func (a API) result(symbol string, r CUresult) error {
	switch r {
	case CUDA_SUCCESS:
		return nil
	case CUDA_ERROR_NOT_SUPPORTED:
		return a.notSupported(symbol)
	}
	return r
}

// notSupported is CUDA_ERROR_NOT_SUPPORTED, or for a function that is newer than the driver the version that it needs.
func (a API) notSupported(symbol string) error {
	s, _ := driver.Lookup(symbol)
	if ask := a.fn().DriverGetVersion; ask != nil {
		var out struct{ v int32 }
		if ask(0, &out.v) == driver.CUDA_SUCCESS && int(out.v) < s.Since {
			return &MissingError{Symbol: symbol, Since: s.Since, Have: int(out.v)}
		}
	}
	return CUDA_ERROR_NOT_SUPPORTED
}

func (a API) missing(symbol string) error {
	s, _ := driver.Lookup(symbol)
	return &MissingError{Symbol: symbol, Since: s.Since, NoAPI: a.table == nil}
}
