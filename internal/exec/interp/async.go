package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// asyncOps are asynchronous copies (PTX ISA 9.7.9.25). A copy is performed when it is issued, which the ISA allows:
// nothing says how long it takes. Commit and wait then have nothing left to do.
var asyncOps = map[optab.Opcode]resolver{
	optab.OpCpAsync: resolveCpAsync, optab.OpCpAsyncCommitGroup: resolveNothing,
	optab.OpCpAsyncWaitGroup: resolveNothing,
}

// pointer is a prepared address operand for accesses whose size is not known when the kernel is prepared.
func place(a *ir.Arg) *access {
	return &access{space: a.Space, base: a.Base, disp: uint64(a.Disp), addr: a}
}

// resolveCpAsync is cp.async: n bytes are written, the first s of them copied and the rest zeros.
func resolveCpAsync(in *inst, op *ir.Op) error {
	dst, src := place(op.Arg("a")), place(op.Arg("b"))
	n := uint32(op.Arg("n").Bits)
	s, ignore := op.Arg("s"), op.Arg("i")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		skip := uint32(0)
		if ignore != nil {
			skip = pred(w, ignore)
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			size := n
			if s != nil {
				size = min(uint32(get(w, s, l)), n)
			}
			if skip>>l&1 != 0 {
				size = 0
			}
			d := unsafe.Slice((*byte)(w.Ptr(dst.space, l, dst.at(w, l), n, n, true)), n)
			if size > 0 {
				copy(d, unsafe.Slice((*byte)(w.Ptr(src.space, l, src.at(w, l), size, n, false)), size))
			}
			clear(d[size:])
		}
	}
	return nil
}
