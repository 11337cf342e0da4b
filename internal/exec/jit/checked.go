package jit

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
)

// Under a memory checker (exec.Memory.Check) machine code accesses shared memory itself, whose end a context knows, and
// global memory where an operation has been before: the interpreter makes its first access, and machine code those that
// lie in the same allocation (exec.Memory.CheckRange) with all lanes. Everything else is left to the interpreter, which
// asks the checker lane by lane.

// giveBound gives an operation's access to global memory a bound; without one it is left to the interpreter.
func (f *function) giveBound(i int) {
	op := &f.f.Ops[i]
	x, ok := plan.SoleAccess(op)
	if !ok {
		return
	}
	if a := x.Addr; a.Base == nil || a.Base.Kind != ir.Row || a.Base.Class != ir.W64 ||
		a.Space != ir.Generic && a.Space != ir.Global && a.Space != ir.Const {
		return
	}
	f.bounded[i] = &plan.BoundedAccess{Access: x, Slot: f.bounds}
	f.bounds++
}

// allowed says whether an operation with accesses that a checker wants to know of may have machine code.
func (f *function) allowed(i int) bool {
	a, ok := plan.SoleAccess(&f.f.Ops[i])
	return ok && a.Addr.Space == ir.Shared || f.bounded[i] != nil
}

// useBounds makes a function's bounds those that machine code looks at. They hold until memory is freed.
func (x *context) useBounds(m *exec.Memory, c *code, f *function) {
	if m.CheckEpoch != nil {
		if e := m.CheckEpoch.Load(); e != x.Epoch {
			x.Epoch, x.Checked = e, nil
		}
	}
	if x.Checked == nil {
		x.Checked = make([][]abi.Bound, len(c.checked))
	}
	b := &x.Checked[f.f.Index]
	if *b == nil {
		*b = make([]abi.Bound, max(f.bounds, 1))
	}
	x.Bounds = unsafe.Pointer(unsafe.SliceData(*b))
}

// learn sets an operation's bound to the memory around the first lane's address that is not in it. The operation is
// about to be executed; useBounds has been called.
func (x *context) learn(w *exec.Warp, f *function, b *plan.BoundedAccess, op *ir.Op) {
	m := w.CTA.Launch.Mem
	if m.CheckRange == nil || len(x.Checked) == 0 || x.Checked[f.f.Index] == nil {
		return
	}
	e := &x.Checked[f.f.Index][b.Slot]
	mask := w.Cur.Mask
	if op.Guard >= 0 {
		p := *(*uint32)(unsafe.Add(w.Base[0], op.Guard))
		if op.Neg {
			p = ^p
		}
		mask &= p
	}
	rows, disp := w.R64(b.Addr.Base.Ref), uint64(b.Addr.Disp)
	for ; mask != 0; mask &= mask - 1 {
		a := rows[bits.TrailingZeros32(mask)&31]
		if a-e.Low <= e.Span {
			continue
		}
		if a+disp-m.Base-m.Low >= m.Span {
			return
		}
		if low, size := m.CheckRange(a+disp, b.Write); size >= uint64(b.Size) {
			*e = abi.Bound{Low: low - disp, Span: size - uint64(b.Size)}
		}
		return
	}
}
