package softdev

import (
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/driver"
)

// primary is the primary context of a device. Its handle stays the same over releases and retains.
type primary struct {
	mu    sync.Mutex // held while the context is torn down, which may take long
	refs  int
	ctx   atomic.Pointer[context] // nil before the first retain; dead while nobody holds it
	flags atomic.Uint32
}

// living is the context, nil unless it is alive.
func (p *primary) living() *context {
	if c := p.ctx.Load(); c != nil && !c.dead.Load() {
		return c
	}
	return nil
}

func (d *Driver) primaryRetain(_ driver.CUcontext, out *driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	if out == nil {
		return invalidValue
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	c, fresh, r := dev.primary.hold(dev)
	if r != success {
		return r
	}
	if fresh {
		d.joinLibraries(c) // which may compile them: without the lock
	}
	*out = c.handle
	return success
}

// hold counts a user of the context and makes it alive; fresh says that it was not.
func (p *primary) hold(dev *device) (c *context, fresh bool, r driver.CUresult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r := driver.CUresult(dev.sticky.Load()); r != success && p.living() == nil {
		return nil, false, r // one that is alive is given out also after a fault (recorded)
	}
	if fresh, r = p.activate(dev); r != success {
		return nil, false, r
	}
	p.refs++
	return p.ctx.Load(), fresh, success
}

// alive is the context, made alive.
func (p *primary) alive(dev *device) (c *context, fresh bool, r driver.CUresult) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fresh, r = p.activate(dev)
	return p.ctx.Load(), fresh, r
}

// activate makes the context alive; fresh says that it was not. It needs p.mu.
func (p *primary) activate(dev *device) (fresh bool, r driver.CUresult) {
	if p.living() != nil {
		return false, success
	}
	d := dev.d
	c := d.newContext(dev, p.flags.Load()|uint32(driver.CU_CTX_MAP_HOST)) // as cuCtxGetFlags reports it (recorded)
	c.primary, c.version = true, apiVersion2
	if old := p.ctx.Load(); old == nil {
		if c.handle = driver.CUcontext(d.contexts.add(c)); c.handle == 0 {
			return false, driver.CUDA_ERROR_OUT_OF_MEMORY
		}
	} else {
		c.handle = old.handle
		d.contexts.replace(uintptr(c.handle), c)
	}
	p.ctx.Store(c)
	return true, success
}

// tearDown ends the context if it is alive. It needs p.mu.
func (p *primary) tearDown() driver.CUresult {
	if c := p.living(); c != nil {
		return c.tearDown()
	}
	return success
}

// primaryContext is the device's primary context, made alive if it is not, without holding it.
func (dev *device) primaryContext() (*context, driver.CUresult) {
	c, fresh, r := dev.primary.alive(dev)
	if r != success {
		return nil, r
	}
	if fresh {
		dev.d.joinLibraries(c)
	}
	return c, c.fault()
}

func (d *Driver) primaryRelease(_ driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	p := &dev.primary
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refs == 0 {
		return invalidCtx
	}
	if p.refs--; p.refs > 0 {
		return success
	}
	return p.tearDown()
}

// primaryRelease1 is the first version, which does not say that nobody holds the context (recorded).
func (d *Driver) primaryRelease1(cur driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	r := d.primaryRelease(cur, ordinal)
	if r == invalidCtx {
		return success
	}
	return r
}

func (d *Driver) primaryReset(_ driver.CUcontext, ordinal driver.CUdevice) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	p := &dev.primary
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flags.Store(0) // the count of users stays (recorded)
	return p.tearDown()
}

func (d *Driver) primarySetFlags(_ driver.CUcontext, ordinal driver.CUdevice, flags uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if !validContextFlags(flags) || flags&uint32(driver.CU_CTX_MAP_HOST) != 0 {
		return invalidValue
	}
	p := &dev.primary
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flags.Store(flags)
	if c := p.living(); c != nil {
		c.setFlags(flags | uint32(driver.CU_CTX_MAP_HOST))
	}
	return success
}

// primarySetFlags1 is the first version, which leaves a context that is alive alone (recorded).
func (d *Driver) primarySetFlags1(cur driver.CUcontext, ordinal driver.CUdevice, flags uint32) driver.CUresult {
	if r := d.ready(); r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	if dev.primary.living() != nil {
		return driver.CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE
	}
	return d.primarySetFlags(cur, ordinal, flags)
}

func (d *Driver) primaryGetState(_ driver.CUcontext, ordinal driver.CUdevice, flags *uint32,
	active *int32) driver.CUresult {
	if flags == nil || active == nil {
		return invalidValue
	}
	if r := d.ready(); r != success {
		return r
	}
	dev, r := d.deviceOf(ordinal)
	if r != success {
		return r
	}
	p := &dev.primary
	*flags, *active = p.flags.Load(), 0
	if p.living() != nil {
		*active = 1
	}
	return success
}
