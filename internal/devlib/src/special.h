/* Error functions, gamma functions and their kin, double precision. */

/* (1 + 2x) e^(x^2) erfc x is smooth in t = (x-4)/(x+4) (Shepherd and Laframboise, Math. Comp. 36, 1981). */
INLINE double erfcx_positive(double x) {
	if (x > 0x1p60)
		return ddiv(0x1.20dd750429b6dp-1, x);
	double i = ddiv(1.0, dadd(x, 4.0)), t = dmul(dadd(x, -4.0), i);
	t = dfma(dfma(-t, dadd(x, 4.0), dadd(x, -4.0)), i, t);
	/* the last step and the quotient in two parts */
	double pl, p = two_sum(erfcx_p[0], dmul(t, DPOLY_FROM(erfcx_p, 1, t)), &pl);
	double d = dfma(x, 2.0, 1.0), dl = dfma(x, 2.0, dsub(1.0, d));
	if (x > 0.5)
		dl = dadd(1.0, dfma(x, 2.0, -d));
	i = ddiv(1.0, d);
	double q = dmul(p, i);
	q = dfma(dadd(dfma(-q, dl, dfma(-q, d, p)), pl), i, q);
	return q;
}

/* erfc(x + l) for x >= 0. */
INLINE double erfc_tail(double x, double l) {
	if (x > 28.0)
		return 0.0;
	double ql, q = two_prod(x, x, &ql), e;
	ql = dfma(dadd(x, x), l, ql);
	s32 k;
	double p = exp_parts(-q, -ql, &k, &e);
	double v = erfcx_positive(x);
	return scale(dfma(p, v, dmul(e, v)), k);
}
INLINE double erf_center(double x) { return dfma(x, DPOLY(erf_e, dmul(x, x)), x); }

API double __nv_erf(double a) {
	double m = dabs(a);
	if (a != a)
		return dadd(a, a);
	if (m < 1.0)
		return erf_center(a);
	return dsign(m > 6.0 ? 1.0 : dsub(1.0, erfc_tail(m, 0.0)), a);
}

API double __nv_erfc(double a) {
	if (a != a)
		return dadd(a, a);
	if (a < 0.5)
		return a > -1.0 ? dsub(1.0, erf_center(a)) : dsub(2.0, erfc_tail(-a, 0.0));
	return erfc_tail(a, 0.0);
}

API double __nv_erfcx(double a) {
	if (a != a)
		return dadd(a, a);
	if (a >= 0)
		return erfcx_positive(a);
	if (a < -27.0)
		return DINF;
	double ql, q = two_prod(a, a, &ql), e, v = erfcx_positive(-a);
	s32 k;
	double p = exp_parts(q, ql, &k, &e);
	/* 2 e^(a^2) - erfcx(-a) */
	double h = dsub(p, dmul(scale(v, -k), 0.5));
	return scale(dadd(h, e), k + 1);
}

API double __nv_normcdf(double a) {
	if (a != a)
		return dadd(a, a);
	if (a > 40.0)
		return 1.0;
	if (a < -40.0)
		return 0.0;
	/* erfc(-a/sqrt 2)/2, the argument in two parts */
	double l, x = two_prod(-a, 0x1.6a09e667f3bcdp-1, &l);
	l = dfma(-a, -0x1.bdd3413b26456p-55, l);
	if (x < 0.5) {
		if (x > -1.0)
			return dfma(erf_center(x), -0.5, 0.5);
		return dfma(erfc_tail(-x, -l), -0.5, 1.0);
	}
	/* halved before the last rounding: the result may be subnormal */
	double ql, q = two_prod(x, x, &ql), e;
	ql = dfma(dadd(x, x), l, ql);
	s32 k;
	double p = exp_parts(-q, -ql, &k, &e), v = erfcx_positive(x);
	return x > 28.0 ? 0.0 : scale(dfma(p, v, dmul(e, v)), k - 1);
}

/* The inverse of erfc by w = -log(y (2 - y)) after Giles (GPU Computing Gems, 2011): x = 1 - y, times a polynomial of w
 * in the middle; one of sqrt(w) for the tails. */
