package devmath

import "math"

// reduce is x - n*π/2 as a pair, at most about π/4, and n modulo 4 in its two lowest bits. An infinity or NaN gives
// NaN.
func (b *builder) reduce(x value) (p pair, quadrant value) {
	// As numbers of 53 bits, the first two multiples are exact in two parts; the first difference is exact.
	n, q := b.nearest(x, twoOverPi)
	m := b.neg(n)
	w := b.product(n, pi2Low)
	d := b.two(b.fma(m, pi2, x), w.hi)
	l := b.fma(m, pi2Lowest, b.sub(d.lo, w.lo))
	d = b.fast(d.hi, l)
	b.when(b.is("gtu", b.abs(x), 0x1p20), func() { b.reduceLarge(x, d, q) })
	return d, q
}

// reduceLarge does it for |x| > 2^20 with as many bits of 2/π as matter (Payne and Hanek): x = m 2^e with an integer
// m of 53 bits, and what of m 2^e 2/π is no multiple of 4 comes from 192 bits of 2/π. The results go where those of
// the small way are.
func (b *builder) reduceLarge(x value, d pair, q value) {
	b.table = true
	all := b.bits(x)
	_, hi := b.words(x)
	e := b.op("bfe.u32", hi, 20, 11)
	m := b.op("or.b64", b.op("and.b64", all, uint64(1<<52-1)), uint64(1<<52))
	at := b.op("min.u32", b.op("sub.s32", e, 1023-10), 1033) // the first bit of the table that matters
	address := b.register('l')
	b.line("mov.u64 %s, %s;", address, bitsTable)
	offset := b.register('l')
	b.line("mul.wide.u32 %s, %s, 8;", offset, b.op("shr.u32", at, 6))
	address = b.op("add.s64", address, offset)
	var t [4]value
	for i := range t {
		t[i] = b.register('l')
		b.line("ld.const.b64 %s, [%s+%d];", t[i], address, 8*i)
	}
	left := b.op("and.b32", at, 63)
	right := b.op("sub.s32", 63, left)
	var w [3]value
	for i := range w {
		w[i] = b.funnel(t[i], t[i+1], left, right)
	}
	// The fraction of m*w, w being less than 1, as 128 bits.
	low := b.op("mul.hi.u64", m, w[2])
	mid := b.op("mul.lo.u64", m, w[1])
	top := b.op("add.u64", b.op("mul.lo.u64", m, w[0]), b.op("mul.hi.u64", m, w[1]))
	low = b.op("add.u64", low, mid)
	top = b.op("selp.b64", b.op("add.u64", top, 1), top, b.op("setp.lt.u64", low, mid))
	// Its two highest bits are the quadrant; the rest, taken as a signed number, the angle in quadrants, [-½, ½).
	h := b.op("or.b64", b.shift("shl.b64", top, 2), b.shift("shr.u64", low, 62))
	l := b.shift("shl.b64", low, 2)
	minus := b.op("setp.lt.s64", h, 0)
	turn := b.register('r')
	b.line("cvt.u32.u64 %s, %s;", turn, b.shift("shr.u64", top, 62))
	turn = b.op("add.s32", turn, b.op("selp.s32", 1, 0, minus))
	// Magnitude of h:l, shifted up until the highest bit is set.
	nl := b.op("neg.s64", l)
	nh := b.op("selp.b64", b.op("neg.s64", h), b.op("not.b64", h), b.op("setp.eq.s64", l, 0))
	h, l = b.op("selp.b64", nh, h, minus), b.op("selp.b64", nl, l, minus)
	up := b.op("min.u32", b.op("clz.b64", h), 63)
	h, l = b.funnel(h, l, up, b.op("sub.s32", 63, up)), b.shift("shl.b64", l, up)
	// Into two numbers, times 2^-64-up, times π/2, with the signs of the angle and of x.
	a := b.op("cvt.rn.f64.u64", b.op("and.b64", h, ^uint64(1<<11-1)))
	c := b.op("cvt.rn.f64.u64", b.op("or.b64", b.shift("shl.b64", h, 53), b.shift("shr.u64", l, 11)))
	unit := b.power(b.op("sub.s32", -64, up))
	negative := b.op("setp.lt.s32", hi, 0)
	unit = b.sel(b.xor(minus, negative), b.neg(unit), unit)
	a, c = b.mul(a, unit), b.mul(b.mul(c, 0x1p-53), unit)
	p := b.product(a, pi2)
	p = b.fast(p.hi, b.fma(a, pi2Low, b.fma(c, pi2, p.lo)))
	bad := b.op("setp.eq.s32", e, 0x7ff)
	b.copy(d.hi, 'd', b.sel(bad, math.NaN(), p.hi))
	b.copy(d.lo, 'd', p.lo)
	b.copy(q, 'r', b.op("selp.b32", b.op("neg.s32", turn), turn, negative))
}

// shift shifts by a number of 32 bits.
func (b *builder) shift(ins string, x value, n any) value {
	d := b.register('l')
	b.line("%s %s, %s, %s;", ins, d, x, operand("u32", n))
	return d
}

// funnel is the upper half of hi:lo << left, left being less than 64 and right 63-left.
func (b *builder) funnel(hi, lo, left, right value) value {
	return b.op("or.b64", b.shift("shl.b64", hi, left), b.shift("shr.u64", b.shift("shr.u64", lo, 1), right))
}

