package amd64

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// intPredicates are the relations of integers by PTX's names.
var intPredicates = map[optab.Cmp]asm.Predicate{optab.CmpEq: asm.CmpEQ, optab.CmpNe: asm.CmpNE, optab.CmpLt: asm.CmpLT,
	optab.CmpLe: asm.CmpLE, optab.CmpGt: asm.CmpGT, optab.CmpGe: asm.CmpGE,
	optab.CmpLo: asm.CmpLT, optab.CmpLs: asm.CmpLE, optab.CmpHi: asm.CmpGT, optab.CmpHs: asm.CmpGE}

// floatPredicates are those of floating-point numbers.
var floatPredicates = map[optab.Cmp]asm.Predicate{
	optab.CmpEq: asm.FloatEQ, optab.CmpNe: asm.FloatNE, optab.CmpLt: asm.FloatLT, optab.CmpLe: asm.FloatLE,
	optab.CmpGt: asm.FloatGT, optab.CmpGe: asm.FloatGE,
	optab.CmpEqu: asm.FloatEQU, optab.CmpNeu: asm.FloatNEU, optab.CmpLtu: asm.FloatLTU, optab.CmpLeu: asm.FloatLEU,
	optab.CmpGtu: asm.FloatGTU, optab.CmpGeu: asm.FloatGEU,
	optab.CmpNum: asm.FloatOrd, optab.CmpNan: asm.FloatUnord}

func setpTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	if d.Second != nil || d.Kind != ir.Row || a == nil || b == nil || op.Mods().Ftz {
		return nil
	}
	typ := op.Type(0)
	cl, ok := plan.ClassOf(typ)
	if !ok || !a.Reg() || !b.Reg() || a.Class != cl || b.Class != cl {
		return nil
	}
	var x asm.CompareOp
	var imm asm.Predicate
	switch typ.Info().Class {
	case optab.Float:
		x = asm.CmpPS
		if cl == ir.W64 {
			x = asm.CmpPD
		}
		imm, ok = floatPredicates[op.Mods().Cmp]
	case optab.Signed:
		x = asm.CmpD
		if cl == ir.W64 {
			x = asm.CmpQ
		}
		imm, ok = intPredicates[op.Mods().Cmp]
	default:
		x = asm.CmpUD
		if cl == ir.W64 {
			x = asm.CmpUQ
		}
		imm, ok = intPredicates[op.Mods().Cmp]
	}
	if !ok {
		return nil
	}
	combine := op.Mods().Func
	float := typ.Info().Class == optab.Float
	return func(g *gen) {
		// The two halves, or four quarters, go through general registers; nothing else may use k0 between.
		n := plan.Pieces(cl)
		for p := range n {
			g.pin()
			var ra asm.Vec
			var rb operand
			if float {
				ra, rb = g.rawReg(a, p), g.rawSrc(b, p)
			} else {
				ra, rb = g.reg(a, p), g.src(b, p)
			}
			switch {
			case n == 2:
				k := asm.Mask(0)
				if p == 1 {
					k = 7
				}
				g.comparePiece(x, asm.Z, k, ra, rb, imm)
				if p == 1 {
					g.KMovPair(asm.RAX, asm.RDX, asm.K0, asm.K7)
				}
			case p == 0:
				g.comparePiece(x, asm.Z, asm.K0, ra, rb, imm)
				g.KMovRD(asm.RAX, asm.K0)
			default:
				g.comparePiece(x, asm.Z, asm.K0, ra, rb, imm)
				g.KMovRD(asm.RDX, asm.K0)
				g.ShlI32(asm.RDX, uint8(32/n*p))
				g.Or32(asm.RAX, asm.RDX)
			}
		}
		if c != nil && combine != optab.NoFunc {
			g.pred(asm.RDX, c)
			g.combine(combine, asm.RAX, asm.RDX)
		}
		g.setPred(d, asm.RAX)
	}
}

func (g *gen) combine(what optab.Func, d, s asm.GPR) {
	switch what {
	case optab.FuncAnd:
		g.And32(d, s)
	case optab.FuncOr:
		g.Or32(d, s)
	default:
		g.Xor32(d, s)
	}
}

// predicateLogic is and, or and xor of predicates.
func predicateLogic(op *ir.Op) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	what := op.Opcode().Logic()
	if !a.Reg() || !b.Reg() {
		return nil
	}
	return func(g *gen) {
		g.pred(asm.RAX, a)
		g.pred(asm.RDX, b)
		g.combine(what, asm.RAX, asm.RDX)
		g.setPred(d, asm.RAX)
	}
}

func selpTemplate(op *ir.Op) emitter {
	d, a, b, c := &op.Args[0], &op.Args[1], &op.Args[2], &op.Args[3]
	cl := d.Class
	if cl != ir.W32 && cl != ir.W64 || !rows(cl, d, a, b) || c.Kind != ir.Row {
		return nil
	}
	move, blend := asm.MovA32, asm.BlendMD
	if cl == ir.W64 {
		move, blend = asm.MovA64, asm.BlendMQ
	}
	return func(g *gen) {
		have := false
		for p := range g.each(d) {
			g.pin()
			ra, rb := g.src(a, p), g.reg(b, p)
			if !have {
				g.pred(asm.RDX, c)
				have = true
			}
			masked := g.destMask(d, p) != 0
			var z asm.Vec
			var o asm.Opt
			if !masked {
				z, o = g.dst(d, p)
			}
			g.KMovDR(asm.K7, asm.RDX)
			if s := uint8(32 / plan.Pieces(cl) * p); s != 0 {
				g.KShiftRD(asm.K7, asm.K7, s)
			}
			if !masked {
				g.op3(blend, o.Mask(asm.K7), z, rb, ra)
				continue
			}
			g.op3(blend, asm.Z.Mask(asm.K7), 0, rb, ra)
			z, o = g.dst(d, p)
			g.V(move, o, z, 0, 0)
		}
	}
}
