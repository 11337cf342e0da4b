package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// Integers of up to 16 bits stand in 32-bit registers, sign-extended: then comparisons are right whether signed or not.

// narrow extends the lowest bits of a register.
func (g *fn) narrow(k tileir.Kind, r reg) reg {
	switch k {
	case tileir.I16:
		if r.imm {
			return number(b32, int64(int16(r.v)))
		}
		return g.e.op(b32, "cvt.s32.s16", r)
	case tileir.I8:
		if r.imm {
			return number(b32, int64(int8(r.v)))
		}
		return g.e.op(b32, "cvt.s32.s8", r)
	case tileir.I4:
		return g.e.op(b32, "shr.s32", g.e.op(b32, "shl.b32", r, number(b32, 28)), number(b32, 28))
	case tileir.I1:
		r = g.e.op(b32, "and.b32", r, number(b32, 1))
		return g.e.op(pred, "setp.ne.u32", r, number(b32, 0))
	}
	return r
}

// unsigned zero-extends an integer to 32 bits; one of 32 or 64 is left as it is.
func (g *fn) unsigned(k tileir.Kind, r reg) reg {
	if n := k.Bits(); n < 32 {
		return g.e.op(b32, "and.b32", r, number(b32, 1<<n-1))
	}
	return r
}

// extended gives an integer of up to 32 bits as 32 bits; others are left as they are.
func (g *fn) extended(k tileir.Kind, r reg, signed bool) reg {
	switch {
	case k == tileir.I1 && r.class == pred:
		v := int64(1)
		if signed {
			v = -1
		}
		return g.e.op(b32, "selp.b32", number(b32, v), number(b32, 0), r)
	case signed || k == tileir.I32 || k == tileir.I64:
		return r
	}
	return g.unsigned(k, r)
}

// convertInt extends or truncates.
func (g *fn) convertInt(from, to tileir.Kind, r reg, signed bool) reg {
	if from.Bits() < to.Bits() {
		r = g.extended(from, r, signed)
		if to != tileir.I64 {
			return r
		}
		if r.imm {
			return number(b64, r.v)
		}
		if signed {
			return g.e.op(b64, "cvt.s64.s32", r)
		}
		return g.e.op(b64, "cvt.u64.u32", r)
	}
	if from == tileir.I64 && to != tileir.I64 {
		if r.imm {
			r = number(b32, int64(int32(r.v)))
		} else {
			r = g.e.op(b32, "cvt.u32.u64", r)
		}
	}
	if to == from {
		return r
	}
	return g.narrow(to, r)
}

func (g *fn) integer(o *tileir.Op, k tileir.Kind, a []reg) reg {
	if k == tileir.I1 {
		name := ""
		switch o.Code {
		case tileir.AndI, tileir.MulI:
			name = "and.pred"
		case tileir.OrI:
			name = "or.pred"
		case tileir.XOrI, tileir.AddI, tileir.SubI:
			name = "xor.pred"
		case tileir.NegI, tileir.AbsI:
			return a[0]
		default:
			signed := o.Sign == tileir.Signed
			b := make([]reg, len(a))
			for i := range a {
				b[i] = g.extended(k, a[i], signed)
			}
			return g.narrow(k, g.word(o, tileir.I32, b))
		}
		return g.e.op(pred, name, a[0], a[1])
	}
	return g.word(o, k, a)
}

// folded computes what addresses and indices are often made of, when it is known.
func folded(o *tileir.Op, k tileir.Kind, a []reg) (reg, bool) {
	if len(a) != 2 || !a[0].imm || !a[1].imm {
		return reg{}, false
	}
	v := int64(0)
	switch o.Code {
	case tileir.AddI:
		v = a[0].v + a[1].v
	case tileir.SubI:
		v = a[0].v - a[1].v
	case tileir.MulI:
		v = a[0].v * a[1].v
	default:
		return reg{}, false
	}
	switch k {
	case tileir.I64:
		return number(b64, v), true
	case tileir.I32:
		return number(b32, int64(int32(v))), true
	}
	return reg{}, false
}

