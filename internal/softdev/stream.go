package softdev

import (
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/driver"
)

// A stream is a queue of operations, numbered from 1. Whoever holds the stream's busy mark executes operations in
// order: a goroutine that is started when work comes to an idle stream and ends when the queue is empty, or a caller
// that waits for the stream and finds it not being worked on. The second is what makes short synchronous work cheap: no
// other goroutine has to wake up for it.
//
// Order between streams is by dependences on (stream, number), all of which name operations that were queued earlier,
// so that there are no cycles.
type stream struct {
	ctx      *context
	handle   driver.CUstream
	id       uint64
	flags    uint32
	priority int32
	kind     streamKind
	attrs    streamAttributes
	captured atomic.Pointer[streamCapture] // nil unless the stream captures; changes with d.gs.mu held

	q      *checker.Queue  // its place in the timeline, nil without the race check
	acting *checker.Action // the operation under way; only who has the busy mark looks
	prev   *checker.Action // the newest operation if it is a kernel; changes with mu held

	run   func() // drain as a value made once
	order bool   // in step with the legacy stream: the legacy stream itself and blocking streams

	mu        sync.Mutex
	changed   sync.Cond // done has grown, or the busy mark is free
	ring      []op      // a power of two long
	head, n   int
	queued    uint64        // number of the newest operation; changes with context.order held too if s.order
	done      atomic.Uint64 // number of the newest finished operation
	busy      bool          // somebody executes operations
	called    bool          // a goroutine that will is on its way
	waiters   int
	unreached []uint64 // numbers of operations that found no host memory and whose callers wait for them
	holding
}

type streamKind uint8

const (
	streamOrdinary  streamKind = iota
	streamLegacy               // handle 0 and CU_STREAM_LEGACY
	streamPerThread            // CU_STREAM_PER_THREAD
	streamRemote               // of another process (remoteRecord)
)

// point is a place in a stream's work: everything up to an operation.
type point struct {
	s *stream
	n uint64
}

func (p point) reached() bool { return p.s == nil || p.s.done.Load() >= p.n }

func (p point) wait() {
	if !p.reached() {
		p.s.wait(p.n)
	}
}

// until waits on behalf of a context's work. When that is to end (halt) the wait ends too, which breaks the context.
// Work of other contexts it leaves to them: nobody could end it here.
func (p point) until(c *context) {
	switch {
	case p.reached():
	case p.s.ctx == c && p.s.kind != streamRemote:
		p.s.wait(p.n)
	default:
		c.foreign.add(p.s)
		defer c.foreign.remove(p.s)
		if !p.s.watch(p.n, &c.stop) {
			c.ended()
		}
	}
}

type opKind uint8

const (
	opMarker opKind = iota // only waits for its dependences
	opCopy                 // n bytes from src to dst
	opFill                 // value over n elements of width bytes at dst
	opRecord               // time into record
	opTask                 // task.execute
	opHost                 // host function; skipped after a fault
)

// op is one operation of a stream.
type op struct {
	kind    opKind
	width   uint8
	awaited bool // by the call that has queued it
	value   uint32
	dst     unsafe.Pointer
	src     unsafe.Pointer
	n       uint64
	rec     *record
	task    task
	act     *checker.Action // with the race check
	after   point           // a dependence
	more    []point         // further dependences
}

// task is an operation that needs more than op holds.
type task interface {
	// execute does the work. After a fault of the context it is called with skip true: it then only gives up what it
	// holds.
	execute(s *stream, skip bool)
}

func newStream(c *context, kind streamKind, flags uint32, priority int32) *stream {
	s := &stream{ctx: c, kind: kind, flags: flags, priority: priority, id: c.d.streamIDs.Add(1)}
	s.attrs.domainMap.Remote = 1 // each domain is its own (recorded)
	s.order = kind == streamLegacy || flags&uint32(driver.CU_STREAM_NON_BLOCKING) == 0
	s.changed.L = &s.mu
	s.run = s.drain
	s.queue()
	return s
}

// submit queues an operation without waiting for it.
func (s *stream) submit(o *op) {
	s.put(o)
	if s.q != nil {
		defer s.settle(s.queued)
	}
	defer s.mu.Unlock()
	s.start()
	s.submitted()
}

// perform queues an operation and waits until it is done. Host memory that is not there is the caller's mistake and
// leaves the context as it is.
func (s *stream) perform(o *op) driver.CUresult {
	o.awaited = true
	if !s.performed(o) {
		return invalidValue
	}
	return s.ctx.fault()
}

// performed is perform; false says that host memory was not there.
func (s *stream) performed(o *op) bool {
	s.put(o)
	defer s.mu.Unlock()
	n := s.queued
	s.waitLocked(n)
	i := slices.Index(s.unreached, n)
	if i >= 0 {
		s.unreached = slices.Delete(s.unreached, i, i+1)
	}
	return i < 0
}

// put appends the operation and leaves s.mu locked. The order among streams that are in step with the legacy stream is
// decided here.
func (s *stream) put(o *op) {
	c := s.ctx
	if !s.order {
		s.mu.Lock()
		if c.d.gate.Load() != nil {
			c.d.pass(s.mu.Unlock, s.mu.Lock)
		}
		s.push(o)
		return
	}
	c.order.Lock()
	defer c.order.Unlock()
	if c.d.gate.Load() != nil {
		c.d.pass(c.order.Unlock, c.order.Lock)
	}
	if s.kind == streamLegacy {
		for i := 0; i < len(c.streams); i++ {
			b := c.streams[i]
			if b == s || !b.order {
				continue
			}
			if b.queued > b.done.Load() {
				o.depend(point{b, b.queued})
			}
		}
	} else if l := c.legacy; l.queued > l.done.Load() {
		o.depend(point{l, l.queued})
	}
	s.mu.Lock()
	s.push(o)
}

