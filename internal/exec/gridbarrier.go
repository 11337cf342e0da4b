package exec

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// gridBarrier is the barrier over all threads of a cooperative grid (cudaCGSynchronize). Threads that have exited count
// as arrived.
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

// GridBarrier lets lanes arrive at the grid's barrier, once in each phase. It returns the lanes that may go on; the
// others stay behind at this operation in a split of their own. When it returns 0 the engine gives way.
func (w *Warp) GridBarrier(lanes uint32) uint32 {
	l := w.CTA.Launch
	if !l.Cooperative {
		w.Throw(FaultTrap, bits.TrailingZeros32(lanes), "grid synchronisation in a launch that is not cooperative")
	}
	b := &w.CTA.Group.grid.barrier
	if fresh := lanes &^ w.gridWait; fresh != 0 {
		w.gridWait |= fresh
		w.gridPhase &^= fresh
		if b.phase.Load()&1 != 0 {
			w.gridPhase |= fresh
		}
		if c := w.CTA.check; c != nil {
			c.GridArrive(w.Index, fresh, b.phase.Load())
		}
		w.CTA.Group.grid.addBarrier(bits.OnesCount32(fresh), 0)
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
func (g *grid) exitBarrier(n int) { g.addBarrier(0, n) }

// addBarrier counts threads and ends the phase when all are there.
func (g *grid) addBarrier(arrived, exited int) {
	l, b := g.l, &g.barrier
	total := uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) *
		uint64(l.Block[0]) * uint64(l.Block[1]) * uint64(l.Block[2])
	b.mu.Lock()
	b.arrived += uint64(arrived)
	b.exited += uint64(exited)
	if b.arrived > 0 && b.arrived+b.exited == total {
		b.arrived = 0
		b.phase.Add(1)
	}
	b.mu.Unlock()
}
