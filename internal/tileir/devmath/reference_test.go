package devmath

import (
	"math"
	"math/big"
)

// The reference: functions of package math/big, computed with refBits bits from series.

const refBits = 200

func num(x float64) *big.Float         { return new(big.Float).SetPrec(refBits).SetFloat64(x) }
func plus(x, y *big.Float) *big.Float  { return new(big.Float).SetPrec(refBits).Add(x, y) }
func minus(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(refBits).Sub(x, y) }
func times(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(refBits).Mul(x, y) }
func over(x, y *big.Float) *big.Float  { return new(big.Float).SetPrec(refBits).Quo(x, y) }
func shifted(x *big.Float, n int) *big.Float {
	return new(big.Float).SetPrec(refBits).SetMantExp(x, n)
}

// bigPi is π by Machin's formula.
func bigPi(bits uint) *big.Float {
	n := func(x int64) *big.Float { return new(big.Float).SetPrec(bits).SetInt64(x) }
	atan := func(d int64) *big.Float {
		x, sum := n(1), n(0)
		x.Quo(x, n(d))
		for k := int64(0); x.MantExp(nil) > -int(bits)-10; k++ {
			t := new(big.Float).Quo(x, n(2*k+1))
			if k&1 == 0 {
				sum.Add(sum, t)
			} else {
				sum.Sub(sum, t)
			}
			x.Quo(x, n(d*d))
		}
		return sum
	}
	p := n(4)
	p.Mul(p, atan(5)).Sub(p, atan(239))
	return p.Mul(p, n(4))
}

var (
	refPi  = bigPi(refBits)
	longPi = bigPi(1400)
	refLn2 = bigLn2()
)

// bigLn2 is 2 atanh(1/3).
func bigLn2() *big.Float {
	x, sum := over(num(2), num(3)), num(0)
	for k := 1; x.MantExp(nil) > -refBits-10; k += 2 {
		sum = plus(sum, over(x, num(float64(k))))
		x = over(x, num(9))
	}
	return sum
}

// bigExp is e^x, |x| < 2^12.
func bigExp(x *big.Float) *big.Float {
	q, _ := over(x, refLn2).Float64()
	k := math.Round(q)
	r := shifted(minus(x, times(num(k), refLn2)), -12)
	sum, term := num(1), num(1)
	for i := 1; i <= 14; i++ { // |r| < 2^-13
		term = over(times(term, r), num(float64(i)))
		sum = plus(sum, term)
	}
	for range 12 {
		sum = times(sum, sum)
	}
	return shifted(sum, int(k))
}

// bigLog is log x by Halley's method from the logarithm of package math.
func bigLog(x *big.Float) *big.Float {
	m := new(big.Float).SetPrec(refBits)
	k := x.MantExp(m)
	f, _ := m.Float64()
	if f < math.Sqrt2/2 {
		m, f, k = shifted(m, 1), 2*f, k-1
	}
	y := num(math.Log(f))
	for range 2 {
		e := bigExp(y)
		y = plus(y, shifted(over(minus(m, e), plus(m, e)), 1))
	}
	return plus(y, times(num(float64(k)), refLn2))
}

// bigSinCos reduces with as many bits of π as the largest number needs.
func bigSinCos(x float64) (sin, cos *big.Float) {
	long := new(big.Float).SetPrec(1400).SetFloat64(x)
	half := new(big.Float).SetPrec(1400).SetMantExp(longPi, -1)
	q := new(big.Float).SetPrec(1400).Quo(long, half)
	q.Add(q, big.NewFloat(math.Copysign(0.5, x)))
	n, _ := q.Int(nil)
	rest := long.Sub(long, q.Mul(new(big.Float).SetPrec(1400).SetInt(n), half))
	s, c := bigKernel(new(big.Float).SetPrec(refBits).Set(rest))
	switch new(big.Int).And(n, big.NewInt(3)).Int64() {
	case 1:
		s, c = c, s.Neg(s)
	case 2:
		s.Neg(s)
		c.Neg(c)
	case 3:
		s, c = c.Neg(c), s
	}
	return s, c
}

