package softdev

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// event is a CUevent. What was captured by its last record is a point in a stream; destroying the event leaves waits on
// that point alone.
type event struct {
	ctx    *context
	handle driver.CUevent
	flags  driver.CUevent_flags
	shared *sharedEvent // with CU_EVENT_INTERPROCESS

	mu      sync.Mutex
	rec     *record                      // nil before the first record
	capture atomic.Pointer[eventCapture] // when the last record was in a capture
}

// record is one recording of an event.
type record struct {
	at    atomic.Int64 // ns after the driver's start, written when the stream gets there
	point point

	when checker.Moment // with the race check

	shared *sharedEvent
	number uint64 // of the record among all that the shared event has had
}

const eventFlags = driver.CU_EVENT_BLOCKING_SYNC | driver.CU_EVENT_DISABLE_TIMING | driver.CU_EVENT_INTERPROCESS

func (d *Driver) eventCreate(cur driver.CUcontext, out *driver.CUevent, flags uint32) driver.CUresult {
	c, r := d.enter(cur)
	if r != success {
		return r
	}
	f := driver.CUevent_flags(flags)
	if out == nil || f&^eventFlags != 0 || f&driver.CU_EVENT_INTERPROCESS != 0 &&
		f&driver.CU_EVENT_DISABLE_TIMING == 0 {
		return invalidValue
	}
	e := &event{ctx: c, flags: f}
	if f&driver.CU_EVENT_INTERPROCESS != 0 {
		page, err := mem.NewPage(1)
		e.shared = newSharedEvent(d, page, err)
	}
	e.handle = driver.CUevent(d.events.add(e))
	if e.handle == 0 {
		return driver.CUDA_ERROR_OUT_OF_MEMORY
	}
	*out = e.handle
	return success
}

// event resolves a handle. An event knows its context, so that no other has to be current.
func (d *Driver) event(h driver.CUevent) (*event, driver.CUresult) {
	e := d.events.get(uintptr(h))
	if e == nil {
		return nil, d.noEvent(h)
	}
	if r := d.ready(); r != success {
		return nil, r
	}
	return e, e.ctx.fault()
}

// noEvent is the result for a handle that leads nowhere: events that were destroyed have one of their own (recorded).
func (d *Driver) noEvent(h driver.CUevent) driver.CUresult {
	if d.events.was(uintptr(h)) {
		return destroyed
	}
	return badHandle
}

func (d *Driver) eventDestroy(_ driver.CUcontext, h driver.CUevent) driver.CUresult {
	if _, r := d.event(h); r != success {
		return r
	}
	if d.events.remove(uintptr(h)) == nil {
		return d.noEvent(h)
	}
	return success
}

func (d *Driver) eventRecord(cur driver.CUcontext, h driver.CUevent, stream driver.CUstream) driver.CUresult {
	return d.eventRecordWithFlags(cur, h, stream, 0)
}

func (d *Driver) eventRecordWithFlags(cur driver.CUcontext, h driver.CUevent, stream driver.CUstream,
	flags uint32) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	if flags&^uint32(driver.CU_EVENT_RECORD_EXTERNAL) != 0 {
		return invalidValue
	}
	e, r := d.event(h)
	if r != success {
		return r
	}
	if flags != 0 && !s.capturing() {
		return driver.CUDA_ERROR_ILLEGAL_STATE // external records are for streams that capture (recorded)
	}
	if !e.ctx.kin(s.ctx) {
		return s.spoil(badHandle)
	}
	if r := s.admit(); r != success {
		return r
	}
	switch {
	case flags != 0:
		return s.captureWork(&eventRecordWork{e})
	case s.capturing():
		return s.recordCaptured(e)
	}
	e.record(s)
	return success
}

func (e *event) record(s *stream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	rec := e.rec
	if rec == nil || !rec.point.reached() {
		rec = new(record) // the old one belongs to an operation that is still queued
	}
	if e.shared != nil {
		rec = &record{shared: e.shared, number: e.shared.begin()}
	}
	s.put(&op{kind: opRecord, rec: rec})
	defer s.mu.Unlock()
	rec.point = point{s, s.queued}
	if s.q != nil {
		rec.when = s.q.Now()
	}
	e.rec = rec
	e.capture.Store(nil)
	if last := &s.ring[(s.head+s.n-1)&(len(s.ring)-1)]; s.n == 1 && !s.busy && last.ready() {
		s.take(s.queued)
	} else {
		s.start()
	}
}

// moved makes a record the event's last.
func (e *event) moved(rec *record) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rec = rec
	e.capture.Store(nil)
}

// captured is the point of the last record; its stream is nil when there was none.
func (e *event) captured() point {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shared != nil {
		return e.shared.point(e)
	}
	if e.rec == nil {
		return point{}
	}
	return e.rec.point
}

func (d *Driver) eventQuery(_ driver.CUcontext, h driver.CUevent) driver.CUresult {
	e, r := d.event(h)
	if r != success {
		return r
	}
	if r := e.unsafeEvent(); r != success {
		return r
	}
	m := e.moment()
	if p := e.captured(); !p.reached() {
		p.s.release()
		return driver.CUDA_ERROR_NOT_READY
	}
	d.learn(m)
	return e.ctx.fault()
}

