package devmath

// clamp brings x into [lo, hi]; a NaN stays.
func (b *builder) clamp(x value, lo, hi float64) value {
	x = b.sel(b.is("gt", x, hi), hi, x)
	return b.sel(b.is("lt", x, lo), lo, x)
}

// expPair is e^(x+low) = 2^k (hi + lo); x+low must lie in [-2000, 2000], low may be empty.
func (b *builder) expPair(x, low value, c []float64) (p pair, k value) {
	n, k := b.nearest(x, log2e)
	m := b.neg(n)
	r0 := b.fma(m, ln2, x) // exact
	r := b.fma(m, ln2Low, r0)
	l := b.fma(m, ln2Low, b.sub(r0, r))
	if low != "" {
		s := b.sumPair(r, b.add(l, low))
		r, l = s.hi, s.lo
	}
	return b.expKernel(r, l, c), k
}

// expKernel is e^(r+l) for |r| <= ln(2)/2 and l at most about a unit in the last place of 1.
func (b *builder) expKernel(r, l value, c []float64) pair {
	q := b.fma(b.mul(r, r), b.poly(c, r), l)
	one := b.register('d')
	b.copy(one, 'd', 1.0)
	p := b.fast(one, r)
	return pair{p.hi, b.add(p.lo, q)}
}

func (b *builder) exp(x value) value {
	p, k := b.expPair(b.clamp(x, -800, 800), "", expLong)
	return b.scale(b.sum(p), k)
}

func (b *builder) exp2(x value) value {
	x = b.clamp(x, -1200, 1200)
	n, k := b.nearest(x, 1)
	r := b.product(b.sub(x, n), ln2Full)
	l := b.fma(b.sub(x, n), ln2FullLow, r.lo)
	return b.scale(b.sum(b.expKernel(r.hi, l, expLong)), k)
}

// Functions in 32 bits.

func (b *builder) fma32(x, y, z any) value { return b.op("fma.rn.f32", x, y, z) }

func (b *builder) poly32(c []float64, x value) value {
	y := b.fma32(x, c[len(c)-1], c[len(c)-2])
	for i := len(c) - 3; i >= 0; i-- {
		y = b.fma32(y, x, c[i])
	}
	return y
}

// nearest32 is x*factor rounded to an integer of less than 22 bits, as a number and as an integer with noise in its
// upper bits.
func (b *builder) nearest32(x value, factor float64) (n, k value) {
	const magic = 0x1.8p23
	t := b.fma32(x, factor, magic)
	k = b.register('r')
	b.line("mov.b32 %s, %s;", k, t)
	return b.op("sub.rn.f32", t, magic), b.op("sub.s32", k, 0x4b400000)
}

// scale32 is x * 2^k for k in [-252, 254].
func (b *builder) scale32(x, k value) value {
	half := b.op("shr.s32", k, 1)
	for _, e := range []value{half, b.op("sub.s32", k, half)} {
		f := b.register('f')
		b.line("mov.b32 %s, %s;", f, b.op("shl.b32", b.op("add.s32", e, 127), 23))
		x = b.op("mul.rn.f32", x, f)
	}
	return x
}

func (b *builder) clamp32(x value, lo, hi float64) value {
	x = b.op("selp.f32", hi, x, b.op("setp.gt.f32", x, hi))
	return b.op("selp.f32", lo, x, b.op("setp.lt.f32", x, lo))
}

func (b *builder) exp32(x value) value {
	x = b.clamp32(x, -105, 90)
	n, k := b.nearest32(x, log2eSingle)
	m := b.op("neg.f32", n)
	r0 := b.fma32(m, ln2Single, x) // exact
	r := b.fma32(m, ln2SingleLow, r0)
	l := b.fma32(m, ln2SingleLow, b.op("sub.rn.f32", r0, r))
	q := b.fma32(b.op("mul.rn.f32", r, r), b.poly32(expSingle, r), l)
	return b.scale32(b.op("add.rn.f32", b.op("add.rn.f32", r, q), 1.0), k)
}

func (b *builder) exp232(x value) value {
	x = b.clamp32(x, -151, 129)
	n, k := b.nearest32(x, 1)
	r := b.op("sub.rn.f32", x, n)
	return b.scale32(b.fma32(r, b.poly32(exp2Single, r), 1.0), k)
}
