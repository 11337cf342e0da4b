package exec

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
)

// Group is a set of CTAs that are resident together: a cluster, or a single CTA.
type Group struct {
	launch  *Launch
	grid    *grid
	CTAs    []*CTA
	all     []*CTA // those of earlier launches too; CTAs is its beginning
	consts  []unsafe.Pointer
	cluster bool
	check   *checker.Cluster
	Dims    [3]uint32 // cluster dimensions, 1,1,1 without one
	Index   [3]uint32 // %clusterid

	waits bool          // its last turn ended with nothing left to do but to look whether others have come
	wake  time.Duration // or with all threads asleep or waiting for those that are, until then; else 0

	// cluster barrier
	live    int // threads that have not exited
	arrived int // of them in the current phase

	phases    uint64 // of the cluster's barrier that have ended
	handshake bool   // CTAs tell each other by mbarriers or strong operations how far they are
}

// grid is the state of a launch while it runs. It is used again for later launches of the same kernel (Pool).
type grid struct {
	l       *Launch
	dims    [3]uint32 // cluster dimensions
	groups  [3]uint32 // groups in each direction
	total   uint64
	next    atomic.Uint64 // first group that no worker has claimed
	waiting atomic.Int32  // groups in queue
	careful atomic.Bool   // groups wait for each other: none is claimed before its turn
	failed  atomic.Bool
	mu      sync.Mutex
	queue   []*Group      // started, waiting for a turn
	running int           // workers
	ends    sync.Map      // exitPlace to whether threads that exit there have worked
	limit   int           // groups that may be resident; never below the number of workers
	most    int           // what limit may grow to
	stirred time.Duration // when a group ended or was let in last, as far as it was noticed
	seen    uint64        // value of next then
	err     error
	barrier gridBarrier
	consts  []unsafe.Pointer // constant pools by CTA rank
	workers []*worker
	later   int // workers that start when the launch turns out to be long; the caller's goroutine alone uses it
	wg      sync.WaitGroup
	epoch   time.Time // times are counted from it
	account *account  // of thread memory; nil without a bound
	serial  uint64    // of the launch
	began   time.Duration
}

// Run executes a launch to its end. A kernel that breaks gives a *Fault.
func Run(l *Launch) error {
	g := l.Pool.grid()
	g.l = l
	g.serial++
	g.dims = [3]uint32{1, 1, 1}
	if l.Cluster[0] != 0 {
		g.dims = l.Cluster
	}
	g.total = 1
	for i := range g.groups {
		if l.Grid[i] == 0 || l.Block[i] == 0 || l.Grid[i]%g.dims[i] != 0 {
			return fmt.Errorf("exec: grid %v, block %v, cluster %v do not fit together", l.Grid, l.Block, l.Cluster)
		}
		g.groups[i] = l.Grid[i] / g.dims[i]
		g.total *= uint64(g.groups[i])
	}
	workers := l.Workers
	switch {
	case l.Check != nil, l.Init != nil:
		workers = 1 // the checker follows one access after another
	case workers <= 0:
		workers = runtime.GOMAXPROCS(0)
	}
	most := g.total
	if n := l.fits(); n > 0 {
		most = min(most, n)
	}
	workers = int(min(uint64(workers), most))
	g.openAccount(l.Threads)
	g.limit = workers
	if l.Cooperative {
		g.limit = int(g.total)
	}
	g.most = max(g.limit, int(min(uint64(l.resident()/int(g.dims[0]*g.dims[1]*g.dims[2])), most)))
	g.next.Store(0)
	g.seen = 0
	g.careful.Store(l.Cooperative)
	g.barrier.reset()
	g.rankConsts()
	size := l.groupSize()
	for len(g.workers) < workers {
		g.newWorker()
	}
	for _, wk := range g.workers[:workers] {
		wk.prepare(size)
	}
	g.running, g.later = 1, workers-1
	g.work(workers)
	if g.err != nil {
		return g.err
	}
	if workers > 1 {
		l.Pool.timed(g.now()-g.began, g.total, workers-g.later)
	}
	l.Pool.keep(g)
	return nil
}

