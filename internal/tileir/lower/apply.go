package lower

import (
	"math"

	"github.com/gocuda/cuda/internal/tileir"
)

// apply writes an operation on elements, or one that leaves elements as they are.
func (g *fn) apply(o *tileir.Op, a []reg) reg {
	t := o.Results[0].Type.Elem.Kind
	switch o.Code {
	case tileir.Reshape, tileir.Broadcast, tileir.Permute, tileir.Extract, tileir.Assume, tileir.PtrToInt,
		tileir.IntToPtr, tileir.PtrToPtr:
		return a[0]
	case tileir.Select:
		return g.choose(a[0], a[1], a[2])
	case tileir.Offset:
		return g.offset(o, a)
	case tileir.Bitcast:
		from := typeOf(o.Operands[0].Type.Elem)
		return g.fromBits(kindOf(t), g.bitsOf(from, a[0]))
	case tileir.CmpI:
		return g.cmpI(o, a)
	case tileir.CmpF:
		return g.cmpF(o, a)
	case tileir.ExtI:
		return g.convertInt(o.Operands[0].Type.Elem.Kind, t, a[0], o.Sign == tileir.Signed)
	case tileir.TruncI:
		return g.convertInt(o.Operands[0].Type.Elem.Kind, t, a[0], true)
	case tileir.FToF:
		return g.convertFloat(o, o.Operands[0].Type.Elem.Kind, t, a[0])
	case tileir.FToI:
		return g.floatToInt(o, o.Operands[0].Type.Elem.Kind, t, a[0])
	case tileir.IToF:
		return g.intToFloat(o, o.Operands[0].Type.Elem.Kind, t, a[0])
	case tileir.AddI, tileir.SubI, tileir.MulI, tileir.MulHiI, tileir.DivI, tileir.RemI, tileir.AndI, tileir.OrI,
		tileir.XOrI, tileir.ShLI, tileir.ShRI, tileir.MaxI,
		tileir.MinI, tileir.AbsI, tileir.NegI:
		return g.integer(o, t, a)
	}
	return g.float(o, t, a)
}

// choose is a where p holds, else b.
func (g *fn) choose(p, a, b reg) reg {
	if a.text == b.text {
		return a
	}
	switch a.class {
	case pred:
		// p ? a : b without selp, which has no predicates.
		x := g.e.op(pred, "and.pred", p, a)
		q := g.e.op(pred, "not.pred", p)
		return g.e.op(pred, "or.pred", x, g.e.op(pred, "and.pred", q, b))
	case b16:
		return g.e.op(b16, "selp.b16", a, b, p)
	case b64:
		return g.e.op(b64, "selp.b64", a, b, p)
	}
	return g.e.op(b32, "selp.b32", a, b, p)
}

// offset moves a pointer by elements.
func (g *fn) offset(o *tileir.Op, a []reg) reg {
	p := o.Operands[0].Type.Elem.Elem
	if p.Kind.Bits() == 4 && p.Number() {
		g.fail(o, "pointers to elements of four bits have no arithmetic here")
	}
	n := int64(p.Bytes())
	k := o.Operands[1].Type.Elem.Kind
	i := a[1]
	switch {
	case i.imm:
		return g.e.add(64, a[0], number(b64, i.v*n))
	case k == tileir.I64:
		return g.e.add(64, a[0], g.e.mul(64, i, number(b64, n)))
	case k == tileir.I1:
		i = g.extended(k, i, true)
	}
	return g.e.add(64, a[0], g.e.op(b64, "mul.wide.s32", i, number(b32, n)))
}

// bitsOf gives the bits of an element, zero-extended, in 32 or 64 bits.
func (g *fn) bitsOf(t *elem, r reg) reg {
	switch {
	case t.class == pred:
		return g.extended(t.kind, r, false)
	case t.class == b16:
		return g.e.op(b32, "cvt.u32.u16", r)
	case t.kind == tileir.I4 || t.kind == tileir.I8 || t.kind == tileir.I16:
		return g.unsigned(t.kind, r)
	}
	return r
}

// fromBits makes an element of the lowest bits of a register.
func (g *fn) fromBits(t *elem, r reg) reg {
	if t.class != b64 && r.class == b64 {
		r = g.e.op(b32, "cvt.u32.u64", r)
	}
	switch {
	case t.class == pred:
		r = g.e.op(b32, "and.b32", r, number(b32, 1))
		return g.e.op(pred, "setp.ne.u32", r, number(b32, 0))
	case t.class == b16:
		return g.e.op(b16, "cvt.u16.u32", r)
	case t.kind == tileir.I4 || t.kind == tileir.I8 || t.kind == tileir.I16:
		return g.narrow(t.kind, r)
	case t.kind.Float() && t.kind.Bits() < 16:
		return g.e.op(b32, "and.b32", r, number(b32, 1<<t.kind.Bits()-1))
	}
	return r
}

// paddingBits are the bits of the padding of a view.
func paddingBits(k tileir.Kind, p tileir.Padding) uint64 {
	if !k.Float() {
		return 0
	}
	type format struct{ sign, inf, nan uint64 }
	f := map[tileir.Kind]format{
		tileir.F16:  {0x8000, 0x7c00, 0x7e00},
		tileir.BF16: {0x8000, 0x7f80, 0x7fc0},
		tileir.F32:  {0x80000000, 0x7f800000, 0x7fc00000},
		// The bits of a tf32 constant are its upper ones.
		tileir.TF32:     {1 << 18, 0x3fc00, 0x3fe00},
		tileir.F64:      {1 << 63, math.Float64bits(math.Inf(1)), 0x7ff8000000000000},
		tileir.F8E5M2:   {0x80, 0x7c, 0x7f},
		tileir.F8E4M3FN: {0x80, 0x7f, 0x7f},
	}[k]
	switch p {
	case tileir.PadNegZero:
		return f.sign
	case tileir.PadNaN:
		return f.nan
	case tileir.PadPosInf:
		return f.inf
	case tileir.PadNegInf:
		return f.inf | f.sign
	}
	return 0
}