// bigKernel has sine and cosine of |r| < 1.
func bigKernel(r *big.Float) (sin, cos *big.Float) {
	z := times(r, r)
	sin, cos = num(0), num(0)
	term := num(1)
	for i := 0; i < 44; i += 2 {
		cos = plus(cos, term)
		term = over(term, num(float64(i+1)))
		sin = plus(sin, term)
		term = over(times(term, z), num(-float64(i+2)))
	}
	return times(sin, r), cos
}

// bigAtan2 corrects the angle of package math, of a positive x and y with y <= x; then it turns it to where it belongs.
func bigAtan2(y, x float64) *big.Float {
	ax, ay := num(math.Abs(x)), num(math.Abs(y))
	swap := ay.Cmp(ax) > 0
	if swap {
		ax, ay = ay, ax
	}
	t := over(ay, ax)
	a := times(t, minus(num(1), over(times(t, t), num(3))))
	if t.MantExp(nil) > -80 {
		f, _ := t.Float64()
		a = num(math.Atan(f))
		s, c := bigKernel(a)
		u := over(minus(times(t, c), s), plus(c, times(t, s)))
		a = plus(a, minus(u, over(times(u, times(u, u)), num(3))))
	}
	if swap {
		a = minus(shifted(refPi, -1), a)
	}
	if x < 0 {
		a = minus(refPi, a)
	}
	if y < 0 {
		a.Neg(a)
	}
	return a
}

// reference is what a function of finite arguments is; nil where it has no value or is not defined by a number.
var reference = map[string]func(x, y float64) *big.Float{
	"exp":  func(x, _ float64) *big.Float { return bigExp(num(max(min(x, 2000), -2000))) },
	"exp2": func(x, _ float64) *big.Float { return bigExp(times(num(max(min(x, 2000), -2000)), refLn2)) },
	"log":  func(x, _ float64) *big.Float { return positive(x, bigLog) },
	"log2": func(x, _ float64) *big.Float {
		return positive(x, func(x *big.Float) *big.Float { return over(bigLog(x), refLn2) })
	},
	"rsqrt": func(x, _ float64) *big.Float {
		return positive(x, func(x *big.Float) *big.Float {
			return over(num(1), new(big.Float).SetPrec(refBits).Sqrt(x))
		})
	},
	"sin": func(x, _ float64) *big.Float { s, _ := bigSinCos(x); return s },
	"cos": func(x, _ float64) *big.Float { _, c := bigSinCos(x); return c },
	"tan": func(x, _ float64) *big.Float { s, c := bigSinCos(x); return over(s, c) },
	"sinh": func(x, _ float64) *big.Float {
		if math.Abs(x) < 0x1p-10 { // the difference would lose what counts
			z := times(num(x), num(x))
			sum, term := num(x), num(x)
			for i := 2; i < 24; i += 2 {
				term = over(times(term, z), num(float64(i*(i+1))))
				sum = plus(sum, term)
			}
			return sum
		}
		e := bigExp(num(max(min(x, 2000), -2000)))
		return shifted(minus(e, over(num(1), e)), -1)
	},
	"cosh": func(x, _ float64) *big.Float {
		e := bigExp(num(max(min(x, 2000), -2000)))
		return shifted(plus(e, over(num(1), e)), -1)
	},
	"tanh": func(x, _ float64) *big.Float {
		if math.Abs(x) < 0x1p-30 {
			return minus(num(x), over(times(num(x), times(num(x), num(x))), num(3)))
		}
		e := bigExp(num(2 * max(min(x, 1000), -1000)))
		return over(minus(e, num(1)), plus(e, num(1)))
	},
	"atan2": func(y, x float64) *big.Float {
		if x == 0 || y == 0 {
			return nil
		}
		return bigAtan2(y, x)
	},
	"pow":  bigPow,
	"powi": bigPow,
}

func positive(x float64, f func(x *big.Float) *big.Float) *big.Float {
	if !(x > 0) {
		return nil
	}
	return f(num(x))
}

func bigPow(x, y float64) *big.Float {
	if x == 0 || y == 0 || x < 0 && y != math.Trunc(y) {
		return nil
	}
	t := times(num(y), bigLog(num(math.Abs(x))))
	if t.MantExp(nil) > 11 {
		t = num(math.Copysign(2000, float64(t.Sign())))
	}
	r := bigExp(t)
	if x < 0 && math.Mod(y, 2) != 0 {
		r.Neg(r)
	}
	return r
}
