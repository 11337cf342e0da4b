package interp

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ir"
)

// systemOps are operations that speak to the world outside the kernel.
var systemOps = map[string]resolver{}

// Builtin says whether the engine provides an undefined function of this name.
func Builtin(name string) bool { return builtins[name] != nil }

// builtins are the system functions that compiled code calls.
var builtins = map[string]resolver{}

func resolveBuiltin(in *inst, op *ir.Op) error {
	r := builtins[op.Call.Builtin]
	if r == nil {
		return fmt.Errorf("the system function %s", op.Call.Builtin)
	}
	return r(in, op)
}
