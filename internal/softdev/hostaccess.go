package softdev

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/mem"
	guard "github.com/gocuda/cuda/internal/touch"
)

// hostAccess sees loads and stores of the program in managed and pinned memory that work accesses which the program has
// not waited for. Those pages are closed (package touch) whenever no work is under way, which takes the memory itself.
// So that there is such a time the calls that give work wait until it is done, with the race check and such memory
// only.
type hostAccess struct {
	d         *Driver
	impatient atomic.Bool // work has waited for the program: calls do not wait any more

	mu    sync.Mutex
	pages *guard.Guard
	under int // operations under way
}

const (
	longestWork   = 10 * time.Second // that calls wait for
	mostExposures = 1024             // ranges of pages; each is a mapping of the process
)

// watchHost begins to see the program's accesses, when the first memory is allocated that they can be to.
func (d *Driver) watchHost(h *mem.Heap) {
	if d.check == nil || h.Kind() != mem.Managed && h.Kind() != mem.Pinned {
		return
	}
	d.watchOnce.Do(func() {
		g, err := guard.Open(d.memory.w.Base(), d.memory.w.Size())
		if err == nil { // where accesses cannot be seen they are not
			d.hostAccess.Store(&hostAccess{d: d, pages: g})
		}
	})
}

// seen takes the accesses since the last time into the timeline. It needs the lock.
func (x *hostAccess) seen() {
	if !x.pages.Closed() {
		return
	}
	for _, a := range x.pages.Take() {
		op, about := readsMemory, checker.About{What: "load by the program"}
		if a.Write {
			op, about = writesMemory, checker.About{What: "store by the program"}
		}
		x.d.check.Time().Host(about, op, a.Addr, 1)
	}
}

// close closes what is exposed now, unless work is under way. It needs the lock.
func (x *hostAccess) close() {
	if x.under > 0 {
		return
	}
	var list []guard.Range
	x.d.check.Time().Exposed(guard.PageSize, func(lo, hi uint64, writes bool) {
		if n := len(list); n > 0 && lo < list[n-1].Hi { // the page of the one before
			list[n-1].Reads = list[n-1].Reads || writes
			if lo = list[n-1].Hi; lo >= hi {
				return
			}
		}
		r, ok := x.d.memory.w.Lookup(lo)
		if !ok || r.Kind != mem.Managed && r.Kind != mem.Pinned {
			return
		}
		if n := len(list); n > 0 && list[n-1].Hi == lo && list[n-1].Reads == writes {
			list[n-1].Hi = hi
		} else if n < mostExposures {
			list = append(list, guard.Range{Lo: lo, Hi: hi, Reads: writes})
		}
	})
	x.pages.Set(list)
}

// enter opens the memory for work.
func (d *Driver) enterWork() {
	x := d.hostAccess.Load()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen()
	x.under++
	x.pages.Release()
}

// leaveWork closes what is exposed when no work is under way.
func (d *Driver) leaveWork() {
	x := d.hostAccess.Load()
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.under = max(0, x.under-1) // the first work may have begun before the memory was there
	x.close()
}

// look takes what the program has accessed so far into the timeline, before something changes there; change may be nil.
func (d *Driver) look(change func()) {
	x := d.hostAccess.Load()
	if x == nil {
		if change != nil {
			change()
		}
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.seen()
	if change != nil {
		change()
		x.close()
	}
}

// settle waits until an operation is done, so that the memory can be closed.
func (s *stream) settle(n uint64) {
	x := s.ctx.d.hostAccess.Load()
	if x == nil || x.impatient.Load() || s.done.Load() >= n {
		return
	}
	s.release()
	const pause = 50 * time.Microsecond
	for end := time.Now().Add(longestWork); s.done.Load() < n; time.Sleep(pause) {
		if time.Now().After(end) {
			x.impatient.Store(true)
			return
		}
	}
}

// unwatchHost ends it.
func (d *Driver) unwatchHost() {
	if x := d.hostAccess.Swap(nil); x != nil {
		x.mu.Lock()
		defer x.mu.Unlock()
		x.pages.Close()
	}
}
