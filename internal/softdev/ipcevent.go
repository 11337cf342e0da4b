package softdev

import (
	"os"
	"runtime"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// sharedEvent is the state of an event that several processes have, in a page that they share. Records are numbered by
// all of them together.
type sharedEvent struct {
	d    *Driver
	page *mem.Page

	remote *remoteRecord // the last that was asked for; under the event's lock
}

// The words of the page. The number of a record that was reached is written in one of the slots; a slot is used again
// by the record eventSlots later.
const (
	eventNewest   = 0 // number of the newest record
	eventRecorder = 1 // process that made it
	eventFirst    = 8
	eventSlots    = 256
)

// newSharedEvent is for an event with CU_EVENT_INTERPROCESS; nil where the host has no shared pages.
func newSharedEvent(d *Driver, page *mem.Page, err error) *sharedEvent {
	if err != nil {
		return nil
	}
	x := &sharedEvent{d: d, page: page}
	// The page lives as long as operations that are queued, which no call tells the end of.
	runtime.AddCleanup(x, func(p *mem.Page) {
		defer d.guard()
		_ = p.Close()
	}, page)
	return x
}

// begin numbers a new record.
func (x *sharedEvent) begin() uint64 {
	x.page.Word(eventRecorder).Store(uint64(os.Getpid()))
	return x.page.Word(eventNewest).Add(1)
}

// finish says that a record was reached.
func (x *sharedEvent) finish(n uint64) {
	w := x.page.Word(eventFirst + int(n%eventSlots))
	for old := w.Load(); old < n && !w.CompareAndSwap(old, n); old = w.Load() {
	}
}

func (x *sharedEvent) finished(n uint64) bool {
	return n == 0 || x.page.Word(eventFirst+int(n%eventSlots)).Load() >= n
}

// remoteRecord stands for another process's record: a stream with one operation, that a goroutine watches for while
// somebody may wait.
type remoteRecord struct {
	stream
	number uint64
}

// point is the place in other work that the newest record of an event has, by whichever process; the event's lock is
// held.
func (x *sharedEvent) point(e *event) point {
	n := x.page.Word(eventNewest).Load()
	switch {
	case x.finished(n):
		return point{}
	case e.rec != nil && e.rec.number == n:
		return e.rec.point
	case x.remote == nil || x.remote.number != n:
		r := &remoteRecord{number: n}
		r.ctx, r.kind = e.ctx, streamRemote
		r.changed.L = &r.mu
		r.queued = 1
		x.remote = r
		e.ctx.goFor(nil, func() { x.watch(r) })
	}
	return point{&x.remote.stream, 1}
}

// watch looks at the page until the record is reached, or cannot be any more.
func (x *sharedEvent) watch(r *remoteRecord) {
	const least, most, patience = 10 * time.Microsecond, 500 * time.Microsecond, 100 * time.Millisecond
	pause, asked := least, time.Now()
	defer r.finish()
	for !x.finished(r.number) && x.d.state.Load() != driverClosed {
		if time.Since(asked) > patience {
			// A process that has ended reaches nothing: its events count as reached, as work of contexts that are gone
			// does.
			if mem.ProcessGone(int(x.page.Word(eventRecorder).Load())) {
				break
			}
			asked = time.Now()
		}
		time.Sleep(pause)
		pause = min(2*pause, most)
	}
}

// finish lets go who waits for the record.
func (r *remoteRecord) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done.Store(1)
	r.changed.Broadcast()
}

func (d *Driver) ipcGetEventHandle(cur driver.CUcontext, out *driver.CUipcEventHandle,
	h driver.CUevent) driver.CUresult {
	if out == nil || h == 0 {
		return invalidValue // even before cuInit (recorded)
	}
	if _, r := d.enter(cur); r != success {
		return r
	}
	e, r := d.event(h)
	if r != success {
		return r
	}
	*out = driver.CUipcEventHandle{} // whatever comes of it (recorded)
	if e.flags&driver.CU_EVENT_INTERPROCESS == 0 {
		return badHandle
	}
	if e.shared == nil {
		d.explain(e.ctx, "events cannot be shared with other processes on this host")
		return notSupported
	}
	out.Reserved = packHandle(ipcEvent, e.shared.page.Published(), e.ctx.dev.uuid())
	return success
}

// ipcOpenEventHandle makes an event of this process that shares the state of another's.
func (d *Driver) ipcOpenEventHandle(cur driver.CUcontext, out *driver.CUevent,
	handle driver.CUipcEventHandle) driver.CUresult {
	if out == nil {
		return invalidValue // even before cuInit (recorded)
	}
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	at, _, ok := unpackHandle(ipcEvent, &handle.Reserved)
	if !ok {
		return driver.CUDA_ERROR_MAP_FAILED // recorded for a handle of zeros
	}
	if int(at.Process) == os.Getpid() {
		d.explain(c, "the event is of this process")
		return invalidCtx
	}
	page, err := mem.OpenPage(at, 1)
	if err != nil {
		return d.ipcFailure(c, err)
	}
	e := &event{ctx: c, flags: driver.CU_EVENT_INTERPROCESS | driver.CU_EVENT_DISABLE_TIMING,
		shared: newSharedEvent(d, page, nil)}
	e.handle = driver.CUevent(d.events.add(e))
	if e.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = e.handle
	return success
}
