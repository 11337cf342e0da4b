package devmath

import "math"

// split is x = 2^k m with m in [√½, √2), for x > 0 and finite; other values give any finite m.
func (b *builder) split(x value) (m, k value) {
	const root = 0x3fe6a09e // upper half of √½
	small := b.is("lt", x, 0x1p-1022)
	lo, hi := b.words(b.sel(small, b.mul(x, 0x1p54), x))
	hi = b.op("add.s32", hi, 0x3ff00000-root)
	k = b.op("sub.s32", b.op("shr.s32", hi, 20), b.op("selp.s32", 1023+54, 1023, small))
	return b.join(lo, b.op("add.s32", b.op("and.b32", hi, 0xfffff), root)), k
}

// logSpecial puts in what the logarithm is of 0, of negative numbers, infinity and NaN.
func (b *builder) logSpecial(x, y value) value {
	y = b.sel(b.is("eq", x, math.Inf(1)), x, y)
	y = b.sel(b.is("ltu", x, 0.0), math.NaN(), y)
	return b.sel(b.is("eq", x, 0.0), math.Inf(-1), y)
}

// logParts is log(m) = f - (h - s(h+r)), with h = f*f/2.
func (b *builder) logParts(m value) (f, h, s, r value) {
	f = b.sub(m, 1.0)
	s = b.div(f, b.add(f, 2.0))
	z := b.mul(s, s)
	return f, b.mul(b.mul(f, 0.5), f), s, b.mul(z, b.poly(logLong, z))
}

func (b *builder) log(x value) value {
	m, k := b.split(x)
	f, h, s, r := b.logParts(m)
	n := b.op("cvt.rn.f64.s32", k)
	t := b.fma(s, b.add(h, r), b.mul(n, ln2Low))
	return b.logSpecial(x, b.fma(n, ln2, b.sub(f, b.sub(h, t))))
}

func (b *builder) log2(x value) value {
	m, k := b.split(x)
	f, h, s, r := b.logParts(m)
	lost := b.fma(b.mul(f, 0.5), f, b.neg(h))
	p := b.fast(f, b.neg(h))
	l := b.add(b.sub(p.lo, lost), b.mul(s, b.add(h, r)))
	p = b.fast(p.hi, l)
	q := b.product(p.hi, log2e)
	ql := b.fma(p.lo, log2e, b.fma(p.hi, log2eLow, q.lo))
	t := b.fast(b.op("cvt.rn.f64.s32", k), q.hi)
	return b.logSpecial(x, b.add(t.hi, b.add(t.lo, ql)))
}

// logPair is log x with about 68 bits, for x > 0 and finite.
func (b *builder) logPair(x value) pair {
	m, k := b.split(x)
	one := b.register('d')
	b.copy(one, 'd', 1.0)
	s := b.ratio(pair{b.sub(m, 1.0), "0d0000000000000000"}, b.sumPair(one, m))
	zh := b.product(s.hi, s.hi)
	zl := b.fma(b.add(s.hi, s.hi), s.lo, zh.lo)
	w := b.product(zh.hi, third)
	wl := b.fma(zl, third, b.fma(zh.hi, thirdLow, w.lo))
	u := b.mul(b.mul(zh.hi, zh.hi), b.poly(logPow, zh.hi))
	a := b.fast(one, w.hi)
	al := b.add(a.lo, b.add(wl, u))
	d := pair{b.add(s.hi, s.hi), b.add(s.lo, s.lo)}
	p := b.product(d.hi, a.hi)
	pl := b.fma(d.hi, al, b.fma(d.lo, a.hi, p.lo))
	n := b.op("cvt.rn.f64.s32", k)
	t := b.fast(b.mul(n, ln2), p.hi)
	return b.fast(t.hi, b.add(t.lo, b.fma(n, ln2Low, pl)))
}

// sumPair is x + y as a pair, whichever is larger.
func (b *builder) sumPair(x, y value) pair { return b.two(x, b.neg(y)) }

// logShort is log x with about 43 bits, for x > 0 and finite.
func (b *builder) logShort(x value) value {
	m, k := b.split(x)
	f := b.sub(m, 1.0)
	s := b.div(f, b.add(f, 2.0))
	z := b.mul(s, s)
	d := b.add(s, s)
	return b.fma(b.op("cvt.rn.f64.s32", k), ln2Full, b.fma(b.mul(d, z), b.poly(logShort, z), d))
}

// log32 is the logarithm in 32 bits, to the base 2 if two.
func (b *builder) log32(x value, two bool) value {
	least, c := 0x3f2aaaab, logSingle // the mantissa lies in [2/3, 4/3), where fewer coefficients do
	if two {
		// In [√½, √2) the sum of exponent and mantissa's logarithm does not lose bits of the latter.
		least, c = 0x3f3504f3, log2Single
	}
	small := b.op("setp.lt.f32", x, 0x1p-126)
	i := b.register('r')
	b.line("mov.b32 %s, %s;", i, b.op("selp.f32", b.op("mul.rn.f32", x, 0x1p23), x, small))
	e := b.op("and.b32", b.op("sub.s32", i, least), -1<<23)
	m := b.register('f')
	b.line("mov.b32 %s, %s;", m, b.op("sub.s32", i, e))
	// The exponent as a number: e is a multiple of 2^23.
	n := b.fma32(b.op("cvt.rn.f32.s32", e), 0x1p-23, b.op("selp.f32", -23.0, 0.0, small))
	f := b.op("sub.rn.f32", m, 1.0)
	q := b.op("mul.rn.f32", b.op("mul.rn.f32", f, f), b.poly32(c, f))
	var y value
	if two {
		y = b.op("add.rn.f32", n, b.fma32(f, log2eSingle, b.fma32(f, log2eSingleLow, q)))
	} else {
		y = b.op("add.rn.f32", f, b.fma32(n, ln2SingleLow, q))
		y = b.fma32(n, ln2Single, y)
	}
	y = b.op("selp.f32", x, y, b.op("setp.eq.f32", x, math.Inf(1)))
	y = b.op("selp.f32", math.NaN(), y, b.op("setp.ltu.f32", x, 0.0))
	return b.op("selp.f32", math.Inf(-1), y, b.op("setp.eq.f32", x, 0.0))
}

// rsqrt is 1/√x: a quotient, and one step of Newton's method with the rest of x*y*y - 1 in two parts.
func (b *builder) rsqrt(x value) value {
	y := b.div(1.0, b.op("sqrt.rn.f64", x))
	h := b.product(x, y)
	e := b.fma(b.neg(h.lo), y, b.fma(b.neg(h.hi), y, 1.0))
	z := b.fma(b.mul(y, 0.5), e, y)
	ok := b.and(b.is("lt", x, math.Inf(1)), b.is("gt", x, 0.0))
	return b.sel(ok, z, y)
}
