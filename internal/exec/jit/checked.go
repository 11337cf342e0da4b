package jit

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Under a memory checker (exec.Memory.Check) machine code accesses shared memory itself, whose end a context knows, and
// global memory where an operation has been before: the interpreter makes its first access, and machine code those that
// lie in the same allocation (exec.Memory.CheckRange) with all lanes. Everything else is left to the interpreter, which
// asks the checker lane by lane. Code of whole CTAs goes on after a first access (amd64/bound.go).

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
	f.bounded[i] = &plan.BoundedAccess{Access: x, Slot: f.bounds, Reads: op.Effect() != optab.MemStore}
	f.bounds++
}

// allowed says whether an operation with accesses that a checker wants to know of may have machine code.
func (f *function) allowed(i int) bool {
	if f.loads {
		return true
	}
	op := &f.f.Ops[i]
	switch op.Opcode() {
	case optab.OpLdmatrix, optab.OpStmatrix: // their templates look at where shared memory ends
		for j := range op.Args {
			if a := &op.Args[j]; a.Kind == ir.Addr {
				return a.Space == ir.Shared
			}
		}
	}
	a, ok := plan.SoleAccess(op)
	return ok && a.Addr.Space == ir.Shared || f.bounded[i] != nil
}

// useBounds makes a function's bounds those that machine code looks at. They hold until memory is freed.
func (x *context) useBounds(m *exec.Memory, init *checker.InitLaunch, c *code, f *function) {
	e := uint64(0) // neither of the two ever goes back
	if m.CheckEpoch != nil {
		e = m.CheckEpoch.Load()
	}
	if init != nil {
		e += init.Lost()
	}
	if e != x.Epoch {
		x.Epoch, x.Checked = e, nil
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

// prepareChecked makes the functions as a memory checker has them.
func (c *code) prepareChecked() {
	c.ready.Do(func() {
		for i := range c.checked {
			c.checked[i].prepare(c.k.Funcs[i], true)
		}
		c.checkedCT.checked = &c.checked[0]
	})
}

// checkedCTA is what there is for whole CTAs under a memory checker.
func (c *code) checkedCTA() *ctaState {
	c.prepareChecked()
	return &c.checkedCT
}

// beginChecked fills in what a launch decides under a memory checker, and returns where shared memory ends.
func (r *blockRunner) beginChecked(size uint32) uint32 {
	l := r.l
	if r.mem != l.Mem {
		r.mem, r.x.Checked = l.Mem, nil
	}
	if l.Mem.Check == nil {
		return size
	}
	return ir.ReservedShared + r.c.k.SharedSize + l.Shared
}

// bound answers abi.ExitBound at an operation.
func (r *blockRunner) bound(pc int32) uint32 {
	m, x := r.l.Mem, r.x
	b := r.s.checked.bounded[pc]
	mask := x.Mask
	if r.s.checked.f.Ops[pc].Guard >= 0 {
		mask &= x.Out
	}
	var rows [32]uint64
	r.row64(pc, b.Addr.Base.Ref, &rows)
	disp := uint64(b.Addr.Disp)
	e := &x.Checked[0][b.Slot]
	for rest := mask; rest != 0; {
		first := bits.TrailingZeros32(rest) & 31
		at := rows[first] + disp
		if at-m.Base-m.Low >= m.Span {
			return abi.AllowedNone
		}
		low, size := r.goodAround(at, b)
		if size < uint64(b.Size) {
			return abi.AllowedNone
		}
		bound := abi.Bound{Low: low - disp, Span: size - uint64(b.Size)}
		left := uint32(0) // lanes that are not in it
		for k := rest; k != 0; k &= k - 1 {
			if l := bits.TrailingZeros32(k) & 31; rows[l]-bound.Low > bound.Span {
				left |= 1 << l
			}
		}
		if left>>first&1 != 0 {
			return abi.AllowedNone
		}
		had := *e
		*e = bound
		if rest == mask && left == 0 && bound != had {
			return abi.AllowedBound
		}
		rest = left
	}
	return abi.AllowedLanes
}

// row64 is the value of a row of 64-bit registers at an operation of the warp that the machine code left.
func (r *blockRunner) row64(pc int32, ref ir.Ref, to *[32]uint64) {
	v, f := r.v.code.Values, r.x.Frame
	if w := v.UseWeb(pc, ref.Off); w >= 0 {
		if x := &v.Webs[w]; x.Variation.Scalar() && x.At.Base != plan.Nowhere {
			base := r.placed(f, x.At)
			for lane := range to {
				p, n := laneOf(base, &x.Variation, lane)
				to[lane] = *(*uint64)(p) + uint64(n)
			}
			return
		}
	}
	*to = *(*[32]uint64)(unsafe.Add(f, ref.Off))
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