// work has the workers run the groups. When it returns, also by a panic, none is at work any more.
func (g *grid) work(workers int) {
	returned := false
	defer g.join(workers, &returned)
	if workers > 1 {
		g.began = g.now()
		if !g.l.Pool.short(g.total) {
			g.reinforce()
		}
	}
	g.workers[0].work()
	returned = true
}

// join waits for the workers that were called. What has panicked is not worth going on with.
func (g *grid) join(workers int, returned *bool) {
	if !*returned {
		g.failed.Store(true)
	}
	if workers == 1 || g.later != 0 {
		return
	}
	for _, wk := range g.workers[1:workers] {
		if wk.dismiss() {
			g.wg.Done()
			g.later++ // for the account of what the launch took
		}
	}
	g.wg.Wait()
}

func (g *grid) now() time.Duration { return time.Since(g.epoch) }

// reinforce starts the workers that were held back.
func (g *grid) reinforce() {
	n := g.later
	if n == 0 {
		return
	}
	g.later = 0
	g.mu.Lock()
	g.running += n
	g.mu.Unlock()
	for _, wk := range g.workers[1 : n+1] {
		wk.call()
	}
}

// rankConsts makes the constant pools of the cluster's CTAs. An address of a shared variable has the CTA's rank in bits
// 24 and up.
func (g *grid) rankConsts() {
	k := g.l.Code.Kernel()
	n := g.dims[0] * g.dims[1] * g.dims[2]
	g.consts = append(g.consts[:0], g.l.Consts)
	for r := uint32(1); r < n; r++ {
		words := make([]uint64, k.ConstSize/8+16)
		p := unsafe.Pointer(unsafe.SliceData(words))
		copy(unsafe.Slice((*byte)(p), k.ConstSize), unsafe.Slice((*byte)(g.l.Consts), k.ConstSize))
		for i := range k.Consts {
			c := &k.Consts[i]
			if c.Var == nil || c.Var.Space != "shared" {
				continue
			}
			for l := uint32(0); l < 32; l++ {
				switch c.Class {
				case ir.W32:
					*(*uint32)(unsafe.Add(p, c.Off+4*l)) += r << 24
				case ir.W64:
					*(*uint64)(unsafe.Add(p, c.Off+8*l)) += uint64(r) << 24
				}
			}
		}
		g.consts = append(g.consts, p)
	}
}

// roundsPerTurn is how often a group's warps are gone through before another resident group gets the worker.
const roundsPerTurn = 256

// patience is how long no group may end before as many again are let in although none was seen to wait.
const patience = 500 * time.Millisecond

// resident is how many CTAs the device holds at once: a kernel whose CTAs wait for more than these never ends on a
// device either.
func (l *Launch) resident() int {
	d := &l.Device
	if d.SMs == 0 {
		return 1 << 14
	}
	n := max(d.CTAsPerSM, 1)
	if d.WarpsPerSM > 0 {
		n = min(n, d.WarpsPerSM/((l.Block[0]*l.Block[1]*l.Block[2]+31)/32))
	}
	if d.MaxSharedSM > 0 {
		n = min(n, d.MaxSharedSM/(ir.ReservedShared+l.Code.Kernel().SharedSize+l.Shared))
	}
	return int(d.SMs * max(n, 1))
}

// fail notes the launch's error, the first; but a defect of the software device is told even where a kernel has
// faulted.
func (g *grid) fail(err error) {
	g.mu.Lock()
	if g.err == nil || internal(err) && !internal(g.err) {
		g.err = err
	}
	g.mu.Unlock()
	g.failed.Store(true)
}

// internal says whether an error is a defect of the software device.
func internal(err error) bool {
	f, ok := err.(*Fault)
	return ok && f.Kind == FaultInternal
}

