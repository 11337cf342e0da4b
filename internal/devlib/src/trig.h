/* Trigonometric functions of double precision and their inverses. */

/* The bits of 2/pi after the point. */
TABLE u64 two_over_pi[] = {
	TWO_OVER_PI
};

/* x modulo pi/2 for |x| >= 2^28 after Payne and Hanek: the product of the 53 bits of x with 192 bits of 2/pi. */
NOINLINE u128 devlib_reduce_large(double x) {
	u64 b = dbits(x);
	s32 e = (s32)(b >> 52 & 0x7ff) - 1075; /* x = m 2^e, e >= -24 */
	u64 m = (b & 0xfffffffffffffull) | 0x10000000000000ull;
	/* bits of 2/pi of weight 2^-1 down; those of weight above 2^(1-e) give multiples of 4 quadrants with m 2^e */
	s32 skip = e - 2; /* m 2^e 2^-(skip+1) = m 2^1: 53 bits of m: drop those whose product is a multiple of 4 */
	if (skip < 0)
		skip = 0;
	s32 w = skip >> 6, sh = skip & 63;
	u64 t[4];
	for (int i = 0; i < 4; i++) {
		u64 a = two_over_pi[w + i], n = two_over_pi[w + i + 1];
		t[i] = sh ? a << sh | n >> (64 - sh) : a;
	}
	/* m (t0 2^-64 + t1 2^-128 + t2 2^-192) 2^(e-skip) as a fixed point number p2.p1 p0 */
	u64 p0, p1, p2, c;
	p0 = (u64)((u128)m * t[2] >> 64);
	u128 q = (u128)m * t[1] + p0;
	p0 = (u64)q;
	c = (u64)(q >> 64);
	q = (u128)m * t[0] + c;
	p1 = (u64)q;
	p2 = (u64)(q >> 64);
	s32 up = e - skip; /* 2, or less when e < 2 */
	u64 f1, f0, n;
	if (up > 0) {
		n = p2 << up | p1 >> (64 - up);
		f1 = p1 << up | p0 >> (64 - up);
		f0 = p0 << up;
	} else if (up == 0) {
		n = p2, f1 = p1, f0 = p0;
	} else {
		s32 d = -up;
		n = p2 >> d;
		f1 = p1 >> d | p2 << (64 - d);
		f0 = p0 >> d | p1 << (64 - d);
	}
	/* round to the nearest quadrant */
	n += f1 >> 63;
	int neg = (s64)f1 < 0;
	if (neg) {
		f0 = -f0;
		f1 = ~f1 + (f0 == 0);
	}
	s32 quadrant = (s32)n;
	/* f1.f0 < 1/2 of a quadrant to two doubles */
	double h = 0, l = 0;
	if (f1 | f0) {
		s32 z = f1 ? __builtin_clzll(f1) : 64 + __builtin_clzll(f0);
		u64 g1 = f1, g0 = f0;
		if (z >= 64) {
			g1 = g0;
			g0 = 0;
			z -= 64;
			if (z)
				g1 <<= z;
			z += 64;
		} else if (z) {
			g1 = f1 << z | f0 >> (64 - z);
			g0 = f0 << z;
		}
		/* g1.g0 in [1/2, 1) times 2^-z */
		double a = dmul((double)(g1 >> 11), pow2(-53 - z));
		double d = dmul((double)((g1 & 0x7ff) << 42 | g0 >> 22), pow2(-106 - z));
		h = dmul(a, PIO2_H);
		l = dfma(a, PIO2_H, -h);
		l = dfma(a, PIO2_L, dfma(d, PIO2_H, l));
		h = quick_sum(h, l, &l);
	}
	if ((s64)b < 0) {
		neg = !neg;
		quadrant = -quadrant;
	}
	/* the quadrant takes the place of the last two bits of the low part */
	return (u128)dbits(neg ? -h : h) << 64 | (dbits(neg ? -l : l) & ~3ull) | (quadrant & 3);
}

/* x = result + *lo + *quadrant pi/2, the result within pi/4 of 0 or a little more. */
INLINE double reduce(double x, double *lo, s32 *quadrant) {
	if (dabs(x) < 0x1p28) {
		double k = drint(dmul(x, 0x1.45f306dc9c883p-1));
		*quadrant = d2i(k);
		double r = dfma(-k, PIO2_H, x), pl, p = two_prod(k, PIO2_L, &pl), e;
		double s = two_sum(r, -p, &e);
		e = dsub(e, pl);
		return quick_sum(s, dfma(-k, PIO2_LL, e), lo);
	}
	u128 p = devlib_reduce_large(x);
	*quadrant = (s32)p & 3;
	*lo = dfrom((u64)p & ~3ull);
	return dfrom((u64)(p >> 64));
}

