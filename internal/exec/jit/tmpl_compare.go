package jit

import (
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

var compareTemplates = map[optab.Opcode]template{optab.OpSetp: setpTemplate, optab.OpSelp: selpTemplate, optab.OpSet: nil, optab.OpSlct: nil}

// Predicate immediates of vpcmp: eq 0, lt 1, le 2, ne 4, ge 5, gt 6.
var intPredicates = map[string]uint8{"eq": 0, "ne": 4, "lt": 1, "le": 2, "gt": 6, "ge": 5, "lo": 1, "ls": 2, "hi": 6, "hs": 5}

// Predicate immediates of vcmpps, the quiet ones.
var floatPredicates = map[string]uint8{"eq": 0, "ne": 12, "lt": 17, "le": 18, "gt": 30, "ge": 29,
	"equ": 8, "neu": 4, "ltu": 25, "leu": 26, "gtu": 22, "geu": 21, "num": 7, "nan": 3}

func relation(op *ir.Op, of map[string]uint8) (uint8, bool) {
	for i := range op.Match.Form.Slots {
		if p, ok := of[op.Match.Words[i]]; ok {
			return p, true
		}
	}
	return 0, false
}

func setpTemplate(op *ir.Op) emitter {
	d := &op.Args[0]
	a, b, c := op.Arg("a"), op.Arg("b"), op.Arg("c")
	if d.Second != nil || d.Kind != ir.Row || a == nil || b == nil || op.Match.Has("ftz") {
		return nil
	}
	typ := op.Match.Type(0)
	cl, ok := classOf(typ)
	if !ok || !a.Reg() || !b.Reg() || a.Class != cl || b.Class != cl {
		return nil
	}
	var x asm.Op
	var imm uint8
	switch typ[0] {
	case 'f':
		x = asm.CmpPS
		if cl == ir.W64 {
			x = asm.CmpPD
		}
		imm, ok = relation(op, floatPredicates)
	case 's':
		x = asm.CmpD
		if cl == ir.W64 {
			x = asm.CmpQ
		}
		imm, ok = relation(op, intPredicates)
	default:
		x = asm.CmpUD
		if cl == ir.W64 {
			x = asm.CmpUQ
		}
		imm, ok = relation(op, intPredicates)
	}
	if !ok {
		return nil
	}
	combine := op.Match.One("and", "or", "xor")
	float := typ[0] == 'f'
	return func(g *gen) {
		// The two halves, or four quarters, go through general registers; nothing else may use k0 between.
		n := pieces(cl)
		for p := range n {
			g.pin()
			var ra uint8
			var rb operand
			if float {
				ra, rb = g.rawReg(a, p), g.rawSrc(b, p)
			} else {
				ra, rb = g.reg(a, p), g.src(b, p)
			}
			switch {
			case n == 2:
				k := uint8(0)
				if p == 1 {
					k = 7
				}
				g.op3i(x, asm.Z, k, ra, rb, imm)
				if p == 1 {
					g.KMovPair(asm.RAX, asm.RDX, 0, 7)
				}
			case p == 0:
				g.op3i(x, asm.Z, 0, ra, rb, imm)
				g.KMovRD(asm.RAX, 0)
			default:
				g.op3i(x, asm.Z, 0, ra, rb, imm)
				g.KMovRD(asm.RDX, 0)
				g.ShlI32(asm.RDX, uint8(32/n*p))
				g.Or32(asm.RAX, asm.RDX)
			}
		}
		if c != nil && combine != "" {
			g.pred(asm.RDX, c)
			g.combine(combine, asm.RAX, asm.RDX)
		}
		g.setPred(d, asm.RAX)
	}
}

func (g *gen) combine(name string, d, s uint8) {
	switch name {
	case "and":
		g.And32(d, s)
	case "or":
		g.Or32(d, s)
	default:
		g.Xor32(d, s)
	}
}

// predicateLogic is and, or and xor of predicates.
func predicateLogic(op *ir.Op) emitter {
	d, a, b := &op.Args[0], &op.Args[1], &op.Args[2]
	name := op.Opcode()
	if !a.Reg() || !b.Reg() {
		return nil
	}
	return func(g *gen) {
		g.pred(asm.RAX, a)
		g.pred(asm.RDX, b)
		g.combine(name.String(), asm.RAX, asm.RDX)
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
		for p := range g.each(d) {
			g.pin()
			ra, rb := g.src(a, p), g.reg(b, p)
			if p == 0 {
				g.pred(asm.RDX, c)
			}
			masked := g.destMask(d, p) != 0
			var z uint8
			var o asm.Opt
			if !masked {
				z, o = g.dst(d, p)
			}
			g.KMovDR(7, asm.RDX)
			if s := uint8(32 / pieces(cl) * p); s != 0 {
				g.KShiftRD(7, 7, s)
			}
			if !masked {
				g.op3(blend, o.Mask(7), z, rb, ra)
				continue
			}
			g.op3(blend, asm.Z.Mask(7), 0, rb, ra)
			z, o = g.dst(d, p)
			g.V(move, o, z, 0, 0)
		}
	}
}
