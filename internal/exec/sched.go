package exec

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
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
	cond    *sync.Cond
	next    uint64   // first group not started
	queue   []*Group // started, waiting for a turn
	running int
	stalled int // groups in the queue that used a whole turn without ending
	limit   int // groups that may be resident
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
	g.rankConsts()
	g.cond = sync.NewCond(&g.mu)
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

// residentMax bounds the groups that are let in because the running ones do not end.
const residentMax = 1 << 14

func (g *grid) work() {
	// A bad address in a kernel becomes a panic of this goroutine instead of the process's end.
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	var ar arena
	for !g.failed.Load() {
		gr, ok := g.take(&ar)
		if !ok {
			return
		}
		done, err := g.runGroup(gr)
		g.mu.Lock()
		g.running--
		switch {
		case err != nil:
			if g.err == nil {
				g.err = err
			}
			g.failed.Store(true)
			g.cond.Broadcast()
			g.mu.Unlock()
			return
		case done:
			g.mu.Unlock()
			for _, c := range gr.CTAs {
				c.recycle(&ar)
			}
			g.cond.Signal()
		default:
			g.queue = append(g.queue, gr)
			if !g.l.Cooperative && g.limit < residentMax {
				g.limit++ // it may wait for a CTA that has not started
			}
			g.cond.Signal()
			g.mu.Unlock()
			runtime.Gosched()
		}
	}
}

// take returns the next group to run: a new one while fewer than limit are resident, else the one that waits longest.
func (g *grid) take(ar *arena) (*Group, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for {
		if g.failed.Load() {
			return nil, false
		}
		if g.next < g.total && len(g.queue)+g.running < g.limit {
			i := g.next
			g.next++
			g.running++
			return g.start(ar, i), true
		}
		if len(g.queue) > 0 {
			gr := g.queue[0]
			copy(g.queue, g.queue[1:])
			g.queue = g.queue[:len(g.queue)-1]
			g.running++
			return gr, true
		}
		if g.running == 0 || g.next >= g.total {
			return nil, false
		}
		g.cond.Wait()
	}
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
	for round := 0; round < roundsPerTurn; round++ {
		ran, live := false, false
		for _, c := range gr.CTAs {
			if c.live == 0 {
				continue
			}
			live = true
			cur = c
			if c.run() {
				ran = true
			}
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
