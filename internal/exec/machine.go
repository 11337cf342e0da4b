package exec

import "unsafe"

// What engines that run machine code need beside the contract of Code.

// Budget is the number of back edges that the split may still take in this turn.
func (s *Split) Budget() int32 { return s.budget }

// SetBudget stores what is left of the budget; below zero the turn is over.
func (s *Split) SetBudget(n int32) { s.budget = n }

// Released are the lanes that Gather lets go on without their partners.
func (w *Warp) Released() uint32 { return w.release }

// BarrierAll is barrier.sync 0 to 15 for all threads of the CTA, by all lanes of the current split; next is the
// operation to go on with.
func (w *Warp) BarrierAll(id int, next int32) Event {
	w.arriveBarrier(w.Cur, id, 0, BarrierOp{Wait: true}, next)
	return EventReschedule
}

// FrameSize is the number of bytes at Frame.
func (a *Activation) FrameSize() uint32 {
	return uint32(len(a.frame)) - uint32(uintptr(a.Frame)-uintptr(unsafe.Pointer(unsafe.SliceData(a.frame))))
}

// Warmer is a Code that keeps memory for each warp. Warm makes it for a warp that is not run now, so that it is there
// when the warp is.
type Warmer interface {
	Warm(w *Warp)
}

// FaultLocator is a Code whose accesses can fault outside the package's own functions. Locate sets Warp.Op and
// Warp.Lane to where the access was made that failed at addr, when it was such a one, and returns the kernel's address:
// machine code may read the word around it.
type FaultLocator interface {
	Locate(w *Warp, addr uint64) (at uint64, ok bool)
}
