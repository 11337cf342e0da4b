package softdev

import (
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// standstill holds back work that is submitted while memory moves.
type standstill struct{ open chan struct{} }

// freezeLimit is how long one operation that is queued may take. Work that waits for something that comes later takes
// longer: a host function for the caller, a kernel for a copy, a stream for another process.
const freezeLimit = time.Minute

// freeze calls f while no work runs in any context and none comes. The result is CUDA_ERROR_NOT_READY if the work that
// is queued does not end.
func (d *Driver) freeze(f func() driver.CUresult) driver.CUresult {
	d.freezing.Lock()
	defer d.freezing.Unlock()
	defer d.still()()
	if r := d.drain(freezeLimit, 0); r != success {
		return r
	}
	return f()
}

// still holds back what is submitted until the function is called that it returns.
func (d *Driver) still() (release func()) {
	g := &standstill{make(chan struct{})}
	d.gs.mu.Lock() // launches of graphs queue their work with this lock, which their ends need
	d.gate.Store(g)
	d.gs.mu.Unlock()
	return func() {
		d.gate.Store(nil)
		close(g.open)
	}
}

// drain waits for the work that is queued: for each operation not longer than patience, and for all of it not longer
// than limit, where they are not 0.
func (d *Driver) drain(patience, limit time.Duration) driver.CUresult {
	begin := time.Now()
	for _, c := range d.contexts.all() {
		// Whoever was past the gate has queued its work when these locks have been held.
		var buf [8]point
		for _, p := range c.tails(buf[:0]) {
			done, since := p.s.done.Load(), time.Now()
			for !p.reached() {
				if n := p.s.done.Load(); n != done {
					done, since = n, time.Now()
				}
				if patience != 0 && time.Since(since) > patience || limit != 0 && time.Since(begin) > limit {
					d.explain(c, "an operation that is queued does not end within %v", max(patience, limit))
					return driver.CUDA_ERROR_NOT_READY
				}
				p.s.release()
				time.Sleep(20 * time.Microsecond)
			}
		}
	}
	return success
}

// pass waits while there is a gate; the locks are held, and let go meanwhile.
func (d *Driver) pass(unlock, lock func()) {
	for g := d.gate.Load(); g != nil; g = d.gate.Load() {
		unlock()
		<-g.open
		lock()
	}
}
