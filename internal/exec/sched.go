package exec

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
)

// Group is a set of CTAs that are resident together: a cluster, or a single CTA.
type Group struct {
	launch  *Launch
	grid    *grid
	CTAs    []*CTA
	consts  []unsafe.Pointer
	cluster bool
	Dims    [3]uint32 // cluster dimensions, 1,1,1 without one
	Index   [3]uint32 // %clusterid

	waits bool // its last turn ended with nothing left to do but to look whether others have come

	// cluster barrier
	live    int // threads that have not exited
	arrived int // of them in the current phase
}

// grid is the state of a launch while it runs.
type grid struct {
	l       *Launch
	dims    [3]uint32 // cluster dimensions
	groups  [3]uint32 // groups in each direction
	total   uint64
	mu      sync.Mutex
	next    uint64    // first group not started
	queue   []*Group  // started, waiting for a turn
	running int       // groups that have a worker
	limit   int       // groups that may be resident; never below the number of workers
	most    int       // what limit may grow to
	stirred time.Time // when a group ended or was let in last
	failed  atomic.Bool
	barrier gridBarrier
	err     error
	consts  []unsafe.Pointer // constant pools by CTA rank
}

// Run executes a launch to its end. A kernel that breaks gives a *Fault.
func Run(l *Launch) error {
	g := &grid{l: l, dims: [3]uint32{1, 1, 1}}
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
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	if uint64(workers) > g.total {
		workers = int(g.total)
	}
	g.limit = workers
	if l.Cooperative {
		g.limit = int(g.total)
	}
	g.most = max(g.limit, l.resident()/int(g.dims[0]*g.dims[1]*g.dims[2]))
	g.stirred = time.Now()
	g.rankConsts()
	if workers == 1 {
		g.work()
		return g.err
	}
	var wg sync.WaitGroup
	for i := 1; i < workers; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			g.work()
		}()
	}
	g.work()
	wg.Wait()
	return g.err
}

// rankConsts makes the constant pools of the cluster's CTAs. An address of a shared variable has the CTA's rank in bits 24 and up.
func (g *grid) rankConsts() {
	k := g.l.Code.Kernel()
	n := g.dims[0] * g.dims[1] * g.dims[2]
	g.consts = []unsafe.Pointer{g.l.Consts}
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

// resident is how many CTAs the device holds at once: a kernel whose CTAs wait for more than these never ends on a device either.
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

func (g *grid) work() {
	// A bad address in a kernel becomes a panic of this goroutine instead of the process's end.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	var ar arena
	var gr *Group // had a turn
	done := false // and has ended
	for {
		var index uint64
		var ok bool
		gr, index, ok = g.take(gr, done)
		if !ok {
			return
		}
		if gr == nil {
			gr = g.start(&ar, index)
		}
		var err error
		done, err = g.runGroup(gr)
		if err != nil {
			g.mu.Lock()
			if g.err == nil {
				g.err = err
			}
			g.mu.Unlock()
			g.failed.Store(true)
			return
		}
		if done {
			for _, c := range gr.CTAs {
				c.recycle(&ar)
			}
		} else {
			runtime.Gosched()
		}
	}
}

// take puts a group that had its turn back in the queue unless it has ended, and returns the next one to run: a new one, by its index, while fewer
// than limit are resident, else the one that waits longest. A worker that finds nothing can leave: what is left has workers.
func (g *grid) take(had *Group, ended bool) (gr *Group, index uint64, ok bool) {
	if g.failed.Load() {
		return nil, 0, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case had == nil:
	case ended:
		g.running--
		g.stirred = time.Now()
	default:
		g.running--
		g.queue = append(g.queue, had)
		// It may wait for a CTA that has not started.
		if g.limit < g.most && g.next < g.total {
			switch {
			case had.waits:
				g.limit++
				g.stirred = time.Now()
			case time.Since(g.stirred) > patience:
				g.limit = min(2*g.limit, g.most)
				g.stirred = time.Now()
			}
		}
	}
	switch {
	case g.next < g.total && len(g.queue)+g.running < g.limit:
		index = g.next
		g.next++
	case len(g.queue) > 0:
		gr = g.queue[0]
		copy(g.queue, g.queue[1:])
		g.queue = g.queue[:len(g.queue)-1]
	default:
		return nil, 0, false
	}
	g.running++
	return gr, index, true
}

func (g *grid) start(ar *arena, i uint64) *Group {
	n := [3]uint32{uint32(i % uint64(g.groups[0])), uint32(i / uint64(g.groups[0]) % uint64(g.groups[1])), uint32(i / uint64(g.groups[0]) / uint64(g.groups[1]))}
	gr := &Group{launch: g.l, grid: g, Dims: g.dims, Index: n, cluster: g.l.Cluster[0] != 0, consts: g.consts}
	rank := uint32(0)
	for z := uint32(0); z < g.dims[2]; z++ {
		for y := uint32(0); y < g.dims[1]; y++ {
			for x := uint32(0); x < g.dims[0]; x++ {
				c := gr.newCTA(ar, [3]uint32{n[0]*g.dims[0] + x, n[1]*g.dims[1] + y, n[2]*g.dims[2] + z}, rank)
				gr.CTAs = append(gr.CTAs, c)
				gr.live += int(c.Threads)
				rank++
			}
		}
	}
	return gr
}

// runGroup runs a group for one turn. done says that all its threads have ended.
func (g *grid) runGroup(gr *Group) (done bool, err error) {
	var cur *CTA
	defer func() {
		if r := recover(); r != nil {
			err = g.recovered(cur, r)
		}
	}()
	gr.waits = false
	for round := 0; round < roundsPerTurn; round++ {
		ran, live, waits := false, false, true
		for _, c := range gr.CTAs {
			if c.live == 0 {
				continue
			}
			live = true
			cur = c
			r, w := c.run()
			ran, waits = ran || r, waits && w
		}
		if !live {
			return true, nil
		}
		if !ran {
			if gr.finished() {
				return true, nil
			}
			w := cur.Warps[0]
			for _, x := range cur.Warps {
				if x.Live != 0 {
					w = x
					break
				}
			}
			f := w.fault(FaultDeadlock, -1, "every thread of the block waits at a barrier or for other lanes: "+cur.waits())
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
	if f, ok := r.(fault); ok {
		return f.Fault
	}
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
	if addr, ok := mem.Faulted(r); ok && w != nil {
		if l, ok := g.l.Code.(FaultLocator); ok {
			l.Locate(w, addr)
		}
		f := w.fault(FaultAddress, w.Lane, "")
		f.Addr, f.HasAddr = addr, true
		return f
	}
	if w != nil {
		f := w.fault(FaultInternal, -1, fmt.Sprint(r))
		if e, ok := r.(error); ok {
			var re runtime.Error
			if errors.As(e, &re) {
				f.Text += "\n" + string(debug.Stack())
			}
		}
		return f
	}
	return &Fault{Kind: FaultInternal, Kernel: g.l.Code.Kernel().Name, Text: fmt.Sprint(r)}
}
