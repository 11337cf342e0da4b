package exec

import "unsafe"

// What engines that run machine code need beside the contract of Code.

// Budget is the number of back edges that the split may still take in this turn.
func (s *Split) Budget() int32 { return s.budget }

// SetBudget stores what is left of the budget; below zero the turn is over.
func (s *Split) SetBudget(n int32) { s.budget = n }

// Released are the lanes that Gather lets go on without their partners.
func (w *Warp) Released() uint32 { return w.release }

// FrameSize is the number of bytes at Frame.
func (a *Activation) FrameSize() uint32 {
	return uint32(len(a.frame)) - uint32(uintptr(a.Frame)-uintptr(unsafe.Pointer(unsafe.SliceData(a.frame))))
}

// FaultLocator is a Code whose accesses can fault outside the package's own functions. Locate sets Warp.Op and Warp.Lane to where the access to addr was made,
// when it was such a one.
type FaultLocator interface {
	Locate(w *Warp, addr uint64)
}