// sinPair and cosPair are sine and cosine of a reduced angle.
func (b *builder) sinPair(p pair, short bool) pair {
	c := sinLong
	if short {
		c = sinShort
	}
	z := b.mul(p.hi, p.hi)
	t := b.mul(p.lo, b.fma(z, -0.5, 1.0))
	return pair{p.hi, b.fma(b.mul(p.hi, z), b.poly(c, z), t)}
}

func (b *builder) cosPair(p pair, short bool) pair {
	c := cosLong
	if short {
		c = cosShort
	}
	z := b.mul(p.hi, p.hi)
	h := b.mul(z, 0.5)
	w := b.op("sub.rn.f64", 1.0, h)
	rest := b.sub(b.op("sub.rn.f64", 1.0, w), h)
	lost := b.fma(b.mul(p.hi, 0.5), p.hi, b.neg(h)) // of h
	rest = b.sub(rest, b.fma(p.hi, p.lo, lost))
	return pair{w, b.fma(b.mul(z, z), b.poly(c, z), rest)}
}

func (b *builder) bit(q value, mask int) value {
	return b.op("setp.ne.s32", b.op("and.b32", q, mask), 0)
}

func (b *builder) sin(x value, short bool) value {
	p, q := b.reduce(x)
	return b.sel(b.is("lt", b.abs(x), 0x1p-27), x, b.sinOrCos(p, q, short))
}

func (b *builder) cos(x value, short bool) value {
	p, q := b.reduce(x)
	return b.sinOrCos(p, b.op("add.s32", q, 1), short)
}

func (b *builder) sinOrCos(p pair, q value, short bool) value {
	y := b.sel(b.bit(q, 1), b.sum(b.cosPair(p, short)), b.sum(b.sinPair(p, short)))
	return b.sel(b.bit(q, 2), b.neg(y), y)
}

func (b *builder) tan(x value, short bool) value {
	p, q := b.reduce(x)
	s, c := b.sinPair(p, short), b.cosPair(p, short)
	odd := b.bit(q, 1)
	var y value
	if short {
		sin, cos := b.sum(s), b.sum(c)
		y = b.div(b.sel(odd, b.neg(cos), sin), b.sel(odd, sin, cos))
	} else {
		s, c = b.fast(s.hi, s.lo), b.fast(c.hi, c.lo)
		n := pair{b.sel(odd, b.neg(c.hi), s.hi), b.sel(odd, b.neg(c.lo), s.lo)}
		d := pair{b.sel(odd, s.hi, c.hi), b.sel(odd, s.lo, c.lo)}
		y = b.sum(b.ratio(n, d))
	}
	return b.sel(b.is("lt", b.abs(x), 0x1p-27), x, y)
}

// atan2 is the angle of the point (x, y).
func (b *builder) atan2(y, x value, short bool) value {
	c := atanLong
	if short {
		c = atanShort
	}
	ax, ay := b.abs(x), b.abs(y)
	swap := b.is("gt", ay, ax)
	big, small := b.sel(swap, ay, ax), b.sel(swap, ax, ay)
	if !short {
		// The sum must not overflow, nor multiples lose bits. What a number loses here is nothing against the other.
		f := b.sel(b.is("gt", big, 0x1p900), 0x1p-200, b.sel(b.is("lt", big, 0x1p-900), 0x1p200, 1.0))
		big, small = b.mul(big, f), b.mul(small, f)
	}
	// The angle of (big, small), [0, π/4]: beyond π/8 that of (big+small, small-big), plus π/4.
	turn := b.is("gt", small, b.mul(big, 0.41421356237309503))
	t := b.div(b.sel(turn, b.sub(small, big), small), b.sel(turn, b.add(small, big), big))
	z := b.mul(t, t)
	p := b.mul(b.mul(t, z), b.poly(c, z))
	// angle = base + sign*(t+p): the angle of (big, small) from 0 or π/4, swapped π/2 less it, for negative x π less
	// that.
	back := b.negative(x)
	down := b.xor(swap, back)
	// In units of π/4: 0 or 1 for turn; 2 less that if swapped; 4 less that if back.
	n := b.op("selp.s32", 1, 0, turn)
	n = b.op("selp.s32", b.op("sub.s32", 2, n), n, swap)
	n = b.op("selp.s32", b.op("sub.s32", 4, n), n, back)
	u := b.op("cvt.rn.f64.s32", n)
	t, p = b.sel(down, b.neg(t), t), b.sel(down, b.neg(p), p)
	// Multiples of π/4 by 1 to 4: 3 loses bits, which the second product has.
	base := b.product(u, pi2/2)
	low := b.fma(u, pi2Low/2, base.lo)
	s := b.fast(base.hi, t)
	r := b.add(s.hi, b.add(s.lo, b.add(low, p)))
	// Points with both 0 or both infinite, and NaN.
	alike := b.is("eq", ax, ay)
	zero := b.is("eq", big, 0.0)
	inf := b.and(alike, b.is("eq", ax, math.Inf(1)))
	r = b.sel(zero, b.sel(back, math.Pi, 0.0), r)
	r = b.sel(inf, b.sel(back, 3*math.Pi/4, math.Pi/4), r)
	r = b.sel(b.is("nan", x, y), math.NaN(), r)
	return b.op("copysign.f64", y, r)
}
