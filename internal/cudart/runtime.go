package cudart

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Options say how a runtime uses its table.
type Options struct {
	// Native says that the table keeps the current context of each OS thread itself, and has the calls made on it, as
	// a driver in C does. Else the caller keeps it in Thread.Current.
	Native bool
}

// Runtime is the runtime API of one version over one device, with the default stream of one kind. Its methods may be
// called from several threads.
type Runtime struct {
	table *driver.Table
	*shared
	v12       bool // records have the layout of CUDA 12
	perThread bool
}

// shared is what the views of a runtime have in common.
type shared struct {
	native bool
	plain  *driver.Table // with the legacy default stream

	initOnce sync.Once
	initDone atomic.Bool
	initErr  Error

	resets atomic.Uint32 // counts the ends of primary contexts

	mu      sync.Mutex
	primary map[int32]driver.CUcontext // of devices whose primary context the runtime holds
	flags   map[int32]uint32           // of cudaSetDeviceFlags, for devices without a context
	valid   []int32                    // of cudaSetValidDevices

	registry registry
}

// Thread is what the runtime keeps for an OS thread. The zero value is a new thread. The C front has the same layout.
type Thread struct {
	Current driver.CUcontext // the current context, a copy of the table's; unused where that is native
	Last    Error            // what cudaGetLastError gives
	Device  int32            // of cudaSetDevice
	resets  uint32           // shared.resets when the current context was last seen to be alive
	_       uint32
}

// Views are the four faces of a runtime: by version (12, 13) and by kind of default stream (legacy, per thread).
type Views [2][2]*Runtime

// New makes a runtime over a table. Nothing of the table is called yet.
func New(table *driver.Table, o Options) *Views {
	s := &shared{native: o.Native, plain: table, primary: map[int32]driver.CUcontext{}, flags: map[int32]uint32{}}
	per := merge(table)
	v := new(Views)
	for version := range v {
		v[version][0] = &Runtime{table: table, shared: s, v12: version == 0}
		v[version][1] = &Runtime{table: per, shared: s, v12: version == 0, perThread: true}
	}
	return v
}

// merge is the table of the functions with per-thread default stream, filled with the others.
func merge(t *driver.Table) *driver.Table {
	per := *t
	if t.PerThread == nil {
		return &per
	}
	from, to := reflect.ValueOf(t.PerThread).Elem(), reflect.ValueOf(&per).Elem()
	for i := range from.NumField() {
		if f := from.Field(i); f.Kind() == reflect.Func && !f.IsNil() {
			to.Field(i).Set(f)
		}
	}
	return &per
}

// pointer is an address of the caller's memory.
func pointer(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// fail keeps an error for cudaGetLastError.
func (t *Thread) fail(e Error) Error {
	t.Last = e
	return e
}

// done turns a result of the driver into an error: the numbers are the same.
func (r *Runtime) done(t *Thread, result driver.CUresult) Error {
	switch result {
	case driver.CUDA_SUCCESS:
		return Success
	case driver.CUDA_ERROR_NOT_READY: // no failure (recorded)
		return ErrorNotReady
	}
	return t.fail(Error(result))
}

// begin makes sure that the driver is initialised and returns the context for a call that needs none.
func (r *Runtime) begin(t *Thread) (driver.CUcontext, Error) {
	if !r.initDone.Load() {
		if e := r.initialise(); e != Success {
			return 0, e
		}
	}
	if r.native {
		return 0, Success
	}
	return t.Current, Success
}

func (r *Runtime) initialise() Error {
	r.initOnce.Do(func() {
		r.initErr = Error(r.plain.Init(0, 0))
		r.initDone.Store(r.initErr == Success)
	})
	return r.initErr
}

// enter makes sure that the thread has a current context, its device's primary one if no other, and returns the context
// for a call of the table.
func (r *Runtime) enter(t *Thread) (driver.CUcontext, Error) {
	cur, e := r.begin(t)
	if e != Success {
		return 0, e
	}
	if r.native {
		if cur, e = r.asked(); e != Success {
			return 0, e
		}
	}
	if cur != 0 && t.resets == r.resets.Load() {
		if r.native {
			return 0, Success
		}
		return cur, Success
	}
	if cur, e = r.bind(t, cur); e != Success || r.native {
		return 0, e
	}
	return cur, Success
}

// asked is the thread's current context as the table has it.
func (r *Runtime) asked() (driver.CUcontext, Error) {
	var cur driver.CUcontext
	result := r.plain.CtxGetCurrent(0, &cur)
	return cur, Error(result)
}

// bind makes the primary context of the thread's device current if none is, and makes it alive again after a reset.
func (r *Runtime) bind(t *Thread, cur driver.CUcontext) (driver.CUcontext, Error) {
	resets := r.resets.Load()
	device := t.Device
	if cur != 0 {
		own := false
		r.mu.Lock()
		for _, c := range r.primary {
			own = own || c == cur
		}
		r.mu.Unlock()
		var d driver.CUdevice
		if own {
			t.resets = resets
			return cur, Success
		}
		// A context of the program's, or one that has been reset.
		if r.plain.CtxGetDevice(r.current(cur), &d) == driver.CUDA_SUCCESS {
			t.resets = resets
			return cur, Success
		}
	}
	ctx, e := r.retain(device)
	if e != Success {
		return 0, e
	}
	if result := r.plain.CtxSetCurrent(0, ctx); result != driver.CUDA_SUCCESS {
		return 0, Error(result)
	}
	t.Current, t.resets = ctx, resets
	return ctx, Success
}

// current is a context as the table wants it.
func (r *Runtime) current(c driver.CUcontext) driver.CUcontext {
	if r.native {
		return 0
	}
	return c
}

// retain is the primary context of a device, which the runtime then holds.
func (r *Runtime) retain(device int32) (driver.CUcontext, Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.primary[device]; c != 0 {
		return c, Success
	}
	if flags, ok := r.flags[device]; ok {
		if result := r.plain.DevicePrimaryCtxSetFlags_v2(0, driver.CUdevice(device),
			flags); result != driver.CUDA_SUCCESS {
			return 0, Error(result)
		}
	}
	var c driver.CUcontext
	switch result := r.plain.DevicePrimaryCtxRetain(0, &c, driver.CUdevice(device)); {
	case result >= driver.CUDA_ERROR_ILLEGAL_ADDRESS && result <= driver.CUDA_ERROR_LAUNCH_FAILED:
		return 0, ErrorDevicesUnavailable // a kernel has broken the device before a reset (recorded)
	case result != driver.CUDA_SUCCESS:
		return 0, Error(result)
	}
	r.primary[device] = c
	return c, Success
}

// healthy is the error that a context keeps since something in it has failed for good.
func (r *Runtime) healthy(cur driver.CUcontext) driver.CUresult {
	var free, total uint64
	return r.table.MemGetInfo_v2(cur, &free, &total)
}

// context is the handle of the context that a call is made in, for functions that take one.
func (r *Runtime) context(cur driver.CUcontext) driver.CUcontext {
	if r.native {
		cur, _ = r.asked()
	}
	return cur
}

// device is the device of the context that a call is made in.
func (r *Runtime) device(cur driver.CUcontext) (driver.CUdevice, Error) {
	var d driver.CUdevice
	result := r.plain.CtxGetDevice(cur, &d)
	return d, Error(result)
}

// GetLastError is cudaGetLastError.
func (r *Runtime) GetLastError(t *Thread) Error {
	e := t.Last
	t.Last = Success
	return e
}

// PeekAtLastError is cudaPeekAtLastError.
func (r *Runtime) PeekAtLastError(t *Thread) Error { return t.Last }
