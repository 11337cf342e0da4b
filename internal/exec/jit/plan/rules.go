package plan

import (
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Rule is how the variation of an operation's results follows from those of its sources.
type Rule uint8

const (
	RuleNone Rule = iota
	RuleMov
	RuleCvta
	RuleAdd
	RuleSub
	RuleMul
	RuleMulWide
	RuleMad
	RuleMadWide
	RuleShl
	RuleShr
	RuleAnd
	RuleOr
	RuleXor
	RuleNot
	RuleNeg
	RuleMin
	RuleMax
	RuleSelp
	RuleSetp
	RuleSetpFloat
	RuleLogic // of predicates
	RuleCvt   // between integers
	RuleParam
	RuleLoad
	RuleSpecial
	RulePiece // its template can compute one piece for all
)

type Info struct {
	Rule       Rule
	Wide       bool // 64-bit
	Signed     bool
	pure       bool // nothing but its results
	SourceBits uint8
	Bits       uint8
}

// isPure says whether an operation only computes, from its operands and what is fixed in a run of a warp.
func isPure(op *ir.Op) bool {
	if op.Ctl == ir.Special {
		switch op.SReg {
		case optab.SRegTid, optab.SRegNtid, optab.SRegCtaid, optab.SRegNctaid, optab.SRegLaneid:
			return true
		}
	}
	return op.Ctl == ir.Plain && op.Pure()
}

func classify(op *ir.Op) Info {
	in := Info{pure: isPure(op)}
	if op.Ctl == ir.Special {
		in.Rule = RuleSpecial
		return in
	}
	if op.Ctl != ir.Plain {
		return in
	}
	m, typ, code := op.Mods(), op.Type(0), op.Opcode()
	cl, whole := ClassOf(typ)
	in.Wide = cl == ir.W64
	in.Signed = typ.Signed()
	integer := whole && typ.Info().Class != optab.Float
	set := func(c Rule, ok bool) {
		if ok {
			in.Rule = c
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
	switch code {
	case optab.OpMov:
		d := &op.Args[0]
		if d.Kind == ir.Row && len(op.Args) == 2 && op.Args[1].Reg() && op.Args[1].Class == d.Class {
			in.Wide = d.Class == ir.W64
			set(RuleMov, d.Class == ir.W64 || d.Class == ir.W32 && Wide32(typ) || d.Class == ir.WPred)
		}
	case optab.OpCvta, optab.OpCvtaTo:
		in.Wide = true
		switch m.Space {
		case optab.SpaceGlobal, optab.SpaceConst, optab.SpaceShared, optab.SpaceCluster:
			set(RuleCvta, reg(ir.W64, 0, 1))
		}
	case optab.OpIadd:
		set(RuleAdd, integer && !m.Sat && reg(cl, 0, 1, 2))
	case optab.OpIsub:
		set(RuleSub, integer && !m.Sat && reg(cl, 0, 1, 2))
	case optab.OpImul, optab.OpImad:
		mad := code == optab.OpImad
		switch m.Part {
		case optab.PartLo:
			if mad {
				set(RuleMad, integer && !m.Sat && reg(cl, 0, 1, 2, 3))
			} else {
				set(RuleMul, integer && reg(cl, 0, 1, 2))
			}
		case optab.PartWide:
			if typ != optab.U32 && typ != optab.S32 {
				break
			}
			in.Wide = true
			if mad {
				set(RuleMadWide, reg(ir.W64, 0, 3) && reg(ir.W32, 1, 2))
			} else {
				set(RuleMulWide, reg(ir.W64, 0) && reg(ir.W32, 1, 2))
			}
		default:
			set(RulePiece, !mad && whole)
		}
	case optab.OpShl, optab.OpShr:
		in.Signed = typ == optab.S32 || typ == optab.S64
		c := RuleShl
		if code == optab.OpShr {
			c = RuleShr
		}
		set(c, integer && reg(cl, 0, 1) && reg(ir.W32, 2))
	case optab.OpAnd, optab.OpOr, optab.OpXor:
		c := map[optab.Opcode]Rule{optab.OpAnd: RuleAnd, optab.OpOr: RuleOr, optab.OpXor: RuleXor}[code]
		if typ == optab.Pred {
			c = RuleLogic
			whole = true
			cl = ir.WPred
		}
		set(c, whole && reg(cl, 0, 1, 2))
	case optab.OpNot:
		if typ == optab.Pred {
			set(RuleLogic, reg(ir.WPred, 0, 1))
		} else {
			set(RuleNot, whole && reg(cl, 0, 1))
		}
	case optab.OpIneg:
		set(RuleNeg, integer && reg(cl, 0, 1))
	case optab.OpImin, optab.OpImax:
		c := RuleMin
		if code == optab.OpImax {
			c = RuleMax
		}
		set(c, integer && !m.Relu && reg(cl, 0, 1, 2))
	case optab.OpIdiv, optab.OpRem:
		set(RulePiece, integer && reg(cl, 0, 1, 2))
	case optab.OpPopc, optab.OpClz, optab.OpBfind, optab.OpBrev:
		set(RulePiece, whole && len(op.Args) == 2)
	case optab.OpSelp:
		in.Wide = op.Args[0].Class == ir.W64
		d := op.Args[0].Class
		set(RuleSelp, (d == ir.W32 || d == ir.W64) && reg(d, 0, 1, 2) && op.Args[3].Kind == ir.Row)
	case optab.OpSetp:
		a, b := op.Arg("a"), op.Arg("b")
		if !whole || op.Args[0].Second != nil || op.Args[0].Kind != ir.Row || a == nil || b == nil || !a.Reg() ||
			!b.Reg() {
			break
		}
		if typ.Info().Class == optab.Float {
			in.Rule = RuleSetpFloat
		} else if m.Cmp != optab.NoCmp && m.Cmp <= optab.CmpHs {
			in.Rule = RuleSetp
		}
	case optab.OpCvt:
		if m.Sat || m.Ftz || m.Relu || m.Satfinite {
			break
		}
		d, a := &op.Args[0], &op.Args[1]
		st := m.Type(1)
		if d.Kind != ir.Row || a.Kind != ir.Row {
			break
		}
		_, ok := ClassOf(st)
		switch {
		case integer && ok && st.Info().Class != optab.Float && d.Width >= 32 && a.Width >= 32 &&
			int(d.Width) == int(cl.RowSize()/4):
			sc, _ := ClassOf(st)
			in.Rule = RuleCvt
			in.SourceBits, in.Bits = uint8(sc.RowSize()/4), uint8(cl.RowSize()/4)
			in.Signed = st.Signed()
			if in.SourceBits > a.Width {
				in.Rule = RuleNone
			}
		case whole && ok:
			in.Rule = RulePiece
		}
	case optab.OpLd, optab.OpLdu:
		ac, ok := AccessOf(op, &op.Args[1], &op.Args[0])
		if !ok {
			break
		}
		if ac.Space == ir.KernelParam {
			in.Rule, in.pure = RuleParam, true
		} else {
			in.Rule = RuleLoad
		}
	default:
		set(RulePiece, op.Form().Vector && whole)
	}
	return in
}
