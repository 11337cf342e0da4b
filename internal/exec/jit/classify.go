package jit

import (
	"strings"

	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// opcode is how an operation computes shapes.
type opcode uint8

const (
	opOther opcode = iota
	opMov
	opCvta
	opAdd
	opSub
	opMul
	opMulWide
	opMad
	opMadWide
	opShl
	opShr
	opAnd
	opOr
	opXor
	opNot
	opNeg
	opMin
	opMax
	opSelp
	opSetp
	opSetpFloat
	opLogic // of predicates
	opCvt   // between integers
	opParam
	opLoad
	opSpecial
	opPiece // its template can compute one piece for all
)

type opInfo struct {
	code   opcode
	wide   bool // 64-bit
	signed bool
	pure   bool // nothing but its results
	sbits  uint8
	dbits  uint8
}

// pureForms are operations that only compute.
func isPure(op *ir.Op) bool {
	if op.Ctl == ir.Special {
		for _, p := range []string{"%tid", "%ntid", "%ctaid", "%nctaid", "%laneid"} {
			if strings.HasPrefix(op.Name, p) {
				return true
			}
		}
	}
	if op.Ctl != ir.Plain {
		return false
	}
	n := op.Opcode()
	for _, t := range []map[optab.Opcode]template{intTemplates, floatTemplates, compareTemplates, moveTemplates, convertTemplates, approxTemplates, narrowTemplates, laneTemplates, rareTemplates} {
		if _, ok := t[n]; ok {
			return true
		}
	}
	return false
}

// pieceForms are operations whose templates compute pieces one like the other (gen.each).
var pieceForms = map[optab.Opcode]bool{optab.OpFadd: true, optab.OpFsub: true, optab.OpFmul: true, optab.OpFfma: true, optab.OpFdiv: true, optab.OpSqrt: true, optab.OpRcp: true, optab.OpFmin: true, optab.OpFmax: true, optab.OpFabs: true, optab.OpFneg: true,

	optab.OpLop3: true, optab.OpShf: true, optab.OpIabs: true, optab.OpClz: true, optab.OpBfe: true, optab.OpPrmt: true, optab.OpRsqrt: true, optab.OpEx2: true, optab.OpLg2: true, optab.OpSin: true, optab.OpCos: true, optab.OpTanh: true, optab.OpImul: true}

func classify(op *ir.Op) opInfo {
	in := opInfo{pure: isPure(op)}
	if op.Ctl == ir.Special {
		in.code = opSpecial
		return in
	}
	if op.Ctl != ir.Plain {
		return in
	}
	m := op.Match
	typ := ""
	if len(m.Types) > 0 {
		typ = m.Type(0)
	}
	cl, whole := classOf(typ)
	in.wide = cl == ir.W64
	in.signed = strings.HasPrefix(typ, "s")
	integer := whole && typ[0] != 'f'
	set := func(c opcode, ok bool) {
		if ok {
			in.code = c
		}
	}
	reg := func(c ir.Class, as ...int) bool {
		for _, a := range as {
			if a >= len(op.Args) || !op.Args[a].Reg() || op.Args[a].Class != c {
				return false
			}
		}
		return true
	}
	switch m.Form.Op {
	case optab.OpMov:
		d := &op.Args[0]
		if d.Kind == ir.Row && len(op.Args) == 2 && op.Args[1].Reg() && op.Args[1].Class == d.Class {
			in.wide = d.Class == ir.W64
			set(opMov, d.Class == ir.W64 || d.Class == ir.W32 && wide32(d.Type) || d.Class == ir.WPred)
		}
	case optab.OpCvta, optab.OpCvtaTo:
		in.wide = true
		switch m.One("global", "const", "shared", "shared::cta", "shared::cluster", "local", "param", "param::entry") {
		case "global", "const", "shared", "shared::cta", "shared::cluster":
			set(opCvta, reg(ir.W64, 0, 1))
		}
	case optab.OpIadd:
		set(opAdd, integer && !m.Has("sat") && reg(cl, 0, 1, 2))
	case optab.OpIsub:
		set(opSub, integer && !m.Has("sat") && reg(cl, 0, 1, 2))
	case optab.OpImul, optab.OpImad:
		mad := m.Form.Op == optab.OpImad
		switch m.One("lo", "hi", "wide") {
		case "lo":
			if mad {
				set(opMad, integer && !m.Has("sat") && reg(cl, 0, 1, 2, 3))
			} else {
				set(opMul, integer && reg(cl, 0, 1, 2))
			}
		case "wide":
			if typ != "u32" && typ != "s32" {
				break
			}
			in.wide = true
			if mad {
				set(opMadWide, reg(ir.W64, 0, 3) && reg(ir.W32, 1, 2))
			} else {
				set(opMulWide, reg(ir.W64, 0) && reg(ir.W32, 1, 2))
			}
		default:
			set(opPiece, !mad && whole)
		}
	case optab.OpShl, optab.OpShr:
		in.signed = typ == "s32" || typ == "s64"
		c := opShl
		if m.Form.Op == optab.OpShr {
			c = opShr
		}
		set(c, integer && reg(cl, 0, 1) && reg(ir.W32, 2))
	case optab.OpAnd, optab.OpOr, optab.OpXor:
		c := map[optab.Opcode]opcode{optab.OpAnd: opAnd, optab.OpOr: opOr, optab.OpXor: opXor}[m.Form.Op]
		if typ == "pred" {
			c = opLogic
			whole = true
			cl = ir.WPred
		}
		set(c, whole && reg(cl, 0, 1, 2))
	case optab.OpNot:
		if typ == "pred" {
			set(opLogic, reg(ir.WPred, 0, 1))
		} else {
			set(opNot, whole && reg(cl, 0, 1))
		}
	case optab.OpIneg:
		set(opNeg, integer && reg(cl, 0, 1))
	case optab.OpImin, optab.OpImax:
		c := opMin
		if m.Form.Op == optab.OpImax {
			c = opMax
		}
		set(c, integer && !m.Has("relu") && reg(cl, 0, 1, 2))
	case optab.OpSelp:
		in.wide = op.Args[0].Class == ir.W64
		d := op.Args[0].Class
		set(opSelp, (d == ir.W32 || d == ir.W64) && reg(d, 0, 1, 2) && op.Args[3].Kind == ir.Row)
	case optab.OpSetp:
		a, b := op.Arg("a"), op.Arg("b")
		if !whole || op.Args[0].Second != nil || op.Args[0].Kind != ir.Row || a == nil || b == nil || !a.Reg() || !b.Reg() {
			break
		}
		if typ[0] == 'f' {
			in.code = opSetpFloat
		} else if _, ok := relation(op, intPredicates); ok {
			in.code = opSetp
		}
	case optab.OpCvt:
		if len(m.Types) < 2 || m.One("sat", "ftz", "relu", "satfinite") != "" {
			break
		}
		d, a := &op.Args[0], &op.Args[1]
		st := m.Type(1)
		if d.Kind != ir.Row || a.Kind != ir.Row {
			break
		}
		_, ok := classOf(st)
		switch {
		case integer && ok && st[0] != 'f' && d.Width >= 32 && a.Width >= 32 && int(d.Width) == int(cl.RowSize()/4):
			sc, _ := classOf(st)
			in.code = opCvt
			in.sbits, in.dbits = uint8(sc.RowSize()/4), uint8(cl.RowSize()/4)
			in.signed = st[0] == 's'
			if in.sbits > a.Width {
				in.code = opOther
			}
		case whole && ok:
			in.code = opPiece
		}
	case optab.OpLd, optab.OpLdu:
		ac, ok := accessOf(op, &op.Args[1], &op.Args[0])
		if !ok {
			break
		}
		if ac.space == ir.KernelParam {
			in.code, in.pure = opParam, true
		} else {
			in.code = opLoad
		}
	default:
		set(opPiece, pieceForms[m.Form.Op] && whole)
	}
	return in
}
