package jit

import "github.com/gocuda/cuda/internal/exec/jit/plan"

// UnavailableError says why machine code cannot be generated or run on this host.
type UnavailableError struct{ Reason string }

func (e *UnavailableError) Error() string { return "jit: " + e.Reason }

// Statistics count what an engine has left to the interpreter since it was made, by reason. Code is what there is
// machine code of: functions for all lanes and for some, and kernels for whole blocks of a shape.
type Statistics struct {
	Code   uint64
	NoCode [plan.Reasons]uint64
}
