package lower

import (
	"github.com/gocuda/cuda/internal/tileir"
)

// names8 are the names that PTX has for numbers of eight bits and four.
var names8 = map[tileir.Kind]string{tileir.F8E4M3FN: "e4m3", tileir.F8E5M2: "e5m2", tileir.F4E2M1FN: "e2m1"}

// unpacked gives a float as f32; an f64 stays as it is.
func (g *fn) unpacked(o *tileir.Op, k tileir.Kind, r reg) reg {
	switch k {
	case tileir.F16, tileir.BF16:
		return g.up(k, r)
	case tileir.F32, tileir.F64, tileir.TF32:
		return r
	case tileir.F8E4M3FN, tileir.F8E5M2:
		pair := g.e.op(b32, "cvt.rn.f16x2."+names8[k]+"x2", g.e.op(b16, "cvt.u16.u32", r))
		return g.e.op(b32, "cvt.f32.f16", g.e.op(b16, "cvt.u16.u32", pair))
	case tileir.F4E2M1FN:
		return g.fourBits(r)
	}
	g.fail(o, "no conversion from %s", elemName(k))
	return reg{}
}

// fourBits gives an f4E2M1FN as f32: sign, two bits of exponent with bias 1, one of fraction. Its bits in the place of
// those of an f32 are the number times 2^-126, subnormal ones included.
func (g *fn) fourBits(r reg) reg {
	e := g.e
	sign := e.op(b32, "shl.b32", e.op(b32, "and.b32", r, number(b32, 8)), number(b32, 28))
	rest := e.op(b32, "shl.b32", e.op(b32, "and.b32", r, number(b32, 7)), number(b32, 22))
	v := e.op(b32, "mul.rn.f32", rest, reg{text: "0f7E800000", class: b32, imm: true, v: 1}) // 2^126
	return e.op(b32, "or.b32", v, sign)
}

func elemName(k tileir.Kind) string { return (&tileir.Type{Kind: k}).String() }

// convertFloat rounds a float to another type.
func (g *fn) convertFloat(o *tileir.Op, from, to tileir.Kind, r reg) reg {
	e := g.e
	if from == to {
		return r
	}
	x := g.unpacked(o, from, r)
	if from == tileir.F64 {
		switch to {
		case tileir.F32:
			return e.op(b32, "cvt"+mode4(o.Rounding)+".f32.f64", x)
		case tileir.F16:
			return e.op(b16, "cvt"+mode4(o.Rounding)+".f16.f64", x)
		}
		// Two roundings are as one if the first one keeps in its last bit that something was lost.
		x = g.oddSingle(x)
	}
	switch to {
	case tileir.F16, tileir.BF16:
		return g.down(to, x, o.Rounding)
	case tileir.F32:
		return x
	case tileir.F64:
		return e.op(b64, "cvt.f64.f32", x)
	case tileir.TF32:
		if o.Rounding == tileir.NearestAway {
			return e.op(b32, "cvt.rna.tf32.f32", x)
		}
		return g.roundTF32(x, o.Rounding)
	case tileir.F8E4M3FN, tileir.F8E5M2:
		pair := e.op(b16, "cvt.rn.satfinite."+names8[to]+"x2.f32", reg{text: "0f00000000", class: b32, imm: true}, x)
		return e.op(b32, "and.b32", e.op(b32, "cvt.u32.u16", pair), number(b32, 0xff))
	}
	g.fail(o, "no conversion to %s", elemName(to))
	return reg{}
}

// roundTF32 rounds an f32 to ten bits of fraction, to zero or to the nearest, ties to even; the instructions cvt.rz and
// cvt.rn.tf32.f32 have no machine code here. Infinities and NaNs stay as they are.
func (g *fn) roundTF32(x reg, round tileir.Rounding) reg {
	e := g.e
	r := x
	if round != tileir.Zero {
		last := e.op(b32, "and.b32", e.op(b32, "shr.u32", x, number(b32, 13)), number(b32, 1))
		r = e.op(b32, "add.s32", e.op(b32, "add.s32", x, number(b32, 0xfff)), last)
	}
	r = e.op(b32, "and.b32", r, number(b32, -0x2000))
	finite := e.op(pred, "setp.lt.u32", e.op(b32, "and.b32", x, number(b32, 0x7fffffff)), number(b32, 0x7f800000))
	return g.choose(finite, r, x)
}

