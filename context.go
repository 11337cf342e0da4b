package cuda

import (
	"context"
	"errors"
	"runtime"

	"github.com/gocuda/cuda/cu"
)

type contextKind uint8

const (
	contextPrimary contextKind = iota
	contextOrdinary
	contextGreen
)

// Context is a CUDA context: it owns memory, streams and modules on one device. It is not a context.Context, and no
// context is ever "current": each call of this package binds the context of its receiver, on whatever OS thread the
// goroutine runs.
//
// All methods may be called from several goroutines. Close must not run at the same time as other calls.
type Context struct {
	owned
	*health
	dev    *Device
	handle cu.CUcontext
	api    cu.API // with the context bound
	what   contextKind
	green  cu.CUgreenCtx
	legacy Stream   // the default stream
	bare   *Context // the same without record and streams, for what must not refer to the Context
}

func (d *Device) newContext(h cu.CUcontext, what contextKind, green cu.CUgreenCtx, state *health) *Context {
	alike := func() *Context {
		return &Context{dev: d, handle: h, api: d.sys.api.In(h), what: what, green: green, health: state}
	}
	c, bare := alike(), alike()
	c.bare = bare
	c.born(&d.sys.owned, "context", 0, bare.destroy)
	c.record.settle = bare.settle
	c.legacy = Stream{c: c, api: c.api}
	watch(c, &c.owned)
	return c
}

// Device returns the device of the context.
func (c *Context) Device() *Device { return c.dev }

// Handle returns the driver's handle of the context.
func (c *Context) Handle() cu.CUcontext { return c.handle }

// API returns the driver API with this context bound, for what this package does not offer.
func (c *Context) API() cu.API { return c.api }

// Green returns the handle of a green context; ok is false for other contexts.
func (c *Context) Green() (h cu.CUgreenCtx, ok bool) { return c.green, c.what == contextGreen }

// Close releases the reference to a primary context, or destroys the context. It fails with an [*OpenError] while
// buffers, streams, modules or other resources of the context are open. It waits for queued work; the software device
// stops an operation that takes longer than a minute, and the error is then ErrLaunchTimeout.
func (c *Context) Close() error { return c.end() }

// CloseAll waits for queued work, closes every open resource of the context in the right order, and then the context.
// All of them count as closed afterwards, even after errors, which are joined. It also works in a context that a fault
// has broken: it returns the error of the fault unless an earlier call has reported it, and calls that fail because of
// that fault are not errors.
func (c *Context) CloseAll() error { return c.closeAll() }

// settle waits for the context. Of the errors that the program knows already nothing needs to be said again.
func (c *Context) settle() (leaveOut func(error) bool, err error) {
	known := c.Err()
	err = c.waited("cuCtxSynchronize", c.api.CtxSynchronize())
	leaveOut = func(err error) bool {
		var e *Error
		broken := c.broken.Load()
		return broken != nil && errors.As(err, &e) && e.Code == broken.Code
	}
	if known != nil && leaveOut(err) {
		err = nil
	}
	return leaveOut, err
}

func (c *Context) destroy() error {
	api := c.dev.sys.api
	switch c.what {
	case contextPrimary:
		return c.dev.fail("cuDevicePrimaryCtxRelease", api.DevicePrimaryCtxRelease(c.dev.handle))
	case contextGreen:
		return c.dev.fail("cuGreenCtxDestroy", api.GreenCtxDestroy(c.green))
	}
	runtime.LockOSThread() // cuCtxDestroy looks at the stack of the thread
	defer runtime.UnlockOSThread()
	return c.dev.fail("cuCtxDestroy", api.CtxDestroy(c.handle))
}

// giveBack makes the function that gives a resource of the context back.
func (c *Context) giveBack(op, symbol string, f func(cu.API) error) func() error {
	c = c.bare
	return func() error { return c.fail(op, symbol, f(c.api)) }
}

// freeMemory makes the function that frees memory of the device; there is none where the address is 0.
func (c *Context) freeMemory(p cu.CUdeviceptr) func() error {
	if p == 0 {
		return func() error { return nil }
	}
	return c.giveBack("cuMemFree", "", func(api cu.API) error { return api.MemFree(p) })
}

// check is the start of every call in the context.
func (c *Context) check(op string) error {
	if c.isClosed() {
		return closedError(op, "context")
	}
	return nil
}

