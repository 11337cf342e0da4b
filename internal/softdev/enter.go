package softdev

import "github.com/gocuda/cuda/internal/driver"

// Shorter names for the results that nearly every entry point gives.
const (
	success      = driver.CUDA_SUCCESS
	invalidValue = driver.CUDA_ERROR_INVALID_VALUE
	invalidCtx   = driver.CUDA_ERROR_INVALID_CONTEXT
	badHandle    = driver.CUDA_ERROR_INVALID_HANDLE
	notSupported = driver.CUDA_ERROR_NOT_SUPPORTED
)

// ready is the check of calls that need no context: cuInit was called, the driver is open, and the caller is not a host function.
func (d *Driver) ready() driver.CUresult {
	if d.state.Load() != driverReady {
		return d.notReady()
	}
	if d.callbacks.Load() != 0 && d.inCallback() {
		return driver.CUDA_ERROR_NOT_PERMITTED
	}
	return success
}

func (d *Driver) notReady() driver.CUresult {
	if d.state.Load() == driverClosed {
		return driver.CUDA_ERROR_DEINITIALIZED
	}
	return driver.CUDA_ERROR_NOT_INITIALIZED
}

// current is the handle of the context that a call runs in: cur, or the calling thread's.
func (d *Driver) current(cur driver.CUcontext) driver.CUcontext {
	if cur != 0 {
		return cur
	}
	return d.threads.self().current()
}

// enter is the check of calls that need a context: besides those of ready there is a live current context in which nothing has faulted. After
// a fault the result is that of the fault, and the context comes with it.
func (d *Driver) enter(cur driver.CUcontext) (*context, driver.CUresult) {
	c, r := d.attach(cur)
	if r != success {
		return nil, r
	}
	if e := c.sticky.Load(); e != 0 {
		return c, driver.CUresult(e)
	}
	return c, success
}

// attach is enter for calls that work in a context after a fault too.
func (d *Driver) attach(cur driver.CUcontext) (*context, driver.CUresult) {
	if d.state.Load() != driverReady {
		return nil, d.notReady()
	}
	if d.callbacks.Load() != 0 && d.inCallback() {
		return nil, driver.CUDA_ERROR_NOT_PERMITTED
	}
	if cur == 0 {
		if cur = d.threads.self().current(); cur == 0 {
			return nil, invalidCtx
		}
	}
	return d.contextOf(cur)
}

// contextOf resolves a context handle.
func (d *Driver) contextOf(h driver.CUcontext) (*context, driver.CUresult) {
	c := d.contexts.get(uintptr(h))
	switch {
	case c == nil && d.contexts.was(uintptr(h)):
		return nil, driver.CUDA_ERROR_CONTEXT_IS_DESTROYED
	case c == nil:
		return nil, invalidCtx
	case c.dead.Load():
		return nil, driver.CUDA_ERROR_CONTEXT_IS_DESTROYED
	}
	return c, success
}

// deviceOf resolves a device ordinal.
func (d *Driver) deviceOf(dev driver.CUdevice) (*device, driver.CUresult) {
	if dev < 0 || int(dev) >= len(d.devices) {
		return nil, driver.CUDA_ERROR_INVALID_DEVICE
	}
	return d.devices[dev], success
}
