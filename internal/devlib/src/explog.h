/* Exponentials, logarithms and powers of double precision, and what other functions take from them: e^(h+l) and
 * log(h+l) as unevaluated sums. Reduction after Cody and Waite, polynomials from coef.h. */

/* e^(r+rl) = result + *l for |r| <= ln2/2, |rl| <= ulp(r). */
INLINE double exp_reduced(double r, double rl, double *l) {
	double t = dmul(r, r), e, s;
	t = dfma(t, DPOLY(exp_p, r), dfma(rl, r, rl));
	s = quick_sum(1.0, r, &e);
	double u = dadd(e, t);
	return quick_sum(s, u, l);
}

/* e^(h+hl) = 2^*k (result + *l), result in [0.7, 1.42], for |h| < 2^20. The sum of the reduced parts is exact as |h| is
 * either 0 or above what is added to it. */
INLINE double exp_parts(double h, double hl, s32 *k, double *l) {
	double t = drint(dmul(h, L2E));
	*k = d2i(t);
	double e, r = quick_sum(dfma(-t, LN2_H, h), dfma(-t, LN2_L, hl), &e);
	return exp_reduced(r, e, l);
}

API double __nv_exp(double a) {
	double t = drint(dmul(a, L2E));
	double r = dfma(-t, LN2_L, dfma(-t, LN2_H, a));
	double p = dadd(dfma(dmul(r, r), DPOLY(exp_p, r), r), 1.0);
	s32 k = d2i(t);
	if (dabs(a) < 708.0)
		return dfrom(dbits(p) + ((u64)(u32)k << 52));
	if (!(dabs(a) < 800.0))
		return a != a ? dadd(a, a) : a > 0 ? DINF : 0.0;
	return scale(p, k);
}

API double __nv_exp2(double a) {
	if (!(dabs(a) < 1100.0))
		return a != a ? dadd(a, a) : a > 0 ? DINF : 0.0;
	double t = drint(a), r = dsub(a, t), rl, rh = two_prod(r, LN2_H, &rl), l;
	double p = exp_reduced(rh, dfma(r, LN2_L, rl), &l);
	return scale(p, d2i(t));
}

#define LOG10_2_H 0x1.34413509f79ffp-2
#define LOG10_2_L -0x1.9dc1da994fd21p-59
#define LOG2_10 0x1.a934f0979a371p+1
#define LN10_H 0x1.26bb1bbb55516p+1
#define LN10_L -0x1.f48ad494ea3e9p-53

API double __nv_exp10(double a) {
	if (!(dabs(a) < 400.0))
		return a != a ? dadd(a, a) : a > 0 ? DINF : 0.0;
	double t = drint(dmul(a, LOG2_10));
	double r = dfma(-t, LOG10_2_H, a), e;
	r = two_sum(r, dmul(-t, LOG10_2_L), &e);
	double rl, rh = two_prod(r, LN10_H, &rl), l;
	rh = quick_sum(rh, dfma(r, LN10_L, dfma(e, LN10_H, rl)), &rl);
	return scale(exp_reduced(rh, rl, &l), d2i(t));
}

API double __nv_expm1(double a) {
	if (!(dabs(a) < 720.0))
		return a != a ? dadd(a, a) : a > 0 ? DINF : -1.0;
	double t = drint(dmul(a, L2E));
	s32 k = d2i(t);
	double c, l, rh = quick_sum(dfma(-t, LN2_H, a), dmul(-t, LN2_L), &c);
	double q = quick_sum(rh, dfma(dmul(rh, rh), DPOLY(exp_p, rh), dfma(c, rh, c)), &l); /* e^r - 1 */
	if (k == 0)
		return q;
	if (k > 60)
		return scale(dadd(1.0, q), k);
	if (k < -60)
		return -1.0;
	double s = pow2(k), e, m = two_sum(dadd(s, -1.0), dmul(s, q), &e);
	return dadd(m, dfma(s, l, e));
}

/* log(h+l) = result + *lo, for h > 0 finite, |l| <= ulp(h) or so; relative error below 2^-60, or where more, below
 * 2^-66 (full): then the quotient's term is kept in two parts too. k is added to the exponent of h. */
INLINE double log_parts(double h, double l, s32 k, int full, double *lo) {
	s32 hw = hiword(h);
	if (hw < 0x00100000) {
		h = dmul(h, 0x1p54);
		l = dmul(l, 0x1p54);
		k -= 54;
		hw = hiword(h);
	}
	s32 e = (hw - 0x3fe6a09e) >> 20; /* m in [sqrt(1/2), sqrt(2)) */
	k += e;
	double m = dfrom(dbits(h) - ((u64)(u32)e << 52));
	/* l is scaled alike; 2^-e may leave the normal range by one, so in two steps */
	s32 eh = e >> 1;
	double ml = dmul(dmul(l, pow2(-eh)), pow2(eh - e));
	double fl, f = two_sum(dadd(m, -1.0), ml, &fl);
	double d = dadd(2.0, f), dl = dadd(dsub(f, dadd(d, -2.0)), fl);
	double r = ddiv(1.0, d);
	double s = dmul(dadd(f, f), r);
	/* (2 f - s (2 + f)) / (2 + f) */
	double res = dfma(-s, d, dadd(f, f));
	double sl = dmul(dadd(dfma(-s, dl, res), dadd(fl, fl)), r);
	double z = dmul(s, s);
	double q = dmul(z, DPOLY(log_q, z)), hi, lw;
	double t = (double)k, a, b;
	if (full) {
		/* log m = s + sl + s^3 (1/12 + q), the last product in two parts */
		double zl = dfma(s, s, -z);
		zl = dfma(dadd(s, s), sl, zl);
		double cl, c = quick_sum(0x1.5555555555555p-4, q, &cl);
		cl = dadd(cl, 0x1.5555555555555p-58);
		double s3l, s3 = two_prod(z, s, &s3l);
		s3l = dfma(zl, s, dfma(z, sl, s3l));
		double pl, p = two_prod(s3, c, &pl);
		pl = dfma(s3, cl, dfma(s3l, c, pl));
		hi = quick_sum(s, p, &lw);
		lw = dadd(lw, dadd(sl, pl));
		a = two_prod(t, LN2_H, &b);
		b = dfma(t, LN2_L, b);
	} else {
		double p = dmul(dmul(z, s), dadd(q, 0x1.5555555555555p-4));
		hi = quick_sum(s, p, &lw);
		lw = dadd(lw, sl);
		a = two_prod(t, LN2_H, &b);
		b = dfma(t, LN2_L, b);
	}
	if (k == 0)
		return quick_sum(hi, lw, lo);
	double e1, sum = quick_sum(a, hi, &e1);
	return quick_sum(sum, dadd(e1, dadd(lw, b)), lo);
}

