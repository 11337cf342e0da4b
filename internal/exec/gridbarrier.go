package exec

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// gridBarrier is the barrier over all threads of a cooperative grid, or of several (cudaCGSynchronize). Threads that
// have exited count as arrived.
type gridBarrier struct {
	mu      sync.Mutex
	arrived uint64
	exited  uint64
	phase   atomic.Uint32
}

func (b *gridBarrier) reset() {
	b.arrived, b.exited = 0, 0
	b.phase.Store(0)
}

// add counts threads and ends the phase when all of total are there.
func (b *gridBarrier) add(arrived, exited, total uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.arrived += arrived
	b.exited += exited
	if b.arrived > 0 && b.arrived+b.exited == total {
		b.arrived = 0
		b.phase.Add(1)
	}
}

// threads is how many the grid has.
func (l *Launch) threads() uint64 {
	return uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) *
		uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
}

// MultiGrid joins the grids of one launch on several devices (cuLaunchCooperativeKernelMultiDevice): their threads have
// a barrier in common. Each grid has to End.
type MultiGrid struct {
	threads uint64 // of each grid
	barrier gridBarrier
	left    []atomic.Int64 // threads of each grid that have not exited
}

// NewMultiGrid joins so many grids of so many threads each.
func NewMultiGrid(grids int, threads uint64) *MultiGrid {
	m := &MultiGrid{threads: threads, left: make([]atomic.Int64, grids)}
	for i := range m.left {
		m.left[i].Store(int64(threads))
	}
	return m
}

func (m *MultiGrid) total() uint64 { return m.threads * uint64(len(m.left)) }

// exit counts threads of a grid that end.
func (m *MultiGrid) exit(rank, n int) {
	m.left[rank].Add(int64(-n))
	m.barrier.add(0, uint64(n), m.total())
}

// End is for a grid that has ended, or will not begin: however it did, the others do not wait for it.
func (m *MultiGrid) End(rank int) {
	if n := m.left[rank].Swap(0); n > 0 {
		// Threads that a fault has ended while they waited have arrived in this phase and count once more: what comes
		// of the others' synchronisation then is as undefined as the memory that the grid leaves.
		m.barrier.mu.Lock()
		defer m.barrier.mu.Unlock()
		m.barrier.exited += uint64(n)
		if m.barrier.arrived > 0 && m.barrier.arrived+m.barrier.exited >= m.total() {
			m.barrier.arrived = 0
			m.barrier.phase.Add(1)
		}
	}
}

// GridBarrier lets lanes arrive at the grid's barrier, once in each phase. It returns the lanes that may go on; the
// others stay behind at this operation in a split of their own. When it returns 0 the engine gives way.
func (w *Warp) GridBarrier(lanes uint32) uint32 {
	l := w.CTA.Launch
	if !l.Cooperative {
		w.Throw(FaultTrap, bits.TrailingZeros32(lanes), "grid synchronisation in a launch that is not cooperative")
	}
	return w.meet(&w.CTA.Group.grid.barrier, lanes, l.threads())
}

// MultiGridBarrier is GridBarrier for all grids of the launch.
func (w *Warp) MultiGridBarrier(lanes uint32) uint32 {
	m := w.CTA.Launch.Multi
	if m == nil {
		w.Throw(FaultTrap, bits.TrailingZeros32(lanes), "synchronisation of several grids in a launch of one")
	}
	return w.meet(&m.barrier, lanes, m.total())
}

func (w *Warp) meet(b *gridBarrier, lanes uint32, total uint64) uint32 {
	if fresh := lanes &^ w.gridWait; fresh != 0 {
		w.gridWait |= fresh
		w.gridPhase &^= fresh
		if b.phase.Load()&1 != 0 {
			w.gridPhase |= fresh
		}
		if c := w.CTA.check; c != nil {
			c.GridArrive(w.Index, fresh, b.phase.Load())
		}
		b.add(uint64(bits.OnesCount32(fresh)), 0, total)
	}
	open := w.gridPhase // lanes whose phase is still open; no lane can be two phases behind
	if b.phase.Load()&1 == 0 {
		open = ^open
	}
	done := lanes &^ open
	w.gridWait &^= done
	if c := w.CTA.check; c != nil && done != 0 {
		c.GridLeave(w.Index, done, b.phase.Load()-1)
	}
	s := w.Cur
	if stay := lanes &^ done; stay != 0 && stay != s.Mask {
		t := w.newSplit()
		t.PC, t.Mask, t.Act, t.passed = s.PC, stay, s.Act, true
		s.Mask &^= stay
		w.Limit = min(w.Limit, s.PC+1)
		if done == 0 {
			s.PC++ // what is left was guarded off
		}
	}
	return done
}

// exitBarrier counts threads that end.
func (g *grid) exitBarrier(n int) {
	g.barrier.add(0, uint64(n), g.l.threads())
	if m := g.l.Multi; m != nil {
		m.exit(g.l.MultiRank, n)
	}
}

// Grids is how many grids the launch has and which of them this one is, when it has several.
func (l *Launch) Grids() (n, rank uint32) {
	if l.Multi == nil {
		return 1, 0
	}
	return uint32(len(l.Multi.left)), uint32(l.MultiRank)
}

// RankInGrid is how many threads the grid has, and the rank of a lane's among them.
func (w *Warp) RankInGrid(lane int) (n, rank uint64) {
	l, t, c := w.CTA.Launch, w.ThreadIndex(lane), w.CTA.Index
	block := (uint64(c[2])*uint64(l.Grid[1])+uint64(c[1]))*uint64(l.Grid[0]) + uint64(c[0])
	thread := (uint64(t[2])*uint64(l.Block[1])+uint64(t[1]))*uint64(l.Block[0]) + uint64(t[0])
	return l.threads(), block*uint64(l.Block[0])*uint64(l.Block[1])*uint64(l.Block[2]) + thread
}
