package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// stackOps are the stack manipulation instructions (PTX ISA 9.7.14). A thread's stack is its local memory; the pointer
// is the first free byte above the running function's variables.
var stackOps = map[optab.Opcode]resolver{optab.OpStacksave: resolveStackSave, optab.OpStackrestore: resolveStackRestore,
	optab.OpAlloca: resolveAlloca}

func resolveStackSave(in *inst, op *ir.Op) error {
	d := &op.Args[0]
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		t := w.Tops()
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			set(w, d, l, uint64(t[l]))
		}
	}
	return nil
}

func resolveStackRestore(in *inst, op *ir.Op) error {
	a := &op.Args[0]
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		t := w.Tops()
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			v := get(w, a, l)
			if v < uint64(w.Act.Top) || v > uint64(w.LocalSize) {
				w.Throw(exec.FaultStack, l, "stackrestore of a value that stacksave did not give")
			}
			t[l] = uint32(v)
		}
	}
	return nil
}

func resolveAlloca(in *inst, op *ir.Op) error {
	d, a := op.Arg("d"), op.Arg("a")
	align := uint64(8)
	if n := op.Arg("n"); n != nil {
		align = max(align, n.Bits)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		t := w.Tops()
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			at := (uint64(t[l]) + align - 1) &^ (align - 1)
			size := get(w, a, l)
			if end := at + size; end < at || end > uint64(w.LocalSize) {
				w.Throw(exec.FaultStack, l, "alloca needs more than the thread's stack has left (CU_LIMIT_STACK_SIZE)")
			}
			t[l] = uint32(at + size)
			set(w, d, l, at)
		}
	}
	return nil
}