func (o *op) depend(p point) {
	if o.after.s == nil {
		o.after = p
		return
	}
	o.more = append(o.more, p)
}

// push needs s.mu, and context.order if s.order.
func (s *stream) push(o *op) {
	if s.q != nil {
		s.mark(o)
	}
	if s.n == len(s.ring) {
		ring := make([]op, max(16, 2*len(s.ring)))
		for i := range s.n {
			ring[i] = s.ring[(s.head+i)&(len(s.ring)-1)]
		}
		s.ring, s.head = ring, 0
	}
	s.ring[(s.head+s.n)&(len(s.ring)-1)] = *o
	s.n++
	s.queued++
}

// start calls a goroutine unless somebody is at work or the work is held (held.go). It needs s.mu. A caller that waits
// may be there before the goroutine.
func (s *stream) start() {
	if !s.busy && !s.called && s.n > 0 && !s.hold() {
		s.called = true
		go s.run()
	}
}

// drain is the goroutine that start calls.
func (s *stream) drain() {
	defer s.ctx.guard()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.called = false
	if !s.busy {
		s.take(^uint64(0))
	}
}

// take executes operations up to number last under the busy mark, which must be free. It needs s.mu.
func (s *stream) take(last uint64) {
	s.busy = true
	defer s.leave()
	for s.n > 0 && s.done.Load() < last {
		s.next()
	}
}

// leave gives the busy mark back.
func (s *stream) leave() {
	s.busy = false
	s.start()
	if s.waiters > 0 {
		s.changed.Broadcast()
	}
}

// next executes the operation at the head of the queue. It needs s.mu, which it lets go meanwhile, and the busy mark.
func (s *stream) next() {
	o := &s.ring[s.head]
	s.mu.Unlock()
	defer s.ended()
	s.execute(o)
}

// ended takes the operation off the queue, also when a host function ends the goroutine (runtime.Goexit). A panic
// breaks the context.
func (s *stream) ended() {
	if v := recover(); v != nil {
		s.ctx.d.defective(s.ctx, defect.Of(v), "")
	}
	s.mu.Lock()
	s.ring[s.head] = op{}
	s.head = (s.head + 1) & (len(s.ring) - 1)
	s.n--
	s.done.Store(s.queued - uint64(s.n))
	if s.waiters > 0 {
		s.changed.Broadcast()
	}
}

// wait returns when operation n is done; it helps with the work when nobody else is at it.
func (s *stream) wait(n uint64) {
	if s.done.Load() >= n {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	measure := s.awaited(n)
	s.waitLocked(n)
	if measure {
		s.measured()
	}
}

func (s *stream) waitLocked(n uint64) {
	for s.done.Load() < n {
		if !s.busy && s.n > 0 {
			s.take(n)
			continue
		}
		s.waiters++
		s.changed.Wait()
		s.waiters--
	}
}

// watch is wait by who does not help with the work, and leaves when stop is set: the result is false then.
func (s *stream) watch(n uint64, stop *atomic.Bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.done.Load() < n && !stop.Load() {
		s.startHeld()
		s.waiters++
		s.changed.Wait()
		s.waiters--
	}
	return s.done.Load() >= n
}

// wake makes those who wait look again.
func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

// tail is the end of what is queued now.
func (s *stream) tail() point {
	s.mu.Lock()
	defer s.mu.Unlock()
	return point{s, s.queued}
}

func (s *stream) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.n == 0
}

// execute runs one operation in the goroutine that holds the busy mark.
func (s *stream) execute(o *op) {
	o.after.until(s.ctx)
	for _, p := range o.more {
		p.until(s.ctx)
	}
	skip := s.ctx.ended()
	if o.act != nil {
		s.ctx.d.enterWork()
		defer s.ctx.d.leaveWork()
		defer o.act.End()
		if !skip {
			s.touches(o)
		}
		s.acting = o.act
	}
	switch o.kind {
	case opRecord:
		o.rec.at.Store(s.ctx.d.now())
		if o.rec.shared != nil {
			o.rec.shared.finish(o.rec.number)
		}
	case opHost:
		if !skip {
			o.task.execute(s, false)
		}
	case opTask, opCopy, opFill:
		if addr, ok := attempt(func() { o.carryOut(s, skip) }); !ok {
			s.lost(o, addr)
		}
	}
}

// leave is the last operation of a destroyed stream.
type leave struct{}

func (leave) execute(s *stream, _ bool) { s.ctx.forget(s) }

// hostFunction is cuLaunchHostFunc.
type hostFunction struct {
	fn   driver.CUhostFn
	data uintptr
}

func (h *hostFunction) execute(s *stream, _ bool) {
	s.told()
	s.ctx.d.runHost(s.ctx, "CUhostFn", func() {
		if h.fn.Go != nil {
			h.fn.Go(h.data)
			return
		}
		s.ctx.d.callC(h.fn.C, h.data)
	})
}

// streamCallback is cuStreamAddCallback; it runs after a fault too and is told of it.
type streamCallback struct {
	fn     driver.CUstreamCallback
	handle driver.CUstream
	data   uintptr
}

func (h *streamCallback) execute(s *stream, _ bool) {
	s.told()
	status := s.ctx.fault()
	s.ctx.d.runHost(s.ctx, "CUstreamCallback", func() {
		if h.fn.Go != nil {
			h.fn.Go(h.handle, status, h.data)
			return
		}
		s.ctx.d.callC(h.fn.C, uintptr(h.handle), uintptr(status), h.data)
	})
}
