package exec

import (
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/mem"
)

// worker is a goroutine that runs groups of a grid: the one that called Run, or one of those that it started. It keeps
// the groups that have ended for the next ones.
type worker struct {
	g      *grid
	run    func() // the goroutine's function, made once
	helps  atomic.Int32
	begun  atomic.Bool // the goroutine has worked before, for groups of this size: what it needs is there
	size   groupSize   // for which that is so
	groups []*Group
	cta    *CTA // the one under way, for faults

	// Groups are claimed in chunks, so that workers do not contend for the grid's counter.
	at, end uint64
	index   [3]uint32     // of group at
	claimed uint64        // size of the last chunk
	clock   time.Duration // when it was claimed

	blocks  BlockRunner // runs whole CTAs when whole is set
	whole   bool
	inBlock bool
	pause   func()

	spent  uint64        // warp instructions since the clock was looked at
	breath time.Duration // when it last gave way

	dozing  int           // groups one after the other that were asleep
	soonest time.Duration // when the first of them goes on
}

func (g *grid) newWorker() {
	wk := &worker{g: g}
	wk.run = wk.attend
	g.workers = append(g.workers, wk)
}

// What the goroutine of a worker other than the first is up to. The Go runtime may take longer to start it than the
// launch takes: then nobody waits for it, and the next launch that wants it finds it on its way.
const (
	helperAway   = iota // there is none
	helperCalled        // it is on its way, and not wanted any more
	helperWanted        // it is on its way
	helperBusy          // it works
)

// call wants the worker's goroutine; the launch waits for it unless it is dismissed.
func (wk *worker) call() {
	wk.g.wg.Add(1)
	if wk.helps.Swap(helperWanted) == helperAway {
		go wk.run()
	}
}

// groupSize is what a group needs.
type groupSize struct {
	ctas, warps uint64
	shared      uint32
}

func (l *Launch) groupSize() groupSize {
	s := groupSize{1, l.warps(), l.Shared}
	for _, n := range l.Cluster {
		s.ctas *= uint64(max(n, 1))
	}
	return s
}

// dismiss says whether the goroutine has not begun, and needs not any more. Its first time is waited for, so that
// launches after the first one of blocks so large allocate nothing.
func (wk *worker) dismiss() bool {
	return wk.begun.Load() && wk.helps.CompareAndSwap(helperWanted, helperCalled)
}

// attend is the goroutine. It is a boundary for what work does not catch itself.
func (wk *worker) attend() {
	works := false
	defer func() {
		if v := recover(); v != nil {
			wk.g.fail(wk.g.internal(nil, defect.Of(v)))
		}
		if works {
			wk.helps.Store(helperAway)
			wk.g.wg.Done()
		}
	}()
	for !works {
		switch {
		case wk.helps.CompareAndSwap(helperWanted, helperBusy):
			works = true
			wk.work()
		case wk.helps.CompareAndSwap(helperCalled, helperAway):
			return
		}
	}
}

// prepare makes the worker ready for a launch with groups of a size.
func (wk *worker) prepare(n groupSize) {
	if s := wk.size; n.ctas > s.ctas || n.warps > s.warps || n.shared > s.shared {
		wk.size = groupSize{max(n.ctas, s.ctas), max(n.warps, s.warps), max(n.shared, s.shared)}
		wk.begun.Store(false)
	}
	wk.at, wk.end, wk.claimed = 0, 0, 0
	wk.spent, wk.breath = 0, 0
	wk.whole, wk.inBlock = false, false
}

// work runs groups until none is left for it.
func (wk *worker) work() {
	// A bad address in a kernel becomes a panic of this goroutine instead of the process's end.
	old := debug.SetPanicOnFault(true)
	defer wk.leave(old)
	wk.open()
	var had *Group
	for {
		gr := wk.take(had)
		if gr == nil {
			if !wk.begun.Load() {
				wk.warm()
				wk.begun.Store(true)
			}
			return
		}
		if gr.wake != 0 {
			wk.doze(gr)
		}
		done, err := wk.turn(gr)
		switch {
		case err != nil:
			wk.g.fail(err)
			return
		case done:
			wk.retire(gr)
			had = nil
		default:
			had = gr
			runtime.Gosched()
		}
	}
}

