package interp

import (
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// intOps are integer arithmetic.
var intOps = map[string]resolver{
	"mad": func(in *inst, op *ir.Op) error {
		if op.Match.Has("wide") && op.Match.Type(0) == "u32" {
			a, b, c, d := &op.Args[1], &op.Args[2], &op.Args[3], &op.Args[0]
			in.fn = lanewise(func(w *exec.Warp, i int) { set(w, d, i, get(w, a, i)*get(w, b, i)+get(w, c, i)) })
			return nil
		}
		if op.Match.Has("lo") && op.Match.Type(0) == "u32" {
			in.fn = tri32(func(a, b, c uint32) uint32 { return a*b + c })
			return nil
		}
		return unsupported(op)
	},
}