INLINE double erfinv_tail(double w) {
	double s = dsqrt(w);
	if (w < 16.0)
		return DPOLY(erfinv_t1, dadd(s, -3.25));
	if (w < 37.0)
		return DPOLY(erfinv_t2, dadd(s, -5.05));
	if (w < 168.0)
		return DPOLY(erfinv_t3, dadd(s, -9.5));
	return DPOLY(erfinv_t4, dadd(s, -20.0));
}

API double __nv_erfinv(double a) {
	double m = dabs(a), l;
	if (!(m < 1.0))
		return m == 1.0 ? dsign(DINF, a) : a != a ? dadd(a, a) : DNAN;
	double w = -log_parts(dfma(-m, m, 1.0), 0.0, 0, 0, &l);
	if (m > 0.5) /* (1-m)(1+m), exact but for one rounding */
		w = -log_parts(dmul(dsub(1.0, m), dadd(1.0, m)), 0.0, 0, 0, &l);
	if (w < 6.25) {
		double p = DPOLY(erfinv_c, w);
		return dmul(a, p);
	}
	return dsign(erfinv_tail(w), a);
}

/* For 0 < y < 2: erfcinv. */
INLINE double erfcinv_finite(double a) {
	int neg = a > 1.0;
	double y = neg ? dsub(2.0, a) : a, l; /* exact */
	double w;
	if (y < 0x1p-900)
		w = -log_parts(y, 0.0, 1, 0, &l);
	else {
		double p = dmul(y, dsub(2.0, y));
		w = -log_parts(p, 0.0, 0, 0, &l);
	}
	double x = dsub(1.0, y), r;
	if (w < 6.25) {
		/* near y = 1 the product rounds to 1: the polynomial's first coefficient is right there */
		r = dmul(x, DPOLY(erfinv_c, w));
	} else
		r = erfinv_tail(w);
	return neg ? -r : r;
}

API double __nv_erfcinv(double a) {
	if (!(a > 0 && a < 2.0))
		return a == 0 ? DINF : a == 2.0 ? -DINF : a != a ? dadd(a, a) : DNAN;
	return erfcinv_finite(a);
}

API double __nv_normcdfinv(double a) {
	if (!(a > 0 && a < 1.0))
		return a == 0 ? -DINF : a == 1.0 ? DINF : a != a ? dadd(a, a) : DNAN;
	return dmul(erfcinv_finite(dadd(a, a)), -0x1.6a09e667f3bcdp+0);
}

/* log gamma by Stirling's series, x >= 10, in two parts. */
INLINE double stirling(double x, double *lo) {
	double l, h = log_parts(x, 0.0, 0, 1, &l);
	double a = dadd(x, -0.5), pl, p = two_prod(a, h, &pl), e, s;
	pl = dfma(a, l, pl);
	s = two_sum(p, -x, &e);
	double i = ddiv(1.0, x), z = dmul(i, i);
	/* Bernoulli numbers B2k/(2k(2k-1)) */
	double c = -3617.0 / 122400.0;
	c = dfma(c, z, 1.0 / 156.0);
	c = dfma(c, z, -691.0 / 360360.0);
	c = dfma(c, z, 1.0 / 1188.0);
	c = dfma(c, z, -1.0 / 1680.0);
	c = dfma(c, z, 1.0 / 1260.0);
	c = dfma(c, z, -1.0 / 360.0);
	c = dfma(c, z, 1.0 / 12.0);
	double t, u = two_sum(s, 0x1.d67f1c864beb5p-1, &t);
	return quick_sum(u, dadd(dadd(t, e), dadd(pl, dfma(c, i, -0x1.65b5a1b7ff5dfp-55))), lo);
}