func (d *Driver) eventSynchronize(_ driver.CUcontext, h driver.CUevent) driver.CUresult {
	e, r := d.event(h)
	if r != success {
		return r
	}
	if r := e.unsafeEvent(); r != success {
		return r
	}
	m := e.moment()
	e.captured().until(e.ctx)
	d.learn(m)
	d.settlePools()
	e.ctx.output.flush()
	return e.ctx.fault()
}

func (d *Driver) eventElapsedTime(_ driver.CUcontext, out *float32, start, end driver.CUevent) driver.CUresult {
	a, r := d.event(start)
	if r != success {
		return r
	}
	b, r := d.event(end)
	if r != success {
		return r
	}
	if out == nil || !a.ctx.kin(b.ctx) {
		return badHandle // NULL too (recorded)
	}
	t, ready, ok := a.time()
	u, ready2, ok2 := b.time()
	switch {
	case !ok || !ok2:
		return badHandle
	case !ready || !ready2:
		return driver.CUDA_ERROR_NOT_READY
	}
	d.learn(a.moment().And(b.moment()))
	*out = float32(float64(u-t) / 1e6)
	return success
}

// time is when the event's last record was reached; ok is false when there is no such time: never recorded, or made
// without timing.
func (e *event) time() (ns int64, ready, ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.rec == nil || e.flags&driver.CU_EVENT_DISABLE_TIMING != 0 {
		return 0, false, false
	}
	return e.rec.at.Load(), e.rec.point.reached(), true
}

// waitFor makes later work of the stream wait for what the event has captured by now.
func (s *stream) waitFor(p point) {
	if p.reached() || p.s == s {
		return
	}
	s.submit(&op{kind: opMarker, after: p})
}

func (d *Driver) streamWaitEvent(cur driver.CUcontext, stream driver.CUstream, h driver.CUevent,
	flags uint32) driver.CUresult {
	s, r := d.streamOf(cur, stream)
	if r != success {
		return r
	}
	if flags&^uint32(driver.CU_EVENT_WAIT_EXTERNAL) != 0 {
		return invalidValue
	}
	e, r := d.event(h)
	if r != success {
		return r
	}
	if flags != 0 {
		if !s.capturing() {
			return driver.CUDA_ERROR_ILLEGAL_STATE
		}
		return s.captureWork(&eventWaitWork{e})
	}
	if r, done := s.waitCaptured(e); done {
		return r
	}
	if r := s.admit(); r != success {
		return r
	}
	s.follow(e.moment())
	s.waitFor(e.captured())
	return success
}

// ctxRecordEvent records all work queued in a context so far.
func (d *Driver) ctxRecordEvent(cur, h driver.CUcontext, ev driver.CUevent) driver.CUresult {
	c, e, r := d.contextEvent(cur, h, ev)
	if r != success {
		return r
	}
	if !e.ctx.kin(c) {
		return badHandle
	}
	return c.recordAll(e)
}

// recordAll records an event behind all work of the context.
func (c *context) recordAll(e *event) driver.CUresult {
	if r := c.conflicts(); r != success {
		return r
	}
	s := newStream(c, streamOrdinary, uint32(driver.CU_STREAM_NON_BLOCKING), 0)
	var buf [8]point
	for _, p := range c.tails(buf[:0]) {
		s.submit(&op{kind: opMarker, after: p})
	}
	s.follow(c.moment(false))
	c.join(s)
	e.record(s)
	s.submit(&op{kind: opTask, task: leave{}})
	return success
}

// ctxWaitEvent makes work queued in any stream of a context from now on wait, also in streams that are made later.
func (d *Driver) ctxWaitEvent(cur, h driver.CUcontext, ev driver.CUevent) driver.CUresult {
	c, e, r := d.contextEvent(cur, h, ev)
	if r != success {
		return r
	}
	return c.waitAll(e)
}

// waitAll makes all later work of the context wait for what an event has captured by now.
func (c *context) waitAll(e *event) driver.CUresult {
	if r := c.conflicts(); r != success {
		return r
	}
	if r := e.conflicts(); r != success {
		return r
	}
	m := e.moment()
	c.followAll(m)
	p := e.captured()
	if p.reached() {
		return success
	}
	for _, s := range c.await(p) {
		s.waitFor(p)
	}
	return success
}

// await makes streams to come wait for a point, and returns those that there are.
func (c *context) await(p point) []*stream {
	c.order.Lock()
	defer c.order.Unlock()
	c.awaited = append(slices.DeleteFunc(c.awaited, point.reached), p)
	return slices.Clone(c.streams)
}

// join takes a stream into the context. What is returned are the points that its work has to wait for.
func (c *context) join(s *stream) []point {
	c.order.Lock()
	defer c.order.Unlock()
	c.streams = append(c.streams, s)
	s.follow(c.times.ahead)
	c.awaited = slices.DeleteFunc(c.awaited, point.reached)
	return slices.Clone(c.awaited)
}

// enlist takes a new stream into the context. Its work waits for what the context waits for.
func (c *context) enlist(s *stream) {
	for _, p := range c.join(s) {
		s.waitFor(p)
	}
}

func (d *Driver) contextEvent(_, h driver.CUcontext, ev driver.CUevent) (*context, *event, driver.CUresult) {
	if r := d.ready(); r != success {
		return nil, nil, r
	}
	c, r := d.contextOf(h)
	if r != success {
		return nil, nil, r
	}
	if r := c.fault(); r != success {
		return nil, nil, r
	}
	e, r := d.event(ev)
	return c, e, r
}
