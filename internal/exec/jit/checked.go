package jit

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Under a memory checker (exec.Memory.Check) machine code accesses shared memory itself, whose end a context knows, and global memory where an operation has been before: the interpreter makes
// its first access, and machine code those that lie in the same allocation (exec.Memory.CheckRange) with all lanes. Everything else is left to the interpreter, which asks the checker lane by lane.

// bound is where an operation's accesses need not ask: its base addresses from low on for span bytes, the displacement and the size of the access taken off. The zero value allows no access.
type bound struct{ low, span uint64 }

// boundSize is that of a bound in bytes.
const boundSize = int32(unsafe.Sizeof(bound{}))

// boundedAccess is an operation's access to global memory that has a bound.
type boundedAccess struct {
	ir.Access
	slot int32 // of its bound, in those of the function
}

// soleAccess is an operation's access to memory when it does nothing else.
func soleAccess(op *ir.Op) (a ir.Access, ok bool) {
	if op.Ctl != ir.Plain {
		return a, false
	}
	switch op.Opcode() {
	case optab.OpLd, optab.OpLdu, optab.OpSt, optab.OpRed, optab.OpAtom:
	default:
		return a, false
	}
	return op.Access()
}

// giveBound gives an operation's access to global memory a bound; without one it is left to the interpreter.
func (f *function) giveBound(i int) {
	op := &f.f.Ops[i]
	x, ok := soleAccess(op)
	if !ok {
		return
	}
	if a := x.Addr; a.Base == nil || a.Base.Kind != ir.Row || a.Base.Class != ir.W64 || a.Space != ir.Generic && a.Space != ir.Global && a.Space != ir.Const {
		return
	}
	f.bounded[i] = &boundedAccess{Access: x, slot: f.bounds}
	f.bounds++
}

// checkedTemplate is lookup for an operation with accesses that a checker wants to know of.
func (f *function) checkedTemplate(i int) emitter {
	op := &f.f.Ops[i]
	if a, ok := soleAccess(op); ok && a.Addr.Space == ir.Shared {
		return lookup(op)
	}
	b := f.bounded[i]
	if b == nil {
		return nil
	}
	e := lookup(op)
	if e == nil {
		return nil
	}
	return func(g *gen) {
		g.within(b)
		e(g)
	}
}

// within leaves the operation to the interpreter unless the addresses of all lanes lie in its bound. zmm1, k0 and rcx are used.
func (g *gen) within(b *boundedAccess) {
	const quarters = 4
	for p := range quarters {
		g.reg(b.Addr.Base, p)
	}
	slow := g.slow()
	g.Ld(asm.RCX, inContext(offBounds))
	at := b.slot * boundSize
	for p := range quarters {
		g.VM(asm.SubQ, asm.Z.Broadcast(), 1, g.cached(b.Addr.Base, p), asm.At(asm.RCX, at))
		g.VMI(asm.CmpUQ, asm.Z.Mask(g.mask(ir.W64, p)).Broadcast(), 0, 1, asm.At(asm.RCX, at+8), 6)
		g.KOrTestB(0, 0)
		g.J(asm.NE, slow)
	}
}

// useBounds makes a function's bounds those that machine code looks at. They hold until memory is freed.
func (x *context) useBounds(m *exec.Memory, c *code, f *function) {
	if m.CheckEpoch != nil {
		if e := m.CheckEpoch.Load(); e != x.epoch {
			x.epoch, x.checked = e, nil
		}
	}
	if x.checked == nil {
		x.checked = make([][]bound, len(c.checked))
	}
	b := &x.checked[f.f.Index]
	if *b == nil {
		*b = make([]bound, max(f.bounds, 1))
	}
	x.bounds = unsafe.Pointer(unsafe.SliceData(*b))
}

// learn sets an operation's bound to the memory around the first lane's address that is not in it. The operation is about to be executed; useBounds has been called.
func (x *context) learn(w *exec.Warp, f *function, b *boundedAccess, op *ir.Op) {
	m := w.CTA.Launch.Mem
	if m.CheckRange == nil || len(x.checked) == 0 || x.checked[f.f.Index] == nil {
		return
	}
	e := &x.checked[f.f.Index][b.slot]
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
		if a-e.low <= e.span {
			continue
		}
		if a+disp-m.Base-m.Low >= m.Span {
			return
		}
		if low, size := m.CheckRange(a+disp, b.Write); size >= uint64(b.Size) {
			*e = bound{low - disp, size - uint64(b.Size)}
		}
		return
	}
}
