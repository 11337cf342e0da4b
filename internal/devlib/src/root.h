/* Roots and norms of double precision. */

API double __nv_sqrt(double a) { return __builtin_sqrt(a); }

/* 1/sqrt(h + l), h normal. */
INLINE double rsqrt_parts(double h, double l) {
	double y = rsqrta64(h);
	/* two steps of third order from 20 bits */
	double e = dfma(-dmul(h, y), y, 1.0);
	y = dfma(dmul(y, e), dfma(e, 0.375, 0.5), y);
	double pl, p = two_prod(h, y, &pl);
	e = dsub(dfma(-p, y, 1.0), dmul(dfma(l, y, pl), y));
	return dfma(dmul(y, 0.5), e, y);
}

API double __nv_rsqrt(double a) {
	if (!(a > 0 && a < DINF))
		return a == 0 ? dsign(DINF, a) : a > 0 ? 0.0 : a != a ? dadd(a, a) : DNAN;
	double s = 1.0;
	if (a < 0x1p-1000) {
		a = dmul(a, 0x1p54);
		s = 0x1p27;
	}
	return dmul(rsqrt_parts(a, 0.0), s);
}

/* 1/cbrt of m in [1, 8), to about 2^-53, from 22 bits by a step of third order. */
INLINE double rcbrt_unit(double m) {
	double y = (double)ex2ftz(fmul(lg2((float)m), -0x1.555556p-2f));
	double e = dfma(-dmul(dmul(y, y), m), y, 1.0);
	return dfma(dmul(y, e), dfma(e, 0x1.c71c71c71c71cp-3, 0x1.5555555555555p-2), y);
}
/* |a| = m 8^*k, m in [1, 8). */
INLINE double cbrt_split(double m, s32 *k) {
	s32 c = 0;
	if (hiword(m) < 0x00100000) {
		m = dmul(m, 0x1p54);
		c = -18;
	}
	s32 e = (hiword(m) >> 20) - 1023;
	s32 t = (e + 3000) / 3 - 1000;
	*k = t + c;
	return dfrom(dbits(m) - ((u64)(u32)(3 * t) << 52));
}

API double __nv_cbrt(double a) {
	double m = dabs(a);
	if (!(m > 0 && m < DINF))
		return dadd(a, a);
	s32 k;
	m = cbrt_split(m, &k);
	double y = rcbrt_unit(m), y2 = dmul(y, y), c = dmul(m, y2);
	double l, p = two_prod(c, c, &l);
	double r = dsub(dfma(-c, p, m), dmul(c, l));
	c = dfma(dmul(r, y2), 0x1.5555555555555p-2, c);
	return dsign(dmul(c, pow2(k)), a);
}

API double __nv_rcbrt(double a) {
	double m = dabs(a);
	if (!(m > 0 && m < DINF))
		return m == 0 ? dsign(DINF, a) : a != a ? dadd(a, a) : dsign(0.0, a);
	s32 k;
	m = cbrt_split(m, &k);
	double y = rcbrt_unit(m), l, p = two_prod(y, y, &l), ql, q = two_prod(p, y, &ql);
	ql = dfma(l, y, ql);
	double r = dsub(dfma(-q, m, 1.0), dmul(ql, m));
	y = dfma(dmul(y, r), 0x1.5555555555555p-2, y);
	return dsign(dmul(y, pow2(-k)), a);
}

/* Norms: the sum of squares in two parts, of numbers scaled by a power of two that the largest gives. */
struct squares {
	double h, l;
};
INLINE void add_square(struct squares *s, double a) {
	double pl, p = two_prod(a, a, &pl), e;
	s->h = two_sum(s->h, p, &e);
	s->l = dadd(s->l, dadd(e, pl));
}
INLINE s32 norm_exponent(double max) {
	s32 k = 1022 - (hiword(max) >> 20);
	return k > 1000 ? 1000 : k < -1022 ? -1022 : k;
}
INLINE double norm_root(struct squares s) {
	double h = quick_sum(s.h, s.l, &s.l), r = dsqrt(h);
	return dadd(r, ddiv(dadd(dfma(-r, r, h), s.l), dadd(r, r)));
}
INLINE double norm_finish(struct squares s, s32 k, int reciprocal) {
	/* numbers were multiplied by 2^k */
	double r;
	if (reciprocal) {
		double h = quick_sum(s.h, s.l, &s.l);
		r = rsqrt_parts(h, s.l);
	} else {
		r = norm_root(s);
		k = -k;
	}
	s32 h = k >> 1;
	return dmul(dmul(r, pow2(h)), pow2(k - h));
}
INLINE double dmax(double a, double b) { return a > b ? a : b; }

INLINE double norm_of(double a, double b, double c, double d, int reciprocal) {
	a = dabs(a), b = dabs(b), c = dabs(c), d = dabs(d);
	if (a == DINF || b == DINF || c == DINF || d == DINF)
		return reciprocal ? 0.0 : DINF;
	if (a != a || b != b || c != c || d != d)
		return DNAN;
	double m = dmax(dmax(a, b), dmax(c, d));
	if (m == 0)
		return reciprocal ? DINF : 0.0;
	s32 k = norm_exponent(m);
	double f = pow2(k);
	struct squares s = {0, 0};
	add_square(&s, dmul(a, f));
	add_square(&s, dmul(b, f));
	add_square(&s, dmul(c, f));
	add_square(&s, dmul(d, f));
	return norm_finish(s, k, reciprocal);
}
API double __nv_hypot(double a, double b) { return norm_of(a, b, 0, 0, 0); }
API double __nv_rhypot(double a, double b) { return norm_of(a, b, 0, 0, 1); }
API double __nv_norm3d(double a, double b, double c) { return norm_of(a, b, c, 0, 0); }
API double __nv_rnorm3d(double a, double b, double c) { return norm_of(a, b, c, 0, 1); }
API double __nv_norm4d(double a, double b, double c, double d) { return norm_of(a, b, c, d, 0); }
API double __nv_rnorm4d(double a, double b, double c, double d) { return norm_of(a, b, c, d, 1); }

/* Of no dimension it is that of one, as recorded. */
INLINE double norm_n(int n, const double *p, int reciprocal) {
	n = n < 1 ? 1 : n;
	double m = 0;
	int nan = 0;
	for (int i = 0; i < n; i++) {
		double v = dabs(p[i]);
		nan |= v != v;
		m = dmax(m, v);
	}
	if (m == DINF)
		return reciprocal ? 0.0 : DINF;
	if (nan)
		return DNAN;
	if (m == 0)
		return reciprocal ? DINF : 0.0;
	s32 k = norm_exponent(m);
	double f = pow2(k);
	struct squares s = {0, 0};
	for (int i = 0; i < n; i++)
		add_square(&s, dmul(dabs(p[i]), f));
	return norm_finish(s, k, reciprocal);
}
API double __nv_norm(int n, const double *p) { return norm_n(n, p, 0); }
API double __nv_rnorm(int n, const double *p) { return norm_n(n, p, 1); }
