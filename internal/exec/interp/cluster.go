package interp

import (
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// clusterOps are the barrier of a cluster (PTX ISA 9.7.13.3). Memory order is that of every access here: sequential.
var clusterOps = map[optab.Opcode]resolver{
	optab.OpBarrierClusterArrive: resolveClusterArrive, optab.OpBarrierClusterWait: resolveClusterWait,
}

func resolveClusterArrive(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) { w.ClusterArrive(m) }
	return nil
}

func resolveClusterWait(in *inst, op *ir.Op) error {
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		return w.ClusterWait(m, next), true
	}
	return nil
}
