package softdev

import (
	"slices"
	"sync"
	"time"

	"github.com/gocuda/cuda/internal/defect"
)

// Held work. Programs that wait for a stream as soon as they have given it work are the ones to do that work: calling a
// goroutine for it wakes another thread, which takes longer than many kernels do, and then the two are in each other's
// way. So a stream whose work has always been short and waited for at once keeps what comes for the one who waits.
// Whether it is so is measured, now and then. When the program does something else for once, a sweep comes by and calls
// the goroutine after all; so does whoever asks whether the work is done.
const (
	// "at once": between the end of a submission and the beginning of the wait for it
	soonTime  = 10 * time.Microsecond
	longTime  = 100 * time.Microsecond // work that takes longer is worth another thread, which can help with it
	soonMost  = 4                      // measurements in a row after which work is held
	soonEvery = 8                      // submissions for a measurement
	heldMost  = 4                      // operations that are held; more are not waited for one by one
	sweepTime = 500 * time.Microsecond // between sweeps; work is held for less than two
	sweepIdle = 20                     // sweeps without new work after which a stream is not looked at any more
)

// holding is what a stream knows of that; stream.mu guards it.
type holding struct {
	soon   int    // measurements in a row that found a wait at once, and the work short
	stamp  int64  // end of the submission that is measured, d.now; 0: none is
	number uint64 // the operation's
	listed bool   // sweeps come by
	seen   uint64 // number of the operation at the head of the queue when the last sweep came by
	last   uint64 // number of the newest one then
	idle   int    // sweeps since
}

// hold says whether what is queued is kept for the one who waits. It needs s.mu.
func (s *stream) hold() bool {
	h := &s.holding
	if h.soon < soonMost {
		return false
	}
	if s.n > heldMost {
		h.soon = 0
		return false
	}
	if !h.listed {
		h.listed, h.seen, h.last, h.idle = true, 0, s.queued, 0
		s.ctx.d.sweeper.add(s)
	}
	return true
}

// submitted begins a measurement, if it is time for one. It needs s.mu.
func (s *stream) submitted() {
	if s.queued%soonEvery == 0 {
		s.holding.stamp, s.holding.number = s.ctx.d.now(), s.queued
	}
}

// awaited says whether the wait for operation n, which is not done yet, is one that is measured. It needs s.mu, as does
// measured, which is called at the wait's end.
func (s *stream) awaited(n uint64) bool {
	h := &s.holding
	if h.stamp == 0 || n != h.number {
		return false
	}
	if s.ctx.d.now()-h.stamp > int64(soonTime) {
		h.soon, h.stamp = 0, 0
		return false
	}
	return true
}

func (s *stream) measured() {
	h := &s.holding
	if s.ctx.d.now()-h.stamp > int64(longTime) {
		h.soon = 0
	} else {
		h.soon++
	}
	h.stamp = 0
}

// release calls a goroutine for work that is held.
func (s *stream) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.startHeld()
}

// startHeld is start for work that may be held, too. It needs s.mu.
func (s *stream) startHeld() {
	if !s.busy && !s.called && s.n > 0 {
		s.holding.soon = 0
		s.start()
	}
}

// sweeper looks after streams that may hold work. Its goroutine runs as long as there are any.
type sweeper struct {
	d       *Driver
	mu      sync.Mutex // behind stream.mu
	streams []*stream
	running bool

	// What the goroutine needs is made with the driver: a launch that starts it allocates nothing.
	loop  func()
	timer *time.Timer
	list  []*stream
}

func (w *sweeper) init(d *Driver) {
	w.d = d
	w.streams, w.list = make([]*stream, 0, 16), make([]*stream, 0, 16)
	w.loop, w.timer = w.run, time.NewTimer(time.Hour)
	w.timer.Stop()
}

// add is called with s.mu held.
func (w *sweeper) add(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams = append(w.streams, s)
	if w.running {
		return
	}
	w.running = true
	w.timer.Reset(sweepTime)
	go w.loop()
}

func (w *sweeper) remove(s *stream) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.streams = slices.DeleteFunc(w.streams, func(o *stream) bool { return o == s })
}

func (w *sweeper) run() {
	defer w.stopped()
	for {
		<-w.timer.C
		if !w.look() {
			return
		}
		for _, s := range w.list {
			w.visit(s)
		}
		clear(w.list)
		w.timer.Reset(sweepTime)
	}
}

// visit is a stream's sweep.
func (w *sweeper) visit(s *stream) {
	defer s.ctx.guard()
	s.sweep(w)
}

// look makes the list of streams for a sweep; without any there is none.
func (w *sweeper) look() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.running = len(w.streams) > 0
	w.list = append(w.list[:0], w.streams...)
	return w.running
}

// stopped ends the goroutine. After a panic the next stream that holds work starts another.
func (w *sweeper) stopped() {
	if v := recover(); v != nil {
		w.mu.Lock()
		w.running = false
		w.mu.Unlock()
		w.d.defective(nil, defect.Of(v), "")
	}
}

// sweep calls the goroutine for work that has been held since the last sweep, and takes the stream off the list when
// nothing has come for long.
func (s *stream) sweep(w *sweeper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := &s.holding
	head := uint64(0)
	if s.n > 0 && !s.busy && !s.called {
		head = s.queued - uint64(s.n) + 1
		if head == h.seen {
			h.soon = 0
			s.start()
		}
	}
	h.seen = head
	if s.queued != h.last {
		h.last, h.idle = s.queued, 0
		return
	}
	if h.idle++; h.idle >= sweepIdle && s.n == 0 {
		w.remove(s)
		h.listed = false
	}
}
