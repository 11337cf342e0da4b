package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Conditions of integer relations, signed and unsigned.
var signedConds = map[optab.Cmp]asm.Cond{optab.CmpEq: asm.E, optab.CmpNe: asm.NE, optab.CmpLt: asm.L,
	optab.CmpLe: asm.LE, optab.CmpGt: asm.G, optab.CmpGe: asm.GE, optab.CmpLo: asm.B, optab.CmpLs: asm.BE,
	optab.CmpHi: asm.A, optab.CmpHs: asm.AE}
var unsignedConds = map[optab.Cmp]asm.Cond{optab.CmpEq: asm.E, optab.CmpNe: asm.NE, optab.CmpLt: asm.B,
	optab.CmpLe: asm.BE, optab.CmpGt: asm.A, optab.CmpGe: asm.AE, optab.CmpLo: asm.B, optab.CmpLs: asm.BE,
	optab.CmpHi: asm.A, optab.CmpHs: asm.AE}

// compareCond is the condition of a setp of integers.
func compareCond(op *ir.Op) asm.Cond {
	if op.Type(0).Signed() {
		return signedConds[op.Mods().Cmp]
	}
	return unsignedConds[op.Mods().Cmp]
}

// scalarCompare compares the uniform operands of a setp.
func (g *gen) scalarCompare() asm.Cond {
	op := g.op
	a, b := op.Arg("a"), op.Arg("b")
	wide := g.v.Info[g.pc].Wide
	c := compareCond(op)
	if w, ok := g.scalarWeb(a); ok {
		if i := g.sfind(w, 0); i >= 0 {
			g.sarith(asm.ArithCmp, scalarRegs[i], b, 0, wide)
			return c
		}
	}
	g.sload(asm.RAX, a, 0, wide)
	g.sarith(asm.ArithCmp, asm.RAX, b, 0, wide)
	return c
}

// scalarSetp writes a setp of integers that are uniform, or of an affine and a uniform one.
func (g *gen) scalarSetp() bool {
	op := g.op
	if op.Guard >= 0 {
		return false
	}
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	sa, sb := g.v.VariationOf(g.pc, a), g.v.VariationOf(g.pc, b)
	if !sa.Scalar() || !sb.Scalar() {
		return false
	}
	wide := g.v.Info[g.pc].Wide
	cond, cmp := compareCond(op), op.Mods().Cmp
	combine := op.Mods().Func
	finish := func() {
		if c != nil && combine != optab.NoFunc {
			g.pred(asm.RDX, c)
			g.combine(combine, asm.RAX, asm.RDX)
		}
		g.setPred(&op.Args[0], asm.RAX)
	}
	if sa.Kind == plan.Uniform && sb.Kind == plan.Uniform {
		cond = g.scalarCompare()
		g.Setcc(cond, asm.RAX)
		g.MovZX8(asm.RAX, asm.RAX)
		g.Neg32(asm.RAX)
		finish()
		return true
	}
	// All lanes agree when the first and the last do, as long as nothing wraps around between them.
	if sa.Kind != plan.Affine || sb.Kind != plan.Uniform || !sa.Linear() || sa.Stride <= 0 || wide {
		return false
	}
	if equal := cmp == optab.CmpEq || cmp == optab.CmpNe; equal && sa.Stride == 1 {
		// The lane by its number, if there is one.
		g.sload(asm.RAX, a, 0, false)
		g.sload(asm.RCX, b, 0, false)
		g.RR(asm.ArithSub, false, asm.RCX, asm.RAX)
		g.CmpI32(asm.RCX, 31)
		g.Setcc(asm.BE, asm.RAX)
		g.MovZX8(asm.RAX, asm.RAX)
		g.ShiftCL(asm.ScalarShl, false, asm.RAX)
		if cmp == optab.CmpNe {
			g.Not32(asm.RAX)
		}
		finish()
		return true
	}
	w, _ := g.scalarWeb(a)
	if cmp == optab.CmpEq || cmp == optab.CmpNe {
		vector := g.outOfLineMask(w, op)
		// No lane is equal when the difference to the first is more than that of the last.
		g.sload(asm.RAX, a, 0, false)
		g.sload(asm.RDX, b, 0, false)
		g.RR(asm.ArithSub, false, asm.RDX, asm.RAX)
		g.CmpI32(asm.RDX, int32(31*sa.Stride))
		g.J(asm.BE, vector.out)
		g.MovI32(asm.RAX, map[optab.Cmp]uint32{optab.CmpEq: 0, optab.CmpNe: 0xffffffff}[cmp])
		g.Bind(vector.back)
		finish()
		return true
	}
	signed := op.Type(0).Signed()
	vector := g.wrapped(w, op, sa)
	g.sload(asm.RAX, a, 0, false)
	g.sload(asm.RDX, b, 0, false)
	g.lastLane(sa, signed, vector.out)
	g.RR(asm.ArithCmp, false, asm.RAX, asm.RDX)
	g.Setcc(cond, asm.RAX)
	g.RR(asm.ArithCmp, false, asm.RDI, asm.RDX)
	g.Setcc(cond, asm.RCX)
	g.MovZX8(asm.RAX, asm.RAX)
	g.MovZX8(asm.RCX, asm.RCX)
	g.RR(asm.ArithCmp, false, asm.RAX, asm.RCX)
	g.J(asm.NE, g.someLanes(op, sa, vector))
	g.Neg32(asm.RAX)
	g.rejoin(vector.back, 0)
	finish()
	return true
}

