package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// Conditionals is what exec.Launch.Sys implements, besides exec.System, when kernels may steer conditional graph nodes
// (cudaGraphSetConditional of cuda_device_runtime_api.h). It is called from several goroutines at once.
type Conditionals interface {
	SetConditional(handle uint64, value uint32)
}

// resolveSetConditional is cudaGraphSetConditional(handle, value), which no library defines: the driver provides it at
// module load. Lanes store in their order, so that the last one counts.
func resolveSetConditional(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		c, ok := w.CTA.Launch.Sys.(Conditionals)
		if !ok {
			w.Throw(exec.FaultUnsupported, first(m), "cudaGraphSetConditional where this kernel runs")
		}
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			c.SetConditional(argument(w, op, 0, i), uint32(argument(w, op, 1, i)))
		}
	}
	return nil
}