// Err returns the error that broke the context, an [*Error], or nil if this package has seen none.
func (c *Context) Err() error {
	if e := c.broken.Load(); e != nil {
		return e
	}
	return nil
}

// Synchronize waits until all work queued in the context is done. It reports errors of kernels and panics of host
// functions.
func (c *Context) Synchronize() error {
	if err := c.check("cuCtxSynchronize"); err != nil {
		return err
	}
	return c.waited("cuCtxSynchronize", c.api.CtxSynchronize())
}

// Wait is Synchronize with a context.Context that can end the wait; see [Stream.Wait] for what happens then.
func (c *Context) Wait(ctx context.Context) error {
	if err := c.check("cuCtxSynchronize"); err != nil {
		return err
	}
	return c.wait(ctx, "cuCtxSynchronize", c.Synchronize)
}

// MemoryInfo returns the free and the total memory of the device in bytes.
func (c *Context) MemoryInfo() (free, total uint64, err error) {
	if err := c.check("cuMemGetInfo"); err != nil {
		return 0, 0, err
	}
	free, total, err = c.api.MemGetInfo()
	return free, total, c.fail("cuMemGetInfo", "", err)
}

// Limit returns a limit of the context, for example cu.CU_LIMIT_STACK_SIZE.
func (c *Context) Limit(l cu.CUlimit) (uint64, error) {
	if err := c.check("cuCtxGetLimit"); err != nil {
		return 0, err
	}
	v, err := c.api.CtxGetLimit(l)
	return v, c.fail("cuCtxGetLimit", "", err)
}

// SetLimit changes a limit; the driver may round the value.
func (c *Context) SetLimit(l cu.CUlimit, v uint64) error {
	if err := c.check("cuCtxSetLimit"); err != nil {
		return err
	}
	return c.fail("cuCtxSetLimit", "", c.api.CtxSetLimit(l, v))
}

// PriorityRange returns the range of stream priorities. Smaller numbers are more urgent, so greatest <= least.
func (c *Context) PriorityRange() (least, greatest int, err error) {
	if err := c.check("cuCtxGetStreamPriorityRange"); err != nil {
		return 0, 0, err
	}
	l, g, err := c.api.CtxGetStreamPriorityRange()
	return int(l), int(g), c.fail("cuCtxGetStreamPriorityRange", "", err)
}

// Multiprocessors returns the number of multiprocessors that the context may use: all of the device, or the partition
// of a green context.
func (c *Context) Multiprocessors() (int, error) {
	if err := c.check("cuGreenCtxGetDevResource"); err != nil {
		return 0, err
	}
	if c.what != contextGreen {
		return c.dev.Attribute(cu.CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
	}
	r, err := c.api.GreenCtxGetDevResource(c.green, cu.CU_DEV_RESOURCE_TYPE_SM)
	if err != nil {
		return 0, c.fail("cuGreenCtxGetDevResource", "", err)
	}
	return int(r.Sm().SmCount), nil
}

// EnablePeer lets kernels of this context access memory of another context on another device. It works in one
// direction.
func (c *Context) EnablePeer(other *Context) error {
	if err := errors.Join(c.check("cuCtxEnablePeerAccess"), other.check("cuCtxEnablePeerAccess")); err != nil {
		return err
	}
	return c.fail("cuCtxEnablePeerAccess", "", c.api.CtxEnablePeerAccess(other.handle, 0))
}

// DisablePeer revokes EnablePeer.
func (c *Context) DisablePeer(other *Context) error {
	if err := errors.Join(c.check("cuCtxDisablePeerAccess"), other.check("cuCtxDisablePeerAccess")); err != nil {
		return err
	}
	return c.fail("cuCtxDisablePeerAccess", "", c.api.CtxDisablePeerAccess(other.handle))
}

// With runs f with the context current and the goroutine locked to its OS thread, for foreign libraries and for
// functions of package cu that depend on the thread. The previous context of the thread is restored.
func (c *Context) With(f func() error) (err error) {
	if err := c.check("cuCtxPushCurrent"); err != nil {
		return err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	api := c.dev.sys.api
	if err := api.CtxPushCurrent(c.handle); err != nil {
		return c.fail("cuCtxPushCurrent", "", err)
	}
	defer func() {
		if _, e := api.CtxPopCurrent(); e != nil && err == nil {
			err = c.fail("cuCtxPopCurrent", "", e)
		}
	}()
	return f()
}
