/* Bessel functions, double precision. Below 8 polynomials times the distances from the zeros, which keeps relative
 * accuracy there; above, modulus and phase. */

INLINE double from_zero(double x, double h, double l) { return dsub(dsub(x, h), l); }

/* For x >= 8: J (y = 0) or Y (y = 1) of order n = 0 or 1 by modulus and phase. */
INLINE double bessel_far(double x, int n, int y) {
	double i = ddiv(8.0, x), s = dmul(i, i);
	double m = n ? DPOLY(bes_m1, s) : DPOLY(bes_m0, s);
	double t = n ? DPOLY(bes_t1, s) : DPOLY(bes_t0, s);
	/* cos(x - pi/4 - n pi/2 + t/x), or the sine */
	double d = dmul(dmul(i, 0.125), t), l;
	s32 q;
	double r = reduce(x, &l, &q);
	double e, p = two_sum(r, d, &e), v;
	/* bring it near 0 again: subtract pi/4, go to the nearest quadrant */
	double h = two_sum(p, -0.5 * PIO2_H, &v);
	v = dadd(v, dadd(e, dsub(l, 0.5 * PIO2_L)));
	if (h < -0.5 * PIO2_H) {
		double c;
		h = two_sum(h, PIO2_H, &c);
		v = dadd(v, dadd(c, PIO2_L));
		q--;
	}
	h = quick_sum(h, v, &v);
	q -= n;
	double w = sin_quadrant(h, v, y ? q : q + 1);
	/* sqrt(2/(pi x)) */
	return dmul(dmul(dmul(m, 0x1.9884533d43651p-1), rsqrt_parts(x, 0.0)), w);
}

INLINE double square_centered(double x) { return dmul(dfma(x, x, -8.0), 0.125); }

/* J0 and J1 for 0 <= x < 8. */
INLINE double j0_near(double x) {
	if (x < 4.0) {
		double d = dmul(from_zero(x, J0_Z1_H, J0_Z1_L), dadd(x, J0_Z1_H));
		return dmul(d, DPOLY(j0_a, square_centered(x)));
	}
	return dmul(from_zero(x, J0_Z2_H, J0_Z2_L), DPOLY(j0_b, dfma(x, 0.5, -3.0)));
}
INLINE double j1_near(double x) {
	double d = from_zero(x, J1_Z1_H, J1_Z1_L);
	if (x < 4.0)
		return dmul(dmul(dmul(d, dadd(x, J1_Z1_H)), DPOLY(j1_a, square_centered(x))), x);
	return dmul(dmul(d, from_zero(x, J1_Z2_H, J1_Z2_L)), DPOLY(j1_b, dfma(x, 0.5, -3.0)));
}

API double __nv_j0(double a) {
	double m = dabs(a);
	if (m < 8.0)
		return j0_near(m);
	if (!(m < DINF))
		return a != a ? dadd(a, a) : 0.0;
	return bessel_far(m, 0, 0);
}

API double __nv_j1(double a) {
	double m = dabs(a), r;
	if (m < 8.0)
		r = m < 0x1p-30 ? dmul(m, 0.5) : j1_near(m);
	else if (!(m < DINF))
		return a != a ? dadd(a, a) : dsign(0.0, a);
	else
		r = bessel_far(m, 1, 0);
	return hiword(a) < 0 ? -r : r;
}

#define TWO_OVER_PI_H 0x1.45f306dc9c883p-1

API double __nv_y0(double a) {
	if (!(a > 0 && a < DINF))
		return a == 0 ? -DINF : a > 0 ? 0.0 : a != a ? dadd(a, a) : DNAN;
	if (a >= 8.0)
		return bessel_far(a, 0, 1);
	if (a < 0.5) {
		double l, h = log_parts(a, 0.0, 0, 0, &l);
		double z = dmul(a, a);
		return dfma(dmul(h, j0_near(a)), TWO_OVER_PI_H, DPOLY(y0_r, z));
	}
	double d;
	if (a < 2.0) {
		d = from_zero(a, Y0_Z1_H, Y0_Z1_L);
		return dmul(d, a < 1.0 ? DPOLY(y0_a, dfma(a, 4.0, -3.0)) : DPOLY(y0_b, dfma(a, 2.0, -3.0)));
	}
	d = from_zero(a, Y0_Z2_H, Y0_Z2_L);
	if (a < 4.0)
		return dmul(d, DPOLY(y0_c, dadd(a, -3.0)));
	return dmul(dmul(d, from_zero(a, Y0_Z3_H, Y0_Z3_L)), DPOLY(y0_d, dfma(a, 0.5, -3.0)));
}

