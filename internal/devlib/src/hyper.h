/* Hyperbolic functions of double precision and their inverses. */

API double __nv_sinh(double a) {
	double m = dabs(a), l, r;
	if (m < 1.0) {
		double z = dmul(m, m);
		return dfma(dmul(z, a), DPOLY(sinh_s, z), a);
	}
	if (!(m < 720.0))
		return m > 0 ? dsign(DINF, a) : dadd(a, a);
	s32 k;
	double e = exp_parts(m, 0.0, &k, &l);
	if (k < 40) {
		double h = pow2(k - 1), q = ddiv(pow2(-k - 1), e), s;
		double c = two_sum(dmul(e, h), -q, &s);
		r = dadd(c, dadd(s, dmul(l, h)));
	} else
		r = scale(dadd(e, l), k - 1);
	return dsign(r, a);
}

API double __nv_cosh(double a) {
	double m = dabs(a), l;
	if (!(m < 720.0))
		return m > 0 ? DINF : dadd(a, a);
	s32 k;
	double e = exp_parts(m, 0.0, &k, &l);
	if (k < 40) {
		double h = pow2(k - 1), q = ddiv(pow2(-k - 1), e), s;
		double c = two_sum(dmul(e, h), q, &s);
		return dadd(c, dadd(s, dmul(l, h)));
	}
	return scale(dadd(e, l), k - 1);
}

API double __nv_tanh(double a) {
	double m = dabs(a), l, r;
	if (a != a)
		return dadd(a, a);
	if (m < 0.55) {
		double z = dmul(m, m);
		return dfma(dmul(z, a), DPOLY(tanh_t, z), a);
	}
	if (m < 20.0) {
		/* 1 - 2/(E + 1), E = e^2m */
		s32 k;
		double e = exp_parts(dadd(m, m), 0.0, &k, &l), p = pow2(k), s;
		double d = two_sum(dmul(e, p), 1.0, &s);
		s = dfma(l, p, s);
		double i = ddiv(1.0, d), q = dadd(i, i);
		double t = dmul(dsub(dfma(-q, d, 2.0), dmul(q, s)), i), c;
		r = quick_sum(1.0, -q, &c);
		r = dadd(r, dsub(c, t));
	} else
		r = 1.0;
	return dsign(r, a);
}

API double __nv_asinh(double a) {
	double m = dabs(a), l, r;
	if (!(m < DINF))
		return dadd(a, a);
	if (m < 0.5) {
		double z = dmul(m, m);
		return dfma(dmul(z, a), DPOLY(asinh_r, z), a);
	}
	if (m >= 0x1p30)
		r = log_parts(m, 0.0, 1, 0, &l);
	else {
		/* log(m + sqrt(1 + m^2)) */
		double hl, h = two_prod(m, m, &hl), e, u = two_sum(h, 1.0, &e), s = dsqrt(u);
		double sl = ddiv(dadd(dfma(-s, s, u), dadd(e, hl)), dadd(s, s)), c, v = two_sum(s, m, &c);
		r = log_parts(v, dadd(c, sl), 0, 0, &l);
	}
	return dsign(r, a);
}

API double __nv_acosh(double a) {
	double l;
	if (!(a >= 1.0))
		return a != a ? dadd(a, a) : DNAN;
	if (a == DINF)
		return a;
	if (a >= 0x1p30)
		return log_parts(a, 0.0, 1, 0, &l);
	/* log(1 + t + sqrt(t (t + 2))), t = a - 1 */
	double tl, t = two_sum(a, -1.0, &tl), el, e = two_sum(t, 2.0, &el);
	el = dadd(el, tl);
	double hl, h = two_prod(t, e, &hl);
	hl = dfma(t, el, dfma(tl, e, hl));
	double s = dsqrt(h), sl = s == 0 ? 0.0 : ddiv(dadd(dfma(-s, s, h), hl), dadd(s, s));
	double c, v = two_sum(s, t, &c);
	return log1p_parts(v, dadd(c, dadd(sl, tl)), &l);
}

API double __nv_atanh(double a) {
	double m = dabs(a), l;
	if (!(m < 1.0))
		return m == 1.0 ? dsign(DINF, a) : a != a ? dadd(a, a) : DNAN;
	if (m < 0x1p-28)
		return a;
	/* log(1 + 2m/(1-m))/2 */
	double dl, d = two_sum(1.0, -m, &dl), i = ddiv(1.0, d), n = dadd(m, m), q = dmul(n, i);
	double ql = dmul(dfma(-q, dl, dfma(-q, d, n)), i);
	return dsign(dmul(0.5, log1p_parts(q, ql, &l)), a);
}