// warmSize is up to which size of a group's frames memory is made for it ahead.
const warmSize = 1 << 20

// warm makes the memory for a group of the launch unless the worker has run one.
func (wk *worker) warm() {
	l := wk.g.l
	if n := len(wk.groups); wk.whole || n > 0 && wk.groups[n-1].CTAs[0].serial == wk.g.serial ||
		l.needOfCTA()*wk.size.ctas > warmSize {
		return // it is there, or too much
	}
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(fault); !ok {
				panic(defect.Of(r)) // keeps the place
			}
			// There is no memory now; it is for the group that needs it to say so.
		}
	}()
	gr := wk.group()
	gr.begin(wk.g.serial, [3]uint32{})
	c, _ := l.Code.(Warmer)
	for _, cta := range gr.CTAs {
		for _, w := range cta.Warps {
			if c != nil {
				c.Warm(w)
			}
			w.drop(w.splits[0]) // as if it had ended
		}
	}
	wk.groups = append(wk.groups, gr)
}

// group takes a group that has ended, or makes one.
func (wk *worker) group() *Group {
	if n := len(wk.groups); n > 0 {
		gr := wk.groups[n-1]
		wk.groups = wk.groups[:n-1]
		return gr
	}
	return &Group{grid: wk.g}
}

// leave ends work; a panic becomes the launch's error.
func (wk *worker) leave(old bool) {
	r := recover()
	defer debug.SetPanicOnFault(old)
	if err := wk.ended(r); err != nil {
		wk.g.fail(err)
	}
}

// ended gives up what the worker has for the launch. It makes an error of r, what work panicked with or nil, or of a
// panic of its own, which is told even where the kernel has faulted.
func (wk *worker) ended(r any) (err error) {
	defer func() {
		if v := recover(); v != nil {
			if e := wk.g.recovered(nil, v); err == nil || internal(e) {
				err = e
			}
		}
	}()
	if wk.whole {
		defer wk.blocks.Close()
		defer wk.blocks.Publish() // its memory may have gone by then
		if addr, ok := mem.Faulted(r); ok && wk.inBlock && wk.g.l.Mem.reaches(addr) {
			return wk.blockFault(addr)
		}
	}
	if r != nil {
		return wk.g.recovered(wk.cta, r)
	}
	return nil
}

// take returns the group to run next: a new one while fewer than limit are resident, else the one that waits longest.
// had is a group that had its turn and has not ended. A worker that finds nothing can leave: what is left has workers.
func (wk *worker) take(had *Group) *Group {
	g := wk.g
	if g.failed.Load() {
		return nil
	}
	for {
		if had == nil && g.waiting.Load() == 0 {
			if wk.whole {
				if gr, more := wk.runBlocks(); gr != nil || more && g.failed.Load() {
					return gr
				}
			} else if wk.at < wk.end || wk.claim() {
				return wk.start()
			}
		}
		gr, fresh := wk.queued(had)
		switch {
		case !fresh:
			return gr
		case !wk.whole:
			return wk.start()
		}
		if gr := wk.runBlock(1); gr != nil || g.failed.Load() {
			return gr
		}
		had = nil
	}
}