/* log gamma of x > 0. */
INLINE double lgamma_positive(double x, double *lo) {
	if (x >= 10.0) {
		if (x > 0x1p80) {
			double l, h = log_parts(x, 0.0, 0, 0, &l);
			*lo = 0;
			return dmul(x, dadd(h, -1.0));
		}
		return stirling(x, lo);
	}
	double p = 1.0, y = x, r, l;
	if (x < 1.25) {
		/* log gamma(1+x) - log x */
		double tl, t = two_sum(x, -1.0, &tl); /* 1 + x - 2 */
		double add = dmul(t, DPOLY(lgam_b, t)); /* tl is far below where it counts */
		if (x < 0.5) { /* gamma(x) = gamma(2+x)/(x(1+x)) */
			double t2 = x, a2 = dmul(t2, DPOLY(lgam_b, t2));
			double l1, h1 = log1p_parts(x, 0.0, &l1), l0, h0 = log_parts(x, 0.0, 0, 0, &l0), e;
			r = two_sum(-h0, dsub(a2, h1), &e);
			*lo = dsub(e, dadd(l0, l1));
			return r;
		}
		double h = log_parts(x, 0.0, 0, 0, &l), e;
		r = two_sum(add, -h, &e);
		*lo = dsub(e, l);
		return r;
	}
	while (y > 2.5) {
		y = dadd(y, -1.0);
		p = dmul(p, y);
	}
	y = dadd(y, -2.0);
	double b = dmul(y, DPOLY(lgam_b, y));
	if (p == 1.0) {
		*lo = 0;
		return b;
	}
	double h = log_parts(p, 0.0, 0, 0, &l), e;
	r = two_sum(h, b, &e);
	*lo = dadd(l, e);
	return r;
}

API double __nv_lgamma(double a) {
	double l, m = dabs(a);
	if (!(m < DINF))
		return a != a ? dadd(a, a) : DINF;
	if (a > 0) {
		double r = lgamma_positive(a, &l);
		return dadd(r, l);
	}
	if (m < 0x1p-60)
		return m == 0 ? DINF : -log_parts(m, 0.0, 0, 0, &l);
	if (drint(a) == a)
		return DINF;
	/* pi/(m |sin pi m|) over gamma(m) */
	double s = dabs(__nv_sinpi(m)), ll, lh, e;
	double q = ddiv(PI_H, dmul(m, s));
	lh = log_parts(q, 0.0, 0, 0, &ll);
	double g = lgamma_positive(m, &l), r = two_sum(lh, -g, &e);
	return dadd(r, dadd(e, dsub(ll, l)));
}

API double __nv_tgamma(double a) {
	double m = dabs(a);
	if (a != a)
		return dadd(a, a);
	if (a == DINF)
		return a;
	if (a == 0)
		return dsign(DINF, a);
	if (a < 0 && drint(a) == a)
		return DNAN;
	s32 k = 0;
	double g;
	if (m < 10.0) {
		/* shift to [1.5, 2.5] */
		double p = 1.0, y = a, d = 1.0;
		if (m < 0x1p-60)
			return ddiv(1.0, a);
		while (y > 2.5) {
			y = dadd(y, -1.0);
			p = dmul(p, y);
		}
		/* the sum y + n keeps what a small a lost in rounding only as far as gamma feels it */
		double c = 0, e;
		while (y < 1.5) {
			d = dmul(d, dadd(y, c));
			y = two_sum(y, 1.0, &e);
			c = dadd(c, e);
		}
		y = dadd(dadd(y, -2.0), c);
		g = DPOLY(gam_g, y);
		return ddiv(dmul(g, p), d);
	}
	if (a > 180.0)
		return DINF;
	if (a < -190.0) {
		double t = dmul(drint(dmul(__builtin_floor(m), 0.5)), 2.0);
		return t == __builtin_floor(m) ? -0.0 : 0.0;
	}
	double l, h = stirling(m, &l), e;
	g = exp_parts(h, l, &k, &e);
	if (a > 0)
		return scale(dadd(g, e), k);
	/* gamma(a) = -pi/(m sin(pi m) gamma(m)) */
	double s = __nv_sinpi(m);
	double q = ddiv(PI_H, dmul(dmul(m, s), dadd(g, e)));
	/* two exact steps, the last of which rounds */
	s32 t = -k;
	return -dmul(dmul(q, pow2(t < -1000 ? t + 600 : t)), pow2(t < -1000 ? -600 : 0));
}