// oddSingle rounds an f64 to f32 toward zero, with the last bit set where that lost something.
func (g *fn) oddSingle(x reg) reg {
	e := g.e
	z := e.op(b32, "cvt.rz.f32.f64", x)
	p := e.op(pred, "setp.neu.f64", e.op(b64, "cvt.f64.f32", z), x)
	p = e.op(pred, "and.pred", p, e.op(pred, "setp.num.f64", x, x))
	return e.op(b32, "or.b32", z, e.op(b32, "selp.b32", number(b32, 1), number(b32, 0), p))
}

// intToFloat converts an integer.
func (g *fn) intToFloat(o *tileir.Op, from, to tileir.Kind, r reg) reg {
	e := g.e
	signed := o.Sign == tileir.Signed
	r = g.extended(from, r, signed)
	t := ".u32"
	if signed {
		t = ".s32"
	}
	if from == tileir.I64 {
		t = t[:2] + "64"
	}
	if r.imm {
		r = e.op(r.class, "mov"+classType[r.class], r)
	}
	round := mode4(o.Rounding)
	switch to {
	case tileir.F32:
		return e.op(b32, "cvt"+round+".f32"+t, r)
	case tileir.F64:
		return e.op(b64, "cvt"+round+".f64"+t, r)
	case tileir.F16:
		return e.op(b16, "cvt"+round+".f16"+t, r)
	}
	// By way of f64, or of an f32 that keeps in its last bit that something was lost.
	var x reg
	if from == tileir.I64 {
		x = e.op(b32, "cvt.rz.f32"+t, r)
		back := e.op(b64, "cvt.rzi"+t+".f32", x)
		p := e.op(pred, "setp.ne.s64", back, r)
		x = e.op(b32, "or.b32", x, e.op(b32, "selp.b32", number(b32, 1), number(b32, 0), p))
	} else {
		x = g.oddSingle(e.op(b64, "cvt.rn.f64"+t, r))
	}
	return g.convertFloat(o, tileir.F32, to, x)
}

// floatToInt cuts a float off.
func (g *fn) floatToInt(o *tileir.Op, from, to tileir.Kind, r reg) reg {
	e := g.e
	x := g.unpacked(o, from, r)
	_, t := widest(from)
	sign := ".u"
	if o.Sign == tileir.Signed {
		sign = ".s"
	}
	saturating := o.Flags&tileir.Saturating != 0
	if to == tileir.I1 && !saturating {
		// Whatever is not zero is true: cuTile Python writes its casts to bool so, and its tests (test_cast.py of
		// NVIDIA/cutile-python) expect what PyTorch answers, also for fractions.
		c, _ := widest(from)
		return e.op(pred, "setp.neu."+t, x, e.op(c, "mov"+classType[c], number(c, 0)))
	}
	known := func(v reg) reg {
		if !saturating {
			return v
		}
		// The instructions give other numbers for NaN where they do not saturate to a width of their own.
		p := e.op(pred, "setp.num."+t, x, x)
		return g.choose(p, v, e.op(v.class, "mov"+classType[v.class], number(v.class, 0)))
	}
	switch to {
	case tileir.I64:
		return known(e.op(b64, "cvt.rzi"+sign+"64."+t, x))
	case tileir.I32:
		return known(e.op(b32, "cvt.rzi"+sign+"32."+t, x))
	}
	v := known(e.op(b32, "cvt.rzi"+sign+"32."+t, x))
	n := to.Bits()
	// What is beyond an i16 is undefined; of numbers of eight bits an H200 makes the largest one (recorded).
	eight := from.Bits() == 8 && n == 16
	switch {
	case (saturating || eight) && o.Sign == tileir.Signed:
		v = e.op(b32, "min.s32", v, number(b32, 1<<(n-1)-1))
		v = e.op(b32, "max.s32", v, number(b32, -1<<(n-1)))
	case saturating:
		v = e.op(b32, "min.u32", v, number(b32, 1<<n-1))
	}
	return g.narrow(to, v)
}
