package softdev

import "github.com/gocuda/cuda/internal/driver"

// Shorter names for the results that nearly every entry point gives.
const (
	success      = driver.CUDA_SUCCESS
	invalidValue = driver.CUDA_ERROR_INVALID_VALUE
	invalidCtx   = driver.CUDA_ERROR_INVALID_CONTEXT
	badHandle    = driver.CUDA_ERROR_INVALID_HANDLE
	destroyed    = driver.CUDA_ERROR_CONTEXT_IS_DESTROYED
	notSupported = driver.CUDA_ERROR_NOT_SUPPORTED
)

// The order in which a call looks at its arguments was recorded for every function (testdata/null_arguments.json).
// There are three ways to begin: some look at a pointer or handle before anything else, even before cuInit; some need
// cuInit but no context, since their handle knows its context; the rest need a current context first.

// ready is the check of calls that need no context: cuInit was called, the driver is open, and the caller is not a host
// function.
func (d *Driver) ready() driver.CUresult {
	if d.state.Load() != driverReady {
		if r := d.notReady(); r != success {
			return r
		}
	}
	if d.callbacks.Load() != 0 && d.inCallback() {
		return driver.CUDA_ERROR_NOT_PERMITTED
	}
	return success
}

// notReady waits while calls are held back (cuCheckpointProcessLock).
func (d *Driver) notReady() driver.CUresult {
	for {
		switch d.state.Load() {
		case driverReady:
			return success
		case driverClosed:
			return driver.CUDA_ERROR_DEINITIALIZED
		case driverNew:
			return driver.CUDA_ERROR_NOT_INITIALIZED
		}
		if d.callbacks.Load() != 0 && d.inCallback() {
			return driver.CUDA_ERROR_NOT_PERMITTED
		}
		d.locked()
	}
}

// current is the handle of the context that a call runs in: cur, or the calling thread's.
func (d *Driver) current(cur driver.CUcontext) driver.CUcontext {
	if cur != 0 {
		return cur
	}
	return d.threads.self().current()
}

// enter is the check of calls that need a context: besides those of ready there is a live current context in which
// nothing has faulted. After a fault the result is that of the fault, and the context comes with it.
func (d *Driver) enter(cur driver.CUcontext) (*context, driver.CUresult) {
	c, r := d.attach(cur)
	if r != success {
		return nil, r
	}
	return c, c.fault()
}

// attach is enter for calls that work in a context after a fault too.
func (d *Driver) attach(cur driver.CUcontext) (*context, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, r
	}
	if cur == 0 {
		if cur = d.threads.self().current(); cur == 0 {
			return nil, invalidCtx
		}
	}
	return d.contextOf(cur)
}

// contextOf resolves the handle of a live context.
func (d *Driver) contextOf(h driver.CUcontext) (*context, driver.CUresult) {
	c := d.contexts.get(uintptr(h))
	switch {
	case c == nil && d.contexts.was(uintptr(h)):
		return nil, destroyed
	case c == nil:
		return nil, invalidCtx
	case c.dead.Load():
		return nil, destroyed
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

// fault is the result of the fault that broke the context, or its device.
func (c *context) fault() driver.CUresult {
	if e := c.sticky.Load(); e != 0 {
		return driver.CUresult(e)
	}
	return driver.CUresult(c.dev.sticky.Load())
}

// fail breaks the context: every later call answers r. The first fault counts. As on hardware it breaks the whole
// device for the process, other contexts and later ones included (recorded), and all other devices where it is an
// access to an illegal address (recorded with two), unless Options.Recover says otherwise.
func (c *context) fail(r driver.CUresult, text string) {
	if !c.sticky.CompareAndSwap(0, uint32(r)) {
		return
	}
	c.d.explain(c, "%s", text)
	if c.d.opts.Recover || c.abandoned.Load() {
		c.halt()
		return
	}
	for _, dev := range c.d.devices {
		if dev != c.dev && r != driver.CUDA_ERROR_ILLEGAL_ADDRESS || !dev.sticky.CompareAndSwap(0, uint32(r)) {
			continue
		}
		for _, o := range c.d.contexts.all() {
			if o.dev == dev {
				o.halt()
				if o != c {
					c.d.explain(o, "in another context of the process: %s", text)
				}
			}
		}
	}
}