// word writes an operation on integers of 8 to 64 bits.
func (g *fn) word(o *tileir.Op, k tileir.Kind, a []reg) reg {
	if r, ok := folded(o, k, a); ok {
		return r
	}
	e := g.e
	c, w, s, u := b32, ".b32", ".s32", ".u32"
	if k == tileir.I64 {
		c, w, s, u = b64, ".b64", ".s64", ".u64"
	}
	small := k.Bits() < 32
	signed := o.Sign == tileir.Signed
	sign := u
	if signed {
		sign = s
	}
	zero := func(r reg) reg { return g.extended(k, r, false) }
	plain := func(name string, args ...reg) reg { return g.narrow(k, e.op(c, name, args...)) }
	switch o.Code {
	case tileir.AddI:
		return plain("add"+s, a...)
	case tileir.SubI:
		return plain("sub"+s, a...)
	case tileir.MulI:
		return plain("mul.lo"+s, a...)
	case tileir.MulHiI:
		if small {
			p := e.op(b32, "mul.lo.u32", zero(a[0]), zero(a[1]))
			return g.narrow(k, e.op(b32, "shr.u32", p, number(b32, int64(k.Bits()))))
		}
		return e.op(c, "mul.hi"+u, a...)
	case tileir.AndI:
		return e.op(c, "and"+w, a...)
	case tileir.OrI:
		return e.op(c, "or"+w, a...)
	case tileir.XOrI:
		return e.op(c, "xor"+w, a...)
	case tileir.NegI:
		return plain("neg"+s, a...)
	case tileir.AbsI:
		return plain("abs"+s, a...)
	case tileir.MaxI:
		return e.op(c, "max"+sign, a...)
	case tileir.MinI:
		return e.op(c, "min"+sign, a...)
	case tileir.ShLI, tileir.ShRI:
		n := zero(a[1])
		if k == tileir.I64 && !n.imm {
			n = e.op(b32, "cvt.u32.u64", n)
		}
		switch {
		case o.Code == tileir.ShLI:
			return plain("shl"+w, a[0], n)
		case signed:
			return e.op(c, "shr"+s, a[0], n)
		}
		return plain("shr"+u, zero(a[0]), n)
	case tileir.RemI:
		if !signed {
			a = []reg{zero(a[0]), zero(a[1])}
		}
		return plain("rem"+sign, a...)
	case tileir.DivI:
		return g.divI(o, k, a)
	}
	g.fail(o, "no such operation on integers")
	return reg{}
}

// divI divides and rounds to zero, up or down.
func (g *fn) divI(o *tileir.Op, k tileir.Kind, a []reg) reg {
	e := g.e
	c, s := b32, "32"
	if k == tileir.I64 {
		c, s = b64, "64"
	}
	sign := ".u" + s
	if o.Sign == tileir.Signed {
		sign = ".s" + s
	} else {
		a = []reg{g.extended(k, a[0], false), g.extended(k, a[1], false)}
	}
	q := e.op(c, "div"+sign, a...)
	if o.Rounding != tileir.PositiveInf && o.Rounding != tileir.NegativeInf {
		return g.narrow(k, q)
	}
	rem := e.op(c, "sub.s"+s, a[0], e.op(c, "mul.lo.s"+s, q, a[1]))
	p := e.op(pred, "setp.ne.s"+s, rem, number(c, 0))
	up := o.Rounding == tileir.PositiveInf
	if o.Sign == tileir.Signed {
		// The quotient of numbers of one sign was cut downward, that of others upward.
		cmp := "setp.lt.s"
		if up {
			cmp = "setp.ge.s"
		}
		p = e.op(pred, "and.pred", p, e.op(pred, cmp+s, e.op(c, "xor.b"+s, a[0], a[1]), number(c, 0)))
	} else if !up {
		return g.narrow(k, q)
	}
	step := int64(1)
	if !up {
		step = -1
	}
	return g.narrow(k, e.op(c, "add.s"+s, q, e.op(c, "selp.b"+s, number(c, step), number(c, 0), p)))
}

var comparisons = [...]string{tileir.Equal: "eq", tileir.NotEqual: "ne", tileir.Less: "lt", tileir.LessOrEqual: "le",
	tileir.Greater: "gt", tileir.GreaterOrEqual: "ge"}

func (g *fn) cmpI(o *tileir.Op, a []reg) reg {
	k := o.Operands[0].Type.Elem.Kind
	signed := o.Sign == tileir.Signed
	if k == tileir.I1 {
		a = []reg{g.extended(k, a[0], signed), g.extended(k, a[1], signed)}
	}
	t := ".u"
	if signed {
		t = ".s"
	}
	n := "32"
	if k == tileir.I64 {
		n = "64"
	}
	if a[0].imm {
		a = []reg{g.e.op(a[0].class, "mov.b"+n, a[0]), a[1]}
	}
	return g.e.op(pred, "setp."+comparisons[o.Compare]+t+n, a...)
}