// lastLane puts the last lane's value of an affine one, whose base is in rax, into rdi; it leaves for wrap when lanes
// between wrap around.
func (g *gen) lastLane(s plan.Variation, signed bool, wrap asm.Label) {
	if s.Lane() {
		g.Lea32(asm.RDI, asm.At(asm.RAX, 31))
		return
	}
	g.MovR(false, asm.RDI, asm.RAX)
	g.RI(asm.ArithAdd, false, asm.RDI, int32(31*s.Stride))
	if signed {
		g.J(asm.O, wrap)
	} else {
		g.J(asm.B, wrap)
	}
}

// affineCompare says whether a setp compares a value that rises with the lanes with a uniform one.
func (g *gen) affineCompare(i int32) bool {
	op := &g.f.Ops[i]
	a, b := op.Arg("a"), op.Arg("b")
	sa, sb := g.v.VariationOf(i, a), g.v.VariationOf(i, b)
	cmp := op.Mods().Cmp
	return sa.Kind == plan.Affine && sb.Kind == plan.Uniform && sa.Linear() && sa.Stride > 0 && cmp != optab.CmpEq &&
		cmp != optab.CmpNe && !g.v.Info[i].Wide
}

// branchAffine is a comparison of affine and uniform values with the branch behind it, at b's end: when the first and
// the last lane agree all do.
func (g *gen) branchAffine(b, to int32, br *ir.Op, fall, part asm.Label) {
	op := g.op
	cond := compareCond(op)
	if br.Neg {
		cond ^= 1
	}
	a, bArg := op.Arg("a"), op.Arg("b")
	w, _ := g.scalarWeb(a)
	signed := op.Type(0).Signed()
	sa := g.v.Webs[w].Variation
	vector := g.wrapped(w, op, sa)
	some := g.someLanes(op, sa, vector)
	g.sload(asm.RAX, a, 0, false)
	if c, ok := plan.Immediate(bArg); !ok || c != int64(int32(c)) {
		g.sload(asm.RDX, bArg, 0, false)
	}
	cmp := func(r asm.GPR) {
		if c, ok := plan.Immediate(bArg); ok {
			g.CmpI32(r, int32(c))
		} else {
			g.RR(asm.ArithCmp, false, r, asm.RDX)
		}
	}
	g.lastLane(sa, signed, vector.out)
	not := g.NewLabel()
	cmp(asm.RAX)
	g.J(cond^1, not)
	cmp(asm.RDI)
	g.J(cond^1, some)
	taken := g.NewLabel()
	g.rejoin(taken, 0)
	g.settle(g.pc)
	i := g.pc
	g.pc, g.op = i+1, br
	g.branchTo(b, to)
	g.rejoin(not, 0)
	cmp(asm.RDI)
	g.J(cond^1, fall)
	g.Jmp(some)
	// lane by lane
	g.rejoin(vector.back, 0)
	if br.Neg {
		g.Not32(asm.RAX)
	}
	if g.full {
		g.Test32(asm.RAX, asm.RAX)
		g.J(asm.E, fall)
		g.CmpI32(asm.RAX, -1)
	} else {
		g.AndLd32(asm.RAX, inContext(abi.OffMask))
		g.J(asm.E, fall)
		g.CmpLd32(asm.RAX, inContext(abi.OffMask))
	}
	g.J(asm.E, taken)
	g.Jmp(part)
	g.join(fall)
	g.toIdle(b, b+1)
}