API double __nv_y1(double a) {
	if (!(a > 0 && a < DINF))
		return a == 0 ? -DINF : a > 0 ? 0.0 : a != a ? dadd(a, a) : DNAN;
	if (a >= 8.0)
		return bessel_far(a, 1, 1);
	if (a < 1.0) {
		if (a < 0x1p-60)
			return ddiv(-TWO_OVER_PI_H, a);
		double l, h = log_parts(a, 0.0, 0, 0, &l), z = dmul(a, a);
		double t = dmul(dmul(h, j1_near(a)), TWO_OVER_PI_H), i = ddiv(1.0, a);
		double u = dfma(a, DPOLY(y1_r, z), t);
		/* 2/pi 1/a with what the quotient lacks */
		double e = dmul(dfma(-i, a, 1.0), i), pl, p = two_prod(i, TWO_OVER_PI_H, &pl);
		pl = dfma(e, TWO_OVER_PI_H, dfma(i, -0x1.6b01ec5417056p-55, pl));
		return dadd(-p, dsub(u, pl));
	}
	if (a < 4.0) {
		double d = from_zero(a, Y1_Z1_H, Y1_Z1_L);
		return dmul(d, a < 2.0 ? DPOLY(y1_b, dfma(a, 2.0, -3.0)) : DPOLY(y1_c, dadd(a, -3.0)));
	}
	return dmul(from_zero(a, Y1_Z2_H, Y1_Z2_L), DPOLY(y1_d, dfma(a, 0.5, -3.0)));
}

API double __nv_jn(int n, double a) {
	if (n == 0)
		return __nv_j0(a);
	if (n == 1)
		return __nv_j1(a);
	double x = dabs(a), r;
	if (n < 0)
		return DNAN;
	if (a != a)
		return dadd(a, a);
	if (x == 0 || x == DINF)
		return 0.0;
	double i = ddiv(2.0, x);
	if (x > (double)n) {
		/* upwards */
		double p = __nv_j0(x), c = __nv_j1(x);
		for (s32 k = 1; k < n; k++) {
			double t = dfma(dmul((double)k, i), c, -p);
			p = c;
			c = t;
		}
		r = c;
	} else if (x < 0x1p-20) {
		/* (x/2)^n/n! */
		r = 1.0;
		double h = dmul(x, 0.5);
		for (s32 k = 1; k <= n && r != 0; k++)
			r = ddiv(dmul(r, h), (double)k);
	} else {
		/* downwards from where J is negligible (Miller), scaled to J0 or J1, whichever is larger */
		s32 m = n + 20 + (s32)dsqrt(dmul(60.0, (double)n));
		m += m & 1;
		double p = 0.0, c = 0x1p-900, v = 0.0;
		for (s32 k = m; k > 0; k--) {
			double t = dfma(dmul((double)k, i), c, -p); /* J(k-1) */
			p = c;
			c = t;
			if (k - 1 == n)
				v = c;
			if (dabs(c) > 0x1p500) {
				c = dmul(c, 0x1p-1000);
				p = dmul(p, 0x1p-1000);
				v = dmul(v, 0x1p-1000);
			}
		}
		/* c stands for J0, p for J1 */
		double b = __nv_j0(x), d = __nv_j1(x);
		r = dabs(b) > dabs(d) ? dmul(ddiv(v, c), b) : dmul(ddiv(v, p), d);
	}
	return hiword(a) < 0 && (n & 1) ? -r : r;
}

API double __nv_yn(int n, double a) {
	if (n == 0)
		return __nv_y0(a);
	if (n == 1)
		return __nv_y1(a);
	if (n < 0)
		return DNAN;
	if (!(a > 0 && a < DINF))
		return a == 0 ? ddiv(-1.0, a) : /* of -0 infinity, as recorded */ a > 0 ? 0.0 : a != a ? dadd(a, a) : DNAN;
	double i = ddiv(2.0, a), p = __nv_y0(a), c = __nv_y1(a);
	for (s32 k = 1; k < n && c > -DINF; k++) {
		double t = dfma(dmul((double)k, i), c, -p);
		p = c;
		c = t;
	}
	return c;
}

/* e^x/sqrt(x) p for x >= 8. */
INLINE double bessel_i_far(double x, double p) {
	if (x > 720.0)
		return DINF;
	s32 k;
	double l, e = exp_parts(x, 0.0, &k, &l);
	return scale(dmul(dadd(e, l), dmul(p, rsqrt_parts(x, 0.0))), k);
}

API double __nv_cyl_bessel_i0(double a) {
	double m = dabs(a);
	if (!(m < DINF))
		return dmul(a, a);
	if (m < 8.0)
		return DPOLY(i0_a, dmul(dmul(m, m), 0.015625));
	return bessel_i_far(m, DPOLY(i0_b, ddiv(8.0, m)));
}

API double __nv_cyl_bessel_i1(double a) {
	double m = dabs(a);
	if (!(m < DINF))
		return dadd(a, a);
	if (m < 8.0)
		return dmul(DPOLY(i1_a, dmul(dmul(m, m), 0.015625)), a);
	return dsign(bessel_i_far(m, DPOLY(i1_b, ddiv(8.0, m))), a);
}
