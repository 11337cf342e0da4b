package tiletest

import (
	"math/big"

	"github.com/gocuda/cuda/internal/tileir"
)

// format is a kind of floating-point number: widths of exponent and fraction.
type format struct {
	exp, frac uint
	finite    bool // all ones in the exponent are numbers but for the last one, a NaN: e4m3
}

var formats = map[tileir.Kind]format{
	tileir.F16: {exp: 5, frac: 10}, tileir.BF16: {exp: 8, frac: 7}, tileir.F32: {exp: 8, frac: 23},
	tileir.TF32: {exp: 8, frac: 10},
	tileir.F64:  {exp: 11, frac: 52}, tileir.F8E4M3FN: {exp: 4, frac: 3, finite: true},
	tileir.F8E5M2: {exp: 5, frac: 2},
}

func (f format) bias() int     { return 1<<(f.exp-1) - 1 }
func (f format) sign() uint64  { return 1 << (f.exp + f.frac) }
func (f format) inf() uint64   { return (1<<f.exp - 1) << f.frac }
func (f format) nan() uint64   { return f.inf() | 1<<(f.frac-1) }
func (f format) least() uint64 { return 1 << f.frac } // the least normal number

// most is the largest finite number.
func (f format) most() uint64 {
	if f.finite {
		return f.sign() - 2
	}
	return f.inf() - 1
}

// real is a number: NaN, an infinity, or a value that may be a zero with a sign.
type real struct {
	nan, inf, neg bool
	v             *big.Float // of its magnitude
}

func (r real) zero() bool { return !r.nan && !r.inf && r.v.Sign() == 0 }

// exact is the precision in bits in which sums and products of all formats are exact.
const exact = 5000

func magnitude() *big.Float { return new(big.Float).SetPrec(exact) }

// decode gives the number that bits stand for.
func (f format) decode(bits uint64) real {
	r := real{neg: bits&f.sign() != 0, v: magnitude()}
	m := bits &^ f.sign()
	switch {
	case f.finite && m == f.sign()-1, !f.finite && m > f.inf():
		return real{nan: true}
	case !f.finite && m == f.inf():
		r.inf = true
		return r
	}
	e, frac := int(m>>f.frac), m&(1<<f.frac-1)
	if e == 0 {
		e = 1
	} else {
		frac |= 1 << f.frac
	}
	r.v.SetMantExp(magnitude().SetUint64(frac), e-f.bias()-int(f.frac))
	return r
}

// encode rounds a number. sticky says that the magnitude is a little more than v.
func (f format) encode(r real, mode tileir.Rounding, sticky bool) uint64 {
	sign := uint64(0)
	if r.neg {
		sign = f.sign()
	}
	switch {
	case r.nan:
		if f.finite {
			return f.sign() - 1
		}
		return f.nan()
	case r.inf:
		if f.finite {
			return sign | f.sign() - 1
		}
		return sign | f.inf()
	case r.v.Sign() == 0 && !sticky:
		return sign
	}
	e := max(r.v.MantExp(nil)-1, 1-f.bias())
	scaled := magnitude().SetMantExp(r.v, int(f.frac)-e)
	whole, _ := scaled.Int(nil)
	rest := magnitude().Sub(scaled, magnitude().SetInt(whole))
	bits := whole.Uint64()
	half := rest.Cmp(big.NewFloat(0.5))
	if half == 0 && sticky {
		half = 1
	}
	lost := rest.Sign() != 0 || sticky
	up := false
	switch mode {
	case tileir.Zero:
	case tileir.NegativeInf:
		up = lost && r.neg
	case tileir.PositiveInf:
		up = lost && !r.neg
	case tileir.NearestAway:
		up = half >= 0
	default:
		up = half > 0 || half == 0 && bits&1 != 0
	}
	if up {
		bits++
	}
	bits += uint64(e+f.bias()-1) << f.frac
	if bits > f.most() {
		toward := mode == tileir.Zero || mode == tileir.NegativeInf && !r.neg || mode == tileir.PositiveInf && r.neg
		if toward || f.finite {
			return sign | f.most()
		}
		return sign | f.inf()
	}
	return sign | bits
}

// flush makes a subnormal number a zero of its sign.
func (f format) flush(bits uint64) uint64 {
	if bits&^f.sign() < f.least() {
		return bits & f.sign()
	}
	return bits
}

func negate(r real) real {
	r.neg = !r.neg
	return r
}

// signed is the value with its sign.
func (r real) signed() *big.Float {
	v := magnitude().Set(r.v)
	if r.neg {
		v.Neg(v)
	}
	return v
}

func fromSigned(v *big.Float) real {
	return real{neg: v.Signbit(), v: magnitude().Abs(v)}
}

// add adds; the sign of an exact zero is that of IEEE 754.
func add(a, b real, mode tileir.Rounding) real {
	switch {
	case a.nan || b.nan || a.inf && b.inf && a.neg != b.neg:
		return real{nan: true}
	case a.inf:
		return a
	case b.inf:
		return b
	}
	s := fromSigned(magnitude().Add(a.signed(), b.signed()))
	if s.v.Sign() == 0 {
		s.neg = a.neg && b.neg || a.neg != b.neg && mode == tileir.NegativeInf
	}
	return s
}

func mul(a, b real) real {
	neg := a.neg != b.neg
	switch {
	case a.nan || b.nan || a.inf && b.zero() || b.inf && a.zero():
		return real{nan: true}
	case a.inf || b.inf:
		return real{inf: true, neg: neg}
	}
	return real{neg: neg, v: magnitude().Mul(a.v, b.v)}
}

// div divides; sticky says that the quotient is cut.
func div(a, b real) (q real, sticky bool) {
	neg := a.neg != b.neg
	switch {
	case a.nan || b.nan || a.inf && b.inf || a.zero() && b.zero():
		return real{nan: true}, false
	case a.inf || b.zero():
		return real{inf: true, neg: neg}, false
	case b.inf || a.zero():
		return real{neg: neg, v: magnitude()}, false
	}
	v := new(big.Float).SetPrec(200).SetMode(big.ToZero).Quo(a.v, b.v)
	return real{neg: neg, v: magnitude().Set(v)}, v.Acc() != big.Exact
}

func sqrt(a real) (r real, sticky bool) {
	switch {
	case a.nan || a.neg && !a.zero():
		return real{nan: true}, false
	case a.inf || a.zero():
		return a, false
	}
	v := new(big.Float).SetPrec(200).Sqrt(magnitude().Set(a.v))
	// Sqrt rounds to the nearest: step down where that is too much.
	square := magnitude().Mul(magnitude().Set(v), magnitude().Set(v))
	if square.Cmp(a.v) > 0 {
		ulp := new(big.Float).SetMantExp(big.NewFloat(1), v.MantExp(nil)-200)
		v.SetMode(big.ToZero).Sub(v, ulp)
		square = magnitude().Mul(magnitude().Set(v), magnitude().Set(v))
	}
	return real{v: magnitude().Set(v)}, square.Cmp(a.v) != 0
}

// compare orders numbers that are no NaN.
func (r real) compare(b real) int {
	big := func(x real) *big.Float {
		if x.inf {
			v := magnitude().SetInf(x.neg)
			return v
		}
		return x.signed()
	}
	return big(r).Cmp(big(b))
}
