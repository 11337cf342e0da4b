package exec

import (
	"math/bits"
	"sync/atomic"
)

// gridBarrier is the barrier over all threads of a cooperative grid (cudaCGSynchronize).
type gridBarrier struct {
	arrived atomic.Uint64
	phase   atomic.Uint32
}

// GridBarrier lets lanes arrive at the grid's barrier, once in each phase, and says whether they may go on. While it says
// false the engine leaves the split where it is and yields.
func (w *Warp) GridBarrier(lanes uint32) bool {
	l := w.CTA.Launch
	if !l.Cooperative {
		w.Throw(FaultTrap, bits.TrailingZeros32(lanes), "grid synchronisation in a launch that is not cooperative")
	}
	b := &w.CTA.Group.grid.barrier
	if fresh := lanes &^ w.gridWait; fresh != 0 {
		w.gridWait |= fresh
		w.gridPhase = b.phase.Load()
		total := uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) * uint64(w.CTA.Threads)
		if b.arrived.Add(uint64(bits.OnesCount32(fresh))) == total {
			b.arrived.Store(0)
			b.phase.Add(1)
		}
	}
	if b.phase.Load() == w.gridPhase {
		return false
	}
	w.gridWait &^= lanes
	return true
}
