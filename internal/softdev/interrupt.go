package softdev

import "github.com/gocuda/cuda/internal/driver"

// Interrupt stops the work of a context from outside, for callers that no longer want to wait for it. A kernel that is
// stopped breaks the context with CUDA_ERROR_LAUNCH_TIMEOUT, as the watchdog of a display GPU does; so does the next
// operation of a stream when no kernel was running. It returns at once and says whether there is such a context.
func (d *Driver) Interrupt(ctx driver.CUcontext) bool {
	c := d.contexts.get(uintptr(ctx))
	if c == nil || c.dead.Load() {
		return false
	}
	c.halt()
	return true
}

// ended says whether operations of the context's streams have to be left out: it is broken, or it was interrupted,
// which breaks it now.
func (c *context) ended() bool {
	if c.stop.Load() && c.fault() == success {
		c.fail(driver.CUDA_ERROR_LAUNCH_TIMEOUT, "stopped between operations of a stream")
	}
	return c.fault() != success
}

// Broken is the result that every call in a context gives since something in it has failed for good; success while the
// context is well.
func (d *Driver) Broken(ctx driver.CUcontext) driver.CUresult {
	if c := d.contexts.get(uintptr(ctx)); c != nil {
		return c.fault()
	}
	return success
}

// TakeDetail is LastDetail and forgets the text, so that it is not taken for that of a later failure which leaves none.
func (d *Driver) TakeDetail(cur driver.CUcontext) string {
	t := d.threads.self()
	if cur == 0 {
		cur = t.current()
	}
	var n uint64
	var text string
	if c := d.contexts.get(uintptr(cur)); c != nil {
		n, text = c.detail.take()
	}
	if m, s := t.detail.take(); m > n {
		return s
	}
	return text
}

func (x *detail) take() (uint64, string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	n, text := x.n, x.text
	x.n, x.text = 0, ""
	return n, text
}
