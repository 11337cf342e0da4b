package softdev

import (
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec"
)

// The C door answers some calls itself as long as nothing has happened since they were answered here (cmd/libcuda/front/front.c, Answers that stand). The questions
// below are its questions.

// Settled says whether all streams of all contexts have nothing to do and are not captured, no host function runs, and no context is broken. It stays so
// until somebody calls a function that queues work, captures, or makes something.
func (d *Driver) Settled() bool {
	if d.callbacks.Load() != 0 {
		return false
	}
	for _, c := range d.contexts.all() {
		if c.fault() != success || !c.quiet() {
			return false
		}
	}
	return true
}

func (c *context) quiet() bool {
	c.order.Lock()
	defer c.order.Unlock()
	for _, s := range c.streams {
		if !s.idle() || s.capturing() {
			return false
		}
	}
	return true
}

// Private says whether an event is one that other processes cannot record.
func (d *Driver) Private(h driver.CUevent) bool {
	e, r := d.event(h)
	return r == success && e.shared == nil
}

// Inert says whether launches of a function have no effect whatever their parameters are, and how many parameters there are. A launch that has succeeded before tells;
// before it the answer is no.
func (d *Driver) Inert(cur driver.CUcontext, h driver.CUfunction) (params int, inert bool) {
	c, r := d.contextOf(cur)
	if r != success {
		return 0, false
	}
	f, r := d.launched(c, h)
	if r != success || f.prepare() != nil || d.opts.Counters != nil {
		return 0, false
	}
	return len(f.kernel.Params), exec.Inert(f.code)
}
