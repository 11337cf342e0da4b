package softdev

import (
	"slices"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// endLimit is how long one operation may take that a context has when it is destroyed. The driver waits for work then:
// what kernels print is given out (CUDA C++ Programming Guide, "Formatted Output"). It does not say what becomes of
// work without an end.
const endLimit = time.Minute

// halt makes the context's kernels end, and its waits for the work of others.
func (c *context) halt() {
	c.stop.Store(true)
	c.foreign.wake()
}

// finish is synchronize for a context that ends: an operation that takes longer than endLimit is stopped, which breaks
// no other context. The result is CUDA_ERROR_LAUNCH_TIMEOUT then.
func (c *context) finish() driver.CUresult {
	var buf [8]point
	if len(c.tails(buf[:0])) == 0 {
		c.synchronize()
		return success
	}
	w := c.watchEnd(c.d.endLimit)
	c.synchronize()
	w.end()
	if !c.abandoned.Load() || driver.CUresult(c.sticky.Load()) != driver.CUDA_ERROR_LAUNCH_TIMEOUT {
		return success
	}
	_, text := c.detail.get()
	c.d.explain(nil, "work of a destroyed context did not end within %v: %s", c.d.endLimit, text)
	return driver.CUDA_ERROR_LAUNCH_TIMEOUT
}

// endWatch looks after the work of a context that ends.
type endWatch struct {
	c     *context
	limit time.Duration

	mu    sync.Mutex
	over  bool
	done  uint64 // operations that have ended so far
	timer *time.Timer
}

func (c *context) watchEnd(limit time.Duration) *endWatch {
	w := &endWatch{c: c, limit: limit, done: c.operations()}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(limit, w.look)
	return w
}

func (w *endWatch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.timer.Stop()
}

// look stops the work when no operation has ended since the last time.
func (w *endWatch) look() {
	defer w.c.guard()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.c.operations()
	switch {
	case w.over:
	case n != w.done:
		w.done = n
		w.timer.Reset(w.limit)
	default:
		w.c.abandoned.Store(true)
		w.c.halt()
	}
}

// operations is how many operations of the context's streams have ended.
func (c *context) operations() (n uint64) {
	c.order.Lock()
	defer c.order.Unlock()
	for _, s := range c.streams {
		n += s.done.Load()
	}
	return n
}

// streamSet is the streams that somebody waits for, each as often as he does.
type streamSet struct {
	mu   sync.Mutex
	list []*stream
}

func (x *streamSet) add(s *stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list = append(x.list, s)
}

func (x *streamSet) remove(s *stream) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if i := slices.Index(x.list, s); i >= 0 {
		x.list = slices.Delete(x.list, i, i+1)
	}
}

// wake makes all who wait look at their context.
func (x *streamSet) wake() {
	x.mu.Lock()
	list := slices.Clone(x.list)
	x.mu.Unlock()
	for _, s := range list {
		s.wake()
	}
}