INLINE double sin_kernel(double r, double l) {
	double z = dmul(r, r);
	double t = dmul(dmul(z, r), DPOLY(sin_s, z));
	return dadd(r, dadd(t, dfma(dmul(z, -0.5), l, l)));
}
INLINE double cos_kernel(double r, double l) {
	double z = dmul(r, r), h = dmul(z, 0.5), w = dsub(1.0, h);
	double t = dmul(dmul(z, z), DPOLY(cos_c, z));
	/* h is rounded: z/2 lacks zl/2 */
	return dadd(w, dadd(dsub(dsub(1.0, w), h), dfma(-r, l, t)));
}
/* The same in two parts, for quotients. */
INLINE double sin_kernel2(double r, double l, double *lo) {
	double z = dmul(r, r), t = dmul(dmul(z, r), DPOLY(sin_s, z));
	return quick_sum(r, dadd(t, dfma(dmul(z, -0.5), l, l)), lo);
}
INLINE double cos_kernel2(double r, double l, double *lo) {
	double zl, z = two_prod(r, r, &zl), h = dmul(z, 0.5), e, w = quick_sum(1.0, -h, &e);
	double t = dmul(dmul(z, z), DPOLY(cos_c, z));
	return quick_sum(w, dadd(e, dadd(dfma(zl, -0.5, t), dmul(-r, l))), lo);
}

INLINE double sin_quadrant(double r, double l, s32 q) {
	double v = q & 1 ? cos_kernel(r, l) : sin_kernel(r, l);
	return q & 2 ? -v : v;
}

API double __nv_sin(double a) {
	if (!(dabs(a) < DINF))
		return DNAN;
	if (dabs(a) < 0x1p-27)
		return a;
	double l;
	s32 q;
	double r = reduce(a, &l, &q);
	return sin_quadrant(r, l, q);
}

API double __nv_cos(double a) {
	if (!(dabs(a) < DINF))
		return DNAN;
	double l;
	s32 q;
	double r = reduce(a, &l, &q);
	return sin_quadrant(r, l, q + 1);
}

API void __nv_sincos(double a, double *s, double *c) {
	if (!(dabs(a) < DINF)) {
		*s = *c = DNAN;
		return;
	}
	double l;
	s32 q;
	double r = reduce(a, &l, &q), u = sin_kernel(r, l), v = cos_kernel(r, l), t;
	if (q & 1)
		t = u, u = v, v = t;
	t = q & 2 ? -u : u;
	*s = a == 0 ? a : t;
	*c = (q + 1) & 2 ? -v : v;
}

/* sin(pi a) and cos(pi a): the reduction is exact. */
INLINE double reduce_pi(double a, double *lo, s32 *quadrant) {
	/* above 2^53 every number is even; what is left is 0 */
	double m = dabs(a) >= 0x1p53 ? 0.0 : a;
	double k = drint(dadd(m, m)), r = dfma(k, -0.5, m);
	*quadrant = (s32)(u32)(u64)(s64)k;
	double h = two_prod(r, PI_H, lo);
	*lo = dfma(r, PI_L, *lo);
	return h;
}

API double __nv_sinpi(double a) {
	if (!(dabs(a) < DINF))
		return DNAN;
	double l;
	s32 q;
	double r = reduce_pi(a, &l, &q), v = sin_quadrant(r, l, q);
	if (dabs(a) < 0x1p-1000) /* the low part would not hold */
		return dmul(dmul(a, 0x1p100), PI_H) * 0x1p-100;
	if (drint(a) == a)
		return dmul(a, 0.0);
	return v;
}

API double __nv_cospi(double a) {
	if (!(dabs(a) < DINF))
		return DNAN;
	double l;
	s32 q;
	double r = reduce_pi(a, &l, &q);
	double v = sin_quadrant(r, l, q + 1);
	return v == 0 ? 0.0 : v;
}

API void __nv_sincospi(double a, double *s, double *c) {
	*s = __nv_sinpi(a);
	*c = __nv_cospi(a);
}

