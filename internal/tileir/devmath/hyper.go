package devmath

import "math"

// half is (e^a)/2 for a >= 0 as a pair, infinite beyond 712; the pair holds where it matters, below 40.
func (b *builder) half(a value, c []float64) pair {
	p, k := b.expPair(b.sel(b.is("gt", a, 712.0), 712.0, a), "", c)
	k = b.op("sub.s32", k, 1)
	h := b.fast(p.hi, p.lo)
	// The lower part cannot overflow, and has no meaning once the upper one is infinite.
	return pair{b.scale(h.hi, k), b.scale(h.lo, k)}
}

// sinh is a polynomial up to 1 and (e^x - e^-x)/2 beyond.
func (b *builder) sinh(x value) value {
	a := b.abs(x)
	e := b.half(a, expLong)
	large := b.add(e.hi, b.sub(e.lo, b.div(0.25, e.hi)))
	z := b.mul(a, a)
	small := b.fma(b.mul(a, z), b.poly(sinhLong, z), a)
	// Comparisons with NaN are false, and small is NaN then.
	return b.op("copysign.f64", x, b.sel(b.is("gt", a, 1.0), large, small))
}

func (b *builder) cosh(x value, short bool) value {
	c := expLong
	if short {
		c = expShort
	}
	e := b.half(b.abs(x), c)
	return b.add(e.hi, b.add(e.lo, b.div(0.25, e.hi)))
}

// tanh is a polynomial up to 0.55 and 1 - 2/(e^2x + 1) beyond.
func (b *builder) tanh(x value) value {
	a := b.abs(x)
	p, k := b.expPair(b.sel(b.is("gt", a, 30.0), 60.0, b.add(a, a)), "", expLong)
	p = b.fast(p.hi, p.lo)
	unit, one := b.power(k), b.register('d')
	b.copy(one, 'd', 1.0)
	d := b.fast(b.mul(p.hi, unit), one)
	low := b.fma(p.lo, unit, d.lo)
	q := b.div(2.0, d.hi)
	rest := b.fast(one, b.neg(q))
	large := b.add(rest.hi, b.fma(b.mul(b.mul(q, q), 0.5), low, rest.lo))
	z := b.mul(a, a)
	small := b.fma(b.mul(a, z), b.poly(tanhLong, z), a)
	return b.op("copysign.f64", x, b.sel(b.is("gt", a, 0.55), large, small))
}

// Functions of numbers of 32 bits: e^x in 64 bits leaves 29 of them for the difference to a number near 1.

func (b *builder) sinh32(x value) value {
	p, k := b.expPair(b.clamp(x, -100, 100), "", expLong)
	e := b.mul(b.sum(p), b.power(k))
	y := b.mul(b.sub(e, b.div(1.0, e)), 0.5)
	return b.sel(b.is("lt", b.abs(x), 0x1p-14), x, y)
}

func (b *builder) tanh32(x value) value {
	p, k := b.expPair(b.clamp(b.add(x, x), -60, 60), "", expLong)
	e := b.mul(b.sum(p), b.power(k))
	y := b.div(b.sub(e, 1.0), b.add(e, 1.0))
	return b.sel(b.is("lt", b.abs(x), 0x1p-14), x, y)
}

// pow is x^y; short when both are numbers of 32 bits and so is the result.
func (b *builder) pow(x, y value, short bool) value {
	a := b.abs(x)
	var r value
	if short {
		t := b.clamp(b.mul(y, b.logShort(a)), -400, 400)
		p, k := b.expPair(t, "", expShort)
		r = b.mul(b.sum(p), b.power(k))
	} else {
		l := b.logPair(a)
		t := b.product(y, l.hi)
		low := b.fma(y, l.lo, t.lo)
		low = b.sel(b.is("lt", b.abs(t.hi), 800.0), low, 0.0)
		p, k := b.expPair(b.clamp(t.hi, -800, 800), low, expLong)
		r = b.scale(b.sum(p), k)
	}
	// C99, F.9.4.4. First x of 0 and infinity, then y of infinity: 0 or infinity, but 1 for |x| = 1.
	down := b.negative(y)
	zero, inf := b.is("eq", a, 0.0), b.is("eq", a, math.Inf(1))
	r = b.sel(b.or(zero, inf), b.sel(b.xor(zero, down), 0.0, math.Inf(1)), r)
	ay := b.abs(y)
	grows := b.xor(b.is("gt", a, 1.0), down)
	far := b.sel(b.is("eq", a, 1.0), 1.0, b.sel(grows, math.Inf(1), 0.0))
	r = b.sel(b.is("eq", ay, math.Inf(1)), far, r)
	// Negative x: whether y is an integer, and odd.
	integer := b.is("eq", b.op("cvt.rzi.f64.f64", y), y)
	half := b.mul(y, 0.5)
	odd := b.and(integer, b.is("ne", b.op("cvt.rzi.f64.f64", half), half))
	r = b.sel(b.and(b.negative(x), odd), b.neg(r), r)
	finite := b.and(b.is("lt", x, 0.0), b.is("ne", x, math.Inf(-1)))
	r = b.sel(b.and(finite, b.not(integer)), math.NaN(), r)
	r = b.sel(b.is("nan", x, y), math.NaN(), r)
	return b.sel(b.or(b.is("eq", x, 1.0), b.is("eq", y, 0.0)), 1.0, r)
}

// fmod is the remainder of x / y with the sign of x, exact: of the quotient 50 bits at a time are taken off.
func (b *builder) fmod(x, y value) value {
	a, d := b.abs(x), b.abs(y)
	bad := b.or(b.is("eq", d, 0.0), b.is("equ", a, math.Inf(1)))
	bad = b.or(bad, b.is("nan", d, d))
	// Lanes without a result, and those where it is x, have nothing to do.
	skip := b.or(bad, b.is("lt", a, d))
	r := b.register('d')
	b.copy(r, 'd', a)
	b.when(b.not(skip), func() {
		e := b.exponent(d)
		b.loop(func() value {
			// c = d*2^n with r/c < 2^51: the quotient is exact but for rounding up to an integer.
			n := b.op("max.s32", b.op("sub.s32", b.op("sub.s32", b.exponent(r), e), 50), 0)
			n = b.op("min.s32", n, 2046) // one less than the largest
			half := b.op("shr.s32", n, 1)
			c := b.mul(b.mul(d, b.power(half)), b.power(b.op("sub.s32", n, half)))
			q := b.op("cvt.rzi.f64.f64", b.div(r, c))
			t := b.fma(b.neg(q), c, r)
			b.copy(r, 'd', b.sel(b.is("lt", t, 0.0), b.add(t, c), t))
			return b.is("ge", r, d)
		})
	})
	r = b.sel(bad, math.NaN(), r)
	return b.op("copysign.f64", x, r)
}

// exponent is that of x > 0, subnormal or not.
func (b *builder) exponent(x value) value {
	small := b.is("lt", x, 0x1p-1022)
	_, hi := b.words(b.sel(small, b.mul(x, 0x1p54), x))
	return b.op("sub.s32", b.op("shr.u32", hi, 20), b.op("selp.s32", 1023+54, 1023, small))
}