// turn runs a group until all its threads have ended, it waits for others, or its time is over.
func (wk *worker) turn(gr *Group) (done bool, err error) {
	g := wk.g
	gr.waits, gr.wake = false, 0
	for round := 0; round < roundsPerTurn; round++ {
		ran, live, waits, wake := false, false, true, time.Duration(0)
		for _, c := range gr.CTAs {
			if c.live == 0 {
				continue
			}
			live = true
			wk.cta = c
			r, w := c.run(wk)
			ran, waits = ran || r, waits && w
			if c.wake != 0 && (wake == 0 || c.wake < wake) {
				wake = c.wake
			}
		}
		if !live || gr.finished() {
			return true, nil
		}
		if !ran && wake != 0 {
			gr.waits, gr.wake = true, wake
			return false, nil
		}
		if !ran {
			c := wk.cta
			w := c.Warps[0]
			for _, x := range c.Warps {
				if x.Live != 0 {
					w = x
					break
				}
			}
			if wk.g.l.Synchronization {
				gr.checkDeadlock()
			}
			f := w.fault(FaultDeadlock, -1, "every thread of the block waits at a barrier or for other lanes: "+
				c.waits())
			return false, f
		}
		if waits {
			gr.waits = true
			return false, nil
		}
		if g.failed.Load() {
			return false, nil
		}
	}
	return false, nil
}

func (gr *Group) finished() bool {
	for _, c := range gr.CTAs {
		if c.live != 0 {
			return false
		}
	}
	return true
}

// waits describes what a CTA's warps wait for.
func (c *CTA) waits() string {
	s := ""
	n := 0
	for _, w := range c.Warps {
		for _, sp := range w.splits {
			if n++; n > 4 {
				return s + ", ..."
			}
			if s != "" {
				s += "; "
			}
			what := "lanes of its member mask"
			switch sp.wait {
			case waitBarrier:
				what = fmt.Sprintf("barrier %d", sp.barrier)
			case waitCluster:
				what = "the cluster barrier"
			}
			line := int32(0)
			if int(sp.PC) < len(sp.Act.Func.Ops) {
				line = sp.Act.Func.Ops[sp.PC].Line
			}
			s += fmt.Sprintf("warp %d lanes %08x for %s near PTX line %d", w.Index, sp.Mask, what, line)
		}
	}
	return s
}

// recovered turns a panic of a worker into the launch's error.
func (g *grid) recovered(c *CTA, r any) error {
	w := warpOf(c)
	err := g.faultOf(w, r)
	if f, ok := err.(*Fault); ok && w != nil && g.l.Dump != nil {
		g.l.Dump(f, w)
	}
	return err
}

// warpOf is the warp of a block that is under way, nil when none is known.
func warpOf(c *CTA) *Warp {
	var w *Warp
	if c != nil {
		for _, x := range c.Warps {
			if x.Cur != nil {
				w = x
			}
		}
		if c.Launch != nil && c.current != nil {
			w = c.current
		}
	}
	return w
}

// faultOf makes an error of a panic.
func (g *grid) faultOf(w *Warp, r any) error {
	if f, ok := r.(fault); ok {
		return f.Fault
	}
	if addr, ok := mem.Faulted(r); ok && g.l.Mem.reaches(addr) {
		if w == nil {
			return &Fault{Kind: FaultAddress, Kernel: g.l.Code.Kernel().Name, Addr: addr, HasAddr: true}
		}
		located := false
		if l, ok := g.l.Code.(FaultLocator); ok {
			addr, located = l.Locate(w, addr)
		}
		return w.missed(addr, located)
	}
	return g.internal(w, defect.Of(r))
}

// internal is the fault of a defect, at the warp's operation if there is one.
func (g *grid) internal(w *Warp, e *defect.Error) (f *Fault) {
	defer func() {
		if recover() != nil { // the warp is in no state to be asked
			f = &Fault{Kind: FaultInternal, Kernel: g.l.Code.Kernel().Name, Defect: e}
		}
	}()
	f = w.fault(FaultInternal, -1, "")
	f.Defect = e
	return f
}