API double __nv_tan(double a) {
	if (!(dabs(a) < DINF))
		return DNAN;
	if (dabs(a) < 0x1p-27)
		return a;
	double l, sl, cl;
	s32 q;
	double r = reduce(a, &l, &q);
	double s = sin_kernel2(r, l, &sl), c = cos_kernel2(r, l, &cl), t;
	if (q & 1) {
		t = s, s = -c, c = t;
		t = sl, sl = -cl, cl = t;
	}
	double i = ddiv(1.0, c);
	t = dmul(s, i);
	double e = dadd(dfma(-t, c, s), dfma(-t, cl, sl));
	return dfma(e, i, t);
}

/* atan(h + l), 0 <= h <= 1, as a rounded number and a rest. */
INLINE double atan_kernel(double h, double l, double *lo) {
	double z = dmul(h, h);
	double t = dmul(dmul(z, h), DPOLY(atan_a, z));
	/* d/dh = 1/(1+h^2), good enough by 1 - z/2... for a last bit: the rest is below an ulp */
	return quick_sum(h, dadd(t, ddiv(l, dadd(1.0, z))), lo);
}

API double __nv_atan(double a) {
	double m = dabs(a), l, r;
	if (a != a)
		return dadd(a, a);
	if (m > 1.0) {
		double i = ddiv(1.0, m), h = atan_kernel(i, 0.0, &l), e;
		r = two_sum(PIO2_H, -h, &e);
		r = dadd(r, dadd(e, dsub(PIO2_L, l)));
	} else
		r = atan_kernel(m, 0.0, &l);
	return dsign(r, a);
}

API double __nv_atan2(double a, double b) {
	double y = dabs(a), x = dabs(b), l;
	if (a != a || b != b)
		return dadd(a, b);
	int swap = y > x;
	double n = swap ? x : y, d = swap ? y : x, q;
	if (d == 0)
		q = 0;
	else if (n == DINF)
		q = 1;
	else
		q = ddiv(n, d);
	double ql = 0;
	if (q > 0x1p-900 && d < 0x1p1000 && n > 0x1p-900)
		ql = ddiv(dfma(-q, d, n), d);
	double r = atan_kernel(q, ql, &l), e;
	if (swap) {
		r = two_sum(PIO2_H, -r, &e);
		l = dadd(e, dsub(PIO2_L, l));
		r = quick_sum(r, l, &l);
	}
	if (hiword(b) < 0) {
		r = two_sum(PI_H, -r, &e);
		l = dadd(e, dsub(PI_L, l));
	}
	return dsign(dadd(r, l), a);
}

API double __nv_asin(double a) {
	double m = dabs(a), r;
	if (!(m <= 1.0))
		return a != a ? dadd(a, a) : DNAN;
	if (m < 0.5) {
		double z = dmul(m, m);
		r = dfma(dmul(z, m), DPOLY(asin_r, z), m);
	} else {
		double z = dfma(m, -0.5, 0.5), s = dsqrt(z);
		double c = s == 0 ? 0.0 : ddiv(dfma(-s, s, z), dadd(s, s)); /* the root's rest */
		double t = dfma(dmul(z, s), DPOLY(asin_r, z), c), e;
		double h = two_sum(PIO2_H, dmul(s, -2.0), &e);
		r = dadd(h, dadd(e, dfma(t, -2.0, PIO2_L)));
	}
	return dsign(r, a);
}

API double __nv_acos(double a) {
	double m = dabs(a), e;
	if (!(m <= 1.0))
		return a != a ? dadd(a, a) : DNAN;
	if (m < 0.5) {
		double z = dmul(a, a), t = dmul(dmul(z, a), DPOLY(asin_r, z));
		double h = two_sum(PIO2_H, -a, &e);
		return dadd(h, dadd(e, dsub(PIO2_L, t)));
	}
	double z = dfma(m, -0.5, 0.5), s = dsqrt(z);
	double c = s == 0 ? 0.0 : ddiv(dfma(-s, s, z), dadd(s, s));
	double t = dfma(dmul(z, s), DPOLY(asin_r, z), c);
	if (hiword(a) >= 0)
		return dmul(2.0, dadd(s, t));
	double h = two_sum(PI_H, dmul(s, -2.0), &e);
	return dadd(h, dadd(e, dfma(t, -2.0, PI_L)));
}
