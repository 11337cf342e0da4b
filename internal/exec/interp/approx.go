package interp

import "github.com/gocuda/cuda/internal/ir"

// resolveApprox is the approximate functions of f32, f64, f16 and bf16.
func resolveApprox(in *inst, op *ir.Op) error { return unsupported(op) }
