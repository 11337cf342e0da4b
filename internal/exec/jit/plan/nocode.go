package plan

import (
	"errors"
	"fmt"

	"github.com/gocuda/cuda/internal/defect"
)

// Why says why there is no machine code.
type Why uint8

// The reasons.
const (
	WhyScheduler   Why = iota // whole blocks: the kernel does what only the scheduler can
	WhyInstruction            // the instruction set lacks what the operation's template writes
	WhyRegisters              // an operation needs more registers than there are
	WhyScalar                 // the operation's template does not take values that are kept as scalars
	WhyMemory                 // the host gives no executable memory
	WhyFrames                 // whole blocks: their registers take more memory than is given at once
	WhyStops                  // whole blocks: they stopped too often before their end
	WhyShapes                 // whole blocks: the kernel was launched with too many block shapes
	WhyUndefined              // whole blocks: what nobody has written can only be followed by the interpreter
	WhyLarge                  // its blocks times its values, or the like, are too many
	Reasons
)

func (w Why) String() string {
	return [...]string{
		"the kernel needs the scheduler", "needs instructions that the processor does not have",
		"needs more registers than there are", "takes no values that are kept as scalars",
		"no executable memory", "the registers of a block take too much memory", "stopped too often before the end",
		"too many block shapes", "only the interpreter can follow what nobody has written", "too large",
	}[w]
}

// NoCodeError says why a function, or some of its operations, have no machine code.
type NoCodeError struct {
	Why    Why
	Ops    []int32 // the operations that are left to the interpreter; none: all
	Line   int32   // PTX line of the first, 0 when there is none
	Detail string
	Err    error
}

func (e *NoCodeError) Error() string {
	s := "jit: " + e.Why.String()
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	if e.Line != 0 {
		s += fmt.Sprintf(" (PTX line %d)", e.Line)
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *NoCodeError) Unwrap() error { return e.Err }

// ErrStopped says that code was given up because the launch that wanted it was stopped.
var ErrStopped = errors.New("jit: stopped")

// Recovered turns what the writing of code panicked with into its error; a defect panics on.
func Recovered(r any) error {
	switch e := r.(type) {
	case *NoCodeError:
		return e
	case error:
		if e == ErrStopped {
			return e
		}
	}
	panic(defect.Of(r))
}
