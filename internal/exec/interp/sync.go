package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// syncOps are barriers, fences and what only gives way (PTX ISA 9.7.13 and 9.7.20).
var syncOps = map[optab.Opcode]resolver{
	optab.OpBarrierSync: resolveBarrier, optab.OpBarrierArrive: resolveBarrier, optab.OpBarrierRed: resolveBarrier,
	optab.OpFence: resolveFence, optab.OpNanosleep: resolveNanosleep,
	optab.OpGriddepcontrol: resolveNothing, optab.OpSetmaxnreg: resolveNothing,
}

func resolveBarrier(in *inst, op *ir.Op) error {
	a, b, c, d := op.Arg("a"), op.Arg("b"), op.Arg("c"), op.Arg("d")
	bo := exec.BarrierOp{Wait: op.Opcode() != optab.OpBarrierArrive}
	if op.Opcode() == optab.OpBarrierRed {
		bo.Dst = d.Ref
		switch op.Mods().Func {
		case optab.FuncPopc:
			bo.Red = exec.RedPopc
		case optab.FuncAnd:
			bo.Red = exec.RedAnd
		default:
			bo.Red = exec.RedOr
		}
	}
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		var counts *[32]uint32
		if b != nil {
			counts = w.R32(b.Ref)
		}
		x := bo
		if c != nil {
			x.Pred = pred(w, c)
		}
		return w.Barrier(m, w.R32(a.Ref), counts, x, next), true
	}
	return nil
}

// resolveFence is fence and membar in every form. Accesses are performed at once and in program order, and there is one
// proxy: what is left is to keep the host's processors from reordering them. Scopes within a cluster need nothing, its
// threads take turns on one of them.
func resolveFence(in *inst, op *ir.Op) error {
	if op.Mods().InCluster() {
		return resolveNothing(in, op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) { w.Fence() }
	return nil
}

// resolveNanosleep lets threads sleep for as long as they ask.
func resolveNanosleep(in *inst, op *ir.Op) error {
	t := op.Arg("a")
	if t == nil {
		return unsupported(op)
	}
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		if m == 0 {
			w.Cur.PC = next
			return exec.EventReschedule, true
		}
		var ns [32]uint32
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			ns[l] = uint32(get(w, t, l))
		}
		return w.Sleep(m, &ns, next), true
	}
	return nil
}
