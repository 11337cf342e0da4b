package softdev

import "github.com/gocuda/cuda/internal/driver"

// The C library answers some waits and queries itself as long as nothing has happened since they were answered here
// (cmd/libcuda/front/front.c, Answers that stand). The questions below are its questions.

// Settled says whether all streams of all contexts have nothing to do and are not captured, no host function runs, and
// no context is broken. It stays so until somebody calls a function that queues work, captures, or makes something.
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