type detour struct{ out, back asm.Label }

// wrapped is where lanes are compared one by one because they wrap around, or may for all that is known.
func (g *gen) wrapped(w int32, op *ir.Op, s plan.Variation) detour {
	if s.Lane() {
		return detour{back: g.NewLabel()} // never
	}
	return g.outOfLineMask(w, op)
}

// someLanes is where the comparison of rising lanes is made when the first and the last differ: of those that are one
// apart the number of the lower ones is a difference. rdi has the last lane, rdx what all are compared with unless that
// is a constant. Lanes are in eax behind it.
func (g *gen) someLanes(op *ir.Op, s plan.Variation, d detour) asm.Label {
	if s.Stride != 1 {
		return d.out
	}
	return g.outOfLine(func() {
		n, lower := int32(31), true
		switch op.Mods().Cmp {
		case optab.CmpLt, optab.CmpLo:
		case optab.CmpGe, optab.CmpHs:
			lower = false
		case optab.CmpLe, optab.CmpLs:
			n = 32
		default:
			n, lower = 32, false
		}
		if c, ok := plan.Immediate(op.Arg("b")); ok {
			g.MovI32(asm.RCX, uint32(int32(c)+n))
		} else {
			g.Lea32(asm.RCX, asm.At(asm.RDX, n))
		}
		g.RR(asm.ArithSub, false, asm.RCX, asm.RDI)
		g.MovI32(asm.RAX, 0xffffffff)
		g.ShiftCL(asm.ScalarShl, false, asm.RAX)
		if lower {
			g.Not32(asm.RAX)
		}
		g.Jmp(d.back)
	})
}

// outOfLineMask compares lane by lane, with scratch registers only, and comes back with the lanes in eax.
func (g *gen) outOfLineMask(w int32, op *ir.Op) detour {
	d := detour{back: g.NewLabel()}
	x := g.v.Webs[w]
	// The operands must be found in memory there.
	b := op.Arg("b")
	g.inMemory(w)
	if u, ok := g.scalarWeb(b); ok {
		g.inMemory(u)
	}
	bw, bScalar := g.scalarWeb(b)
	imm := intPredicates[op.Mods().Cmp]
	cmp := asm.CmpUD
	if op.Type(0).Signed() {
		cmp = asm.CmpD
	}
	d.out = g.outOfLine(func() {
		var m asm.Mem
		if bScalar {
			m = placeMem(g.v.Webs[bw].At, 0)
		} else {
			m = rowMem(b.Ref)
		}
		g.VM(asm.BroadcastD, asm.Z, 0, 0, placeMem(x.At, 0))
		for p := range 2 {
			g.VL(asm.AddD, asm.Z, 1, 0, g.strides(x.Variation.Stride, int64(16*p)*x.Variation.Stride, false))
			g.VCmpM(cmp, asm.Z.Broadcast(), asm.K7, 1, m, imm)
			if p == 0 {
				g.KMovRW(asm.RAX, asm.K7)
			} else {
				g.KMovRW(asm.RDX, asm.K7)
				g.ShlI32(asm.RDX, 16)
				g.Or32(asm.RAX, asm.RDX)
			}
		}
		g.Jmp(d.back)
	})
	return d
}