// queued puts a group that had its turn in the queue. It returns the next group of the queue, nil when there is none,
// or says that a fresh one is to be started.
func (wk *worker) queued(had *Group) (gr *Group, fresh bool) {
	g := wk.g
	if had != nil && g.later > 0 && wk == g.workers[0] {
		g.reinforce()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if next := g.next.Load(); had == nil || next != g.seen {
		g.stirred, g.seen = g.now(), next // a group has ended
	}
	if had != nil {
		g.queue = append(g.queue, had)
		g.waiting.Add(1)
		// It may wait for a CTA that has not started.
		if g.limit < g.most && (wk.at < wk.end || g.next.Load() < g.total) {
			switch {
			case had.waits:
				g.limit++
				g.stirred = g.now()
			case g.now()-g.stirred > patience:
				g.limit = min(2*g.limit, g.most)
				g.stirred = g.now()
			}
		}
		if had.waits {
			g.careful.Store(true)
		}
	}
	switch {
	case len(g.queue)+g.running-1 < g.limit && (wk.at < wk.end || wk.claim()):
		return nil, true
	case len(g.queue) > 0:
		gr = g.queue[0]
		copy(g.queue, g.queue[1:])
		g.queue[len(g.queue)-1] = nil
		g.queue = g.queue[:len(g.queue)-1]
		g.waiting.Add(-1)
		return gr, false
	}
	g.running--
	return nil, false
}

// Groups are claimed for chunkTime at once, by the time that the last chunk took; small grids one by one.
const (
	chunkTime  = 40 * time.Microsecond
	smallGrid  = 16
	chunkShare = 4 // a chunk is at most the worker's share of what is left, divided by this
)

// claim takes the next chunk of groups; false when there are none.
func (wk *worker) claim() bool {
	g := wk.g
	n := uint64(1)
	if g.total > smallGrid && !g.careful.Load() {
		now := g.now()
		if wk.claimed > 0 {
			pace := max(1, uint64(now-wk.clock)/wk.claimed)
			n = min(uint64(chunkTime)/pace, 4*wk.claimed)
			if next := g.next.Load(); next < g.total {
				n = min(n, (g.total-next)/uint64(chunkShare*g.limit))
			}
			n = max(n, 1)
		}
		wk.claimed, wk.clock = n, now
		if wk.whole {
			wk.breathe()
		}
		if g.later > 0 && now-g.began > soloTime && wk == g.workers[0] {
			g.reinforce()
		}
	}
	at := g.next.Add(n) - n
	if at >= g.total {
		return false
	}
	wk.at, wk.end = at, min(at+n, g.total)
	x, y := uint64(g.groups[0]), uint64(g.groups[1])
	wk.index = [3]uint32{uint32(at % x), uint32(at / x % y), uint32(at / x / y)}
	return true
}

// start begins the next group of the chunk.
func (wk *worker) start() *Group {
	g := wk.g
	gr := wk.group()
	gr.begin(g.serial, g.inOrder(wk.at, wk.index))
	wk.advance()
	return gr
}

// advance goes on to the next group of the chunk.
func (wk *worker) advance() {
	g := wk.g
	wk.at++
	if wk.index[0]++; wk.index[0] == g.groups[0] {
		wk.index[0] = 0
		if wk.index[1]++; wk.index[1] == g.groups[1] {
			wk.index[1] = 0
			wk.index[2]++
		}
	}
}

// skip goes n groups on.
func (wk *worker) skip(n uint64) {
	for range n {
		wk.advance()
	}
}

// retire keeps a group that has ended. Groups that several workers had in turn end up with the last one.
func (wk *worker) retire(gr *Group) {
	if ctr := gr.launch.Counters; ctr != nil {
		for _, c := range gr.CTAs {
			for _, w := range c.Warps {
				ctr.WarpInstructions.Add(w.Instr)
				ctr.ThreadInstructions.Add(w.Threads)
				ctr.Divergences.Add(w.Diverged)
			}
		}
	}
	wk.groups = append(wk.groups, gr)
}

// A worker looks at the clock after breathEvery warp instructions, and lets other goroutines run when it has not for
// breathTime.
const (
	breathEvery = 1 << 15
	breathTime  = 500 * time.Microsecond
)

// breathe gives way to the Go scheduler when that is due.
func (wk *worker) breathe() {
	wk.spent = 0
	g := wk.g
	if g.later > 0 && wk == g.workers[0] {
		g.reinforce() // the launch takes longer than the last one did
	}
	switch now := g.now(); {
	case wk.breath == 0:
		wk.breath = now
	case now-wk.breath > breathTime:
		if wk.whole {
			wk.blocks.Publish()
		}
		runtime.Gosched()
		wk.breath = g.now()
	}
}