/* Where the logarithm of a is not a number of log_parts: *r is it then. */
INLINE int log_special(double a, double *r) {
	if (a > 0 && a < DINF)
		return 0;
	*r = a == 0 ? -DINF : a > 0 ? a : a != a ? dadd(a, a) : DNAN;
	return 1;
}

API double __nv_log(double a) {
	double r, l;
	if (log_special(a, &r))
		return r;
	return log_parts(a, 0.0, 0, 0, &l);
}

API double __nv_log2(double a) {
	double r, l;
	if (log_special(a, &r))
		return r;
	/* the exponent apart, so that it is exact */
	s32 k = 0;
	if (hiword(a) < 0x00100000) {
		a = dmul(a, 0x1p54);
		k = -54;
	}
	s32 e = (hiword(a) - 0x3fe6a09e) >> 20;
	r = log_parts(dfrom(dbits(a) - ((u64)(u32)e << 52)), 0.0, 0, 0, &l);
	double pl, p = two_prod(r, L2E, &pl), s;
	pl = dfma(r, L2E_L, dfma(l, L2E, pl));
	s = two_sum((double)(k + e), p, &r);
	return dadd(s, dadd(r, pl));
}

API double __nv_log10(double a) {
	double r, l;
	if (log_special(a, &r))
		return r;
	r = log_parts(a, 0.0, 0, 0, &l);
	double pl, p = two_prod(r, 0x1.bcb7b1526e50ep-2, &pl);
	return dadd(p, dfma(r, 0x1.95355baaafad3p-57, dfma(l, 0x1.bcb7b1526e50ep-2, pl)));
}

/* log(1+h+l) in two parts for h > -1. */
INLINE double log1p_parts(double h, double l, double *lo) {
	double ul, u = two_sum(1.0, h, &ul);
	return log_parts(u, dadd(ul, l), 0, 0, lo);
}

API double __nv_log1p(double a) {
	double l;
	if (!(a > -1.0 && a < DINF))
		return a == -1.0 ? -DINF : a > 0 ? a : a != a ? dadd(a, a) : DNAN;
	if (dabs(a) < 0x1p-54)
		return a;
	return log1p_parts(a, 0.0, &l);
}

/* |a|^b for finite a != 0, finite b; no special values. */
INLINE double pow_positive(double a, double b) {
	double l, h = log_parts(a, 0.0, 0, 1, &l);
	if (dabs(b) > 0x1p70) /* log a is 0 or above 2^-54 */
		b = dsign(0x1p70, b);
	double pl, p = two_prod(h, b, &pl), e;
	pl = dfma(l, b, pl);
	p = quick_sum(p, pl, &pl);
	if (p > 800.0)
		return DINF;
	if (p < -800.0)
		return 0.0;
	s32 k;
	double r = exp_parts(p, pl, &k, &e);
	return scale(r, k);
}

API double __nv_pow(double a, double b) {
	double m = dabs(a), n = dabs(b);
	if (a == 1.0 || b == 0.0)
		return 1.0;
	if (a != a || b != b)
		return dadd(a, b);
	/* b: 0 no integer, 1 odd, 2 even */
	int parity = 0;
	if (n >= 0x1p53)
		parity = 2;
	else if (drint(n) == n)
		parity = dmul(drint(dmul(n, 0.5)), 2.0) == n && drint(dmul(n, 0.5)) == dmul(n, 0.5) ? 2 : 1;
	if (n == DINF)
		return m == 1.0 ? 1.0 : (m > 1.0) == (b > 0) ? DINF : 0.0;
	double r;
	if (m == 0.0)
		r = b > 0 ? 0.0 : DINF;
	else if (m == DINF)
		r = b > 0 ? DINF : 0.0;
	else {
		if (hiword(a) < 0 && parity == 0)
			return DNAN;
		r = pow_positive(m, b);
	}
	return hiword(a) < 0 && parity == 1 ? -r : r;
}

/* By squaring, as compilers do for a constant exponent. */
API double __nv_powi(double a, int b) {
	u32 n = b < 0 ? -(u32)b : (u32)b;
	double r = 1.0;
	for (;;) {
		if (n & 1)
			r = dmul(r, a);
		n >>= 1;
		if (n == 0)
			break;
		a = dmul(a, a);
	}
	return b < 0 ? ddiv(1.0, r) : r;
}
