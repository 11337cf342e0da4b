/* Functions of single precision in single precision: those that kernels use. */

#define L2E_F 0x1.715476p+0f
#define L2E_LF 0x1.4ae0cp-26f
#define LN2_F 0x1.62e430p-1f
#define LN2_LF -0x1.05c610p-29f

/* e^a as 2^f 2^t, t an integer at or below a log2 e: that is scaled to [0, 1], where it saturates, and back, so that t
 * stays within 126 of 0 and what is out of range is left to f. The factor 252 gives the bits of the H200. */
INLINE float exp_base(float a, float h, float l, float scaled) {
	float s = ffma(a, scaled, 0.5f);
	s = s > 0 ? s : 0.0f;
	s = s < 1.0f ? s : 1.0f;
	float j = ffma_down(s, 252.0f, 12582912.0f); /* 1.5 2^23: the sum is an integer, rounded down */
	float t = j - 12583038.0f;
	return fmul(ex2ftz(ffma(a, l, ffma(a, h, -t))), pow2f((s32)(fbits(j) - 0x4b400000) - 126));
}
API float __nv_expf(float a) { return exp_base(a, L2E_F, L2E_LF, 0x1.77313ap-8f); }
API float __nv_exp10f(float a) { return exp_base(a, 0x1.a934f0p+1f, 0x1.2f346ep-24f, 0x1.aff4c4p-7f); }
API float __nv_exp2f(float a) { return ex2(a); }

/* e^r - 1 for |r| <= ln2/2. */
API float __nv_expm1f(float a) {
	float t = frint(fmul(a, L2E_F));
	t = t > 130.0f ? 130.0f : t < -60.0f ? -60.0f : t;
	float m = a < -40.0f ? -40.0f : a;
	float r = ffma(t, -LN2_F, m), c = fmul(t, -LN2_LF);
	r = r + c;
	float p = FPOLY(expm1f_p, r);
	float q = ffma(fmul(r, r), p, r);
	if (t == 0)
		return a == 0 ? a : q;
	s32 k = f2i(t);
	if (k > 126) {
		float y = scalef(1.0f + q, k);
		return a != a ? a + a : a > 100.0f ? FINF : y;
	}
	float s = pow2f(k);
	float y = ffma(q, s, s - 1.0f);
	return a != a ? a + a : y;
}

/* Logarithms: m in [sqrt(1/2), sqrt(2)), *e its exponent as a number. Zero, infinity, NaN and negative numbers are the
 * callers'. */
INLINE float log_split(float a, float *e) {
	float k = 0;
	if (a < 0x1p-126f) {
		a = fmul(a, 0x1p24f);
		k = -24.0f;
	}
	u32 u = fbits(a);
	s32 d = (s32)(u - 0x3f3504f3) >> 23;
	*e = k + (float)d;
	return ffrom(u - ((u32)d << 23)) - 1.0f;
}
INLINE float log_edge(float a) { return a == 0 ? -FINF : a > 0 ? a : a != a ? a + a : FNAN; }

API float __nv_logf(float a) {
	float e, f = log_split(a, &e);
	float z = fmul(f, f);
	float p = fmul(fmul(z, f), FPOLY(logf_p, f)); /* beyond f - f^2/2 */
	p = ffma(e, LN2_LF, ffma(z, -0.5f, p));
	float r = ffma(e, LN2_F, f + p);
	if (e != 0) {
		float l, h = quick_sumf(fmul(e, LN2_F), f, &l);
		r = h + (p + (l + ffma(e, LN2_F, -fmul(e, LN2_F))));
	}
	return a > 0 && a < FINF ? r : log_edge(a);
}

/* log(1+f) = h + l */
INLINE float log_unit(float f, float *l) {
	float z = fmul(f, f), zl = ffma(f, f, -z);
	float p = fmul(fmul(z, f), FPOLY(logf_p, f)), t;
	float h = quick_sumf(f, fmul(z, -0.5f), &t);
	p = p + ffma(zl, -0.5f, t);
	return quick_sumf(h, p, l);
}

API float __nv_log2f(float a) {
	float e, f = log_split(a, &e), l, h = log_unit(f, &l);
	float p = fmul(h, L2E_F), pl = ffma(h, L2E_F, -p);
	pl = ffma(h, L2E_LF, ffma(l, L2E_F, pl));
	float r = p + pl;
	if (e != 0) {
		float t, s = quick_sumf(e, p, &t);
		r = s + (t + pl);
	}
	return a > 0 && a < FINF ? r : log_edge(a);
}

API float __nv_log10f(float a) {
	float e, f = log_split(a, &e), l, h = log_unit(f, &l);
	float p = fmul(h, 0x1.bcb7b2p-2f), pl = ffma(h, 0x1.bcb7b2p-2f, -p);
	pl = ffma(h, -0x1.5b235ep-27f, ffma(l, 0x1.bcb7b2p-2f, pl));
	/* e log10 2 in two parts */
	float q = fmul(e, 0x1.344136p-2f), ql = ffma(e, 0x1.344136p-2f, -q);
	ql = ffma(e, -0x1.ec10c0p-27f, ql);
	float t = p, s = p;
	t = 0;
	if (e != 0)
		s = quick_sumf(q, p, &t);
	float r = s + (t + (pl + ql));
	return a > 0 && a < FINF ? r : log_edge(a);
}

API float __nv_log1pf(float a) {
	/* 1 + a = 2^e (1 + f), f with what the sum lost */
	float u = 1.0f + a, v = u - 1.0f, c = (a - v) + (1.0f - (u - v));
	float w = a < -0.9999999f ? 1.0f : u; /* the edge is decided below */
	s32 d = (s32)(fbits(w) - 0x3f3504f3) >> 23;
	float e = (float)d;
	float f = ffrom(fbits(w) - ((u32)d << 23)) - 1.0f;
	c = fmul(c, ffrom((u32)(127 - (d > 120 ? 120 : d)) << 23));
	if (d == 0) /* a itself: nothing is lost */
		f = a, c = 0;
	float cc;
	f = quick_sumf(f, c, &cc);
	float z = fmul(f, f);
	float p = fmul(fmul(z, f), FPOLY(logf_p, f));
	p = ffma(e, LN2_LF, ffma(z, -0.5f, p));
	float r = f + p;
	if (e != 0) {
		float q = fmul(e, LN2_F), l, h = quick_sumf(q, f, &l);
		r = h + (p + (l + ffma(e, LN2_F, -q)));
	}
	if (a > -1.0f && a < FINF)
		return fabs_(a) < 0x1p-25f ? a : a < -0.9999999f ? -0x1.0a2b24p+4f : r;
	return a == -1.0f ? -FINF : a > 0 ? a : a != a ? a + a : FNAN;
}

/* Angles: x - quadrant pi/2. */
NOINLINE u64 devlib_reduce_largef(float x) {
	/* 24 bits of x times 96 bits of 2/pi (Payne and Hanek) */
	u32 b = fbits(x);
	s32 e = (s32)(b >> 23 & 0xff) - 150; /* x = m 2^e */
	u64 m = (b & 0x7fffff) | 0x800000;
	s32 skip = e > 2 ? e - 2 : 0, w = skip >> 6, sh = skip & 63;
	u64 t0 = two_over_pi[w], t1 = two_over_pi[w + 1], t2 = two_over_pi[w + 2];
	if (sh) {
		t0 = t0 << sh | t1 >> (64 - sh);
		t1 = t1 << sh | t2 >> (64 - sh);
	}
	u64 lo = m * (t1 >> 32), mid = m * (t0 & 0xffffffff) + (lo >> 32), hi = m * (t0 >> 32) + (mid >> 32);
	/* hi.(mid)(lo) of weight 2^-32 each, times 2^(e - skip) */
	s32 up = e - skip;
	u64 f = hi << 32 | (mid & 0xffffffff), n = hi >> 32;
	u64 g = lo << 32;
	if (up > 0) {
		n = n << up | f >> (64 - up);
		f = f << up | g >> (64 - up);
	} else if (up < 0) {
		f = f >> -up | n << (64 + up);
		n >>= -up;
	}
	n += f >> 63;
	float r = (float)((double)(s64)f * (PIO2_H * 0x1p-64));
	s32 q = (s32)n;
	if ((s32)b < 0) {
		r = -r;
		q = -q;
	}
	return (u64)(u32)q << 32 | fbits(r);
}

INLINE float reducef(float x, s32 *quadrant) {
	float k = frint(fmul(x, 0x1.45f306p-1f));
	if (fabs_(x) > 71476.0f) {
		u64 p = devlib_reduce_largef(x);
		*quadrant = (s32)(p >> 32);
		return ffrom((u32)p);
	}
	*quadrant = f2i(k);
	float r = ffma(k, -0x1.921fb6p+0f, x);
	r = ffma(k, 0x1.777a5cp-25f, r);
	return ffma(k, 0x1.ee59dap-50f, r);
}
INLINE float sin_kernelf(float r) {
	float z = fmul(r, r);
	return ffma(fmul(z, r), FPOLY(sinf_s, z), r);
}
INLINE float cos_kernelf(float r) {
	float z = fmul(r, r);
	return ffma(z, ffma(z, FPOLY(cosf_c, z), -0.5f), 1.0f);
}
INLINE float sin_quadrantf(float r, s32 q) {
	float v = q & 1 ? cos_kernelf(r) : sin_kernelf(r);
	return q & 2 ? -v : v;
}
API float __nv_sinf(float a) {
	if (!(fabs_(a) < FINF))
		return FNAN;
	s32 q;
	float r = reducef(a, &q), v = sin_quadrantf(r, q);
	return a == 0 ? a : v;
}
API float __nv_cosf(float a) {
	if (!(fabs_(a) < FINF))
		return FNAN;
	s32 q;
	float r = reducef(a, &q);
	return sin_quadrantf(r, q + 1);
}
API void __nv_sincosf(float a, float *s, float *c) {
	*s = __nv_sinf(a);
	*c = __nv_cosf(a);
}
API float __nv_tanf(float a) {
	if (!(fabs_(a) < FINF))
		return FNAN;
	s32 q;
	float r = reducef(a, &q), z = fmul(r, r);
	float t = ffma(fmul(z, r), FPOLY(tanf_t, z), r);
	if (q & 1)
		t = fdivrn(-1.0f, t);
	return a == 0 ? a : t;
}
INLINE float reduce_pif(float a, s32 *q) {
	float m = fabs_(a) >= 0x1p24f ? 0.0f : a;
	float k = frint(m + m);
	*q = f2i(k);
	float r = ffma(k, -0.5f, m);
	return ffma(r, 0x1.921fb6p+1f, fmul(r, -0x1.777a5cp-24f));
}
API float __nv_sinpif(float a) {
	if (!(fabs_(a) < FINF))
		return FNAN;
	s32 q;
	float r = reduce_pif(a, &q), v = sin_quadrantf(r, q);
	return frint(a) == a ? fmul(a, 0.0f) : v;
}
API float __nv_cospif(float a) {
	if (!(fabs_(a) < FINF))
		return FNAN;
	s32 q;
	float r = reduce_pif(a, &q), v = sin_quadrantf(r, q + 1);
	return v == 0 ? 0.0f : v;
}
API void __nv_sincospif(float a, float *s, float *c) {
	*s = __nv_sinpif(a);
	*c = __nv_cospif(a);
}

INLINE float atan_kernelf(float t) {
	float z = fmul(t, t);
	return ffma(fmul(z, t), FPOLY(atanf_a, z), t);
}
API float __nv_atanf(float a) {
	float m = fabs_(a), t = m > 1.0f ? fdivrn(1.0f, m) : m;
	float r = atan_kernelf(t);
	r = m > 1.0f ? 0x1.921fb6p+0f - r : r;
	return a != a ? a + a : fsign(r, a);
}
API float __nv_atan2f(float a, float b) {
	float y = fabs_(a), x = fabs_(b);
	if (a != a || b != b)
		return a + b;
	int swap = y > x;
	float n = swap ? x : y, d = swap ? y : x;
	float q = d == 0 ? 0.0f : n == FINF ? 1.0f : fdivrn(n, d);
	float r = atan_kernelf(q);
	r = swap ? 0x1.921fb6p+0f - r : r;
	r = (s32)fbits(b) < 0 ? 0x1.921fb6p+1f - r : r;
	return fsign(r, a);
}
API float __nv_asinf(float a) {
	float m = fabs_(a);
	if (!(m <= 1.0f))
		return a != a ? a + a : FNAN;
	int big = m > 0.5f;
	float z = big ? ffma(m, -0.5f, 0.5f) : fmul(m, m), s = big ? fsqrtrn(z) : m;
	float t = ffma(fmul(z, s), FPOLY(asinf_r, z), s);
	t = big ? ffma(t, -2.0f, 0x1.921fb6p+0f) : t;
	return fsign(t, a);
}
API float __nv_acosf(float a) {
	float m = fabs_(a);
	if (!(m <= 1.0f))
		return a != a ? a + a : FNAN;
	int big = m > 0.5f;
	float z = big ? ffma(m, -0.5f, 0.5f) : fmul(m, m), s = big ? fsqrtrn(z) : a;
	float p = fmul(fmul(z, s), FPOLY(asinf_r, z));
	if (!big) {
		float h = 0x1.921fb6p+0f - a, l = (0x1.921fb6p+0f - h) - a;
		return h + (l - (p + 0x1.777a5cp-25f));
	}
	float t = s + p;
	return a > 0 ? t + t : ffma(t, -2.0f, 0x1.921fb6p+1f);
}

/* e^m for m >= 0 in [0, 90] as y 2^k. */
INLINE float exp_unit(float m, s32 *k) {
	float t = frint(fmul(m, L2E_F));
	*k = f2i(t);
	return ex2ftz(ffma(m, L2E_LF, ffma(m, L2E_F, -t)));
}
API float __nv_sinhf(float a) {
	float m = fabs_(a), z = fmul(m, m), r;
	if (m < 1.0f)
		return ffma(fmul(z, a), FPOLY(sinhf_s, z), a);
	s32 k;
	float c = m < 100.0f ? m : 100.0f;
	float y = exp_unit(c, &k);
	if (m < 20.0f) {
		float p = fmul(y, pow2f(k - 1));
		r = p - fdivrn(0.25f, p);
	} else
		r = scalef(y, k - 1);
	return a != a ? a + a : fsign(r, a);
}
/* With e^m = 4 p: 2 p + 1/(8 p), as the H200 has it bit by bit. */
API float __nv_coshf(float a) {
	float m = fabs_(a), t = __builtin_truncf(fmul(m, L2E_F));
	t = t < 126.0f ? t : 126.0f;
	float r = ffma(t, -LN2_LF, ffma(t, -LN2_F, m));
	float p = fmul(ex2ftz(fmul(r, L2E_F)), pow2f(f2i(t) - 2));
	return ffma(p, 2.0f, fmul(rcpa(p), 0.125f));
}
API float __nv_tanhf(float a) {
	float m = fabs_(a), z = fmul(m, m);
	float p = ffma(fmul(z, a), FPOLY(tanhf_t, z), a);
	s32 k;
	float c = m < 20.0f ? m : 20.0f;
	float e = exp_unit(c + c, &k);
	float d = ffma(e, pow2f(k), 1.0f);
	float r = ffma(rcpa(d), -2.0f, 1.0f);
	r = m < 0.55f ? p : fsign(r, a);
	return a != a ? a + a : r;
}
API float __nv_asinhf(float a) {
	float m = fabs_(a), z = fmul(m, m);
	if (m < 0.5f)
		return ffma(fmul(z, a), FPOLY(asinhf_r, z), a);
	if (!(m < FINF))
		return a + a;
	float r;
	if (m > 0x1p20f) {
		/* log 2m */
		r = __nv_logf(m) + LN2_F;
	} else {
		float s = fsqrtrn(ffma(m, m, 1.0f));
		/* log1p(m + m^2/(1 + s)) */
		r = __nv_log1pf(m + fdivrn(fmul(m, m), 1.0f + s));
	}
	return fsign(r, a);
}
API float __nv_acoshf(float a) {
	if (!(a >= 1.0f))
		return a != a ? a + a : FNAN;
	if (a > 0x1p20f)
		return a == FINF ? a : __nv_logf(a) + LN2_F;
	float t = a - 1.0f;
	return __nv_log1pf(t + fsqrtrn(ffma(t, t, t + t)));
}
API float __nv_atanhf(float a) {
	float m = fabs_(a);
	if (!(m < 1.0f))
		return m == 1.0f ? fsign(FINF, a) : a != a ? a + a : FNAN;
	float d = 1.0f - m, r = __nv_log1pf(fdivrn(m + m, d));
	return fsign(fmul(r, 0.5f), a);
}

API float __nv_cbrtf(float a) {
	float m = fabs_(a);
	if (!(m > 0 && m < FINF))
		return a + a;
	float s = 1.0f;
	if (m < 0x1p-100f) {
		m = fmul(m, 0x1p60f);
		s = 0x1p-20f;
	}
	/* 2^(log2 m/3), then a step of Newton's */
	float c = ex2ftz(fmul(lg2(m), 0x1.555556p-2f));
	float c2 = fmul(c, c), r = ffma(-c2, c, m), t = ffma(c, c, -c2);
	r = ffma(-t, c, r);
	c = ffma(r, fmul(rcpa(c2), 0x1.555556p-2f), c);
	return fsign(fmul(c, s), a);
}
API float __nv_rcbrtf(float a) {
	float m = fabs_(a);
	if (!(m > 0 && m < FINF))
		return m == 0 ? fsign(FINF, a) : a != a ? a + a : fsign(0.0f, a);
	float s = 1.0f;
	if (m < 0x1p-100f) {
		m = fmul(m, 0x1p60f);
		s = 0x1p20f;
	}
	float y = ex2ftz(fmul(lg2(m), -0x1.555556p-2f));
	/* y + y (1 - m y^3)/3 */
	float q = fmul(y, y), ql = ffma(y, y, -q), u = fmul(q, m), ul = ffma(q, m, -u);
	ul = ffma(ql, m, ul);
	float e = ffma(-u, y, 1.0f);
	e = ffma(-ul, y, e);
	y = ffma(fmul(y, e), 0x1.555556p-2f, y);
	return fsign(fmul(y, s), a);
}

API float __nv_erff(float a) {
	float m = fabs_(a), z = fmul(m, m);
	float p = ffma(a, FPOLY(erff_e, z), a);
	float c = m < 4.0f ? m : 4.0f;
	float r = 1.0f - ex2(FPOLY(erff_l, c - 2.5f));
	r = m < 1.0f ? p : fsign(r, a);
	return a != a ? a + a : r;
}

/* erfcx(x) for x >= 0. */
INLINE float erfcx_positivef(float x) {
	float d = x + 4.0f, i = rcpa(d), t = fmul(x - 4.0f, i);
	t = ffma(ffma(-t, d, x - 4.0f), i, t);
	/* the last step and the quotient in two parts */
	float pl, p = quick_sumf(erfcxf_p[0], fmul(t, FPOLY_FROM(erfcxf_p, 1, t)), &pl);
	float n = ffma(x, 2.0f, 1.0f), nl = x > 0.5f ? 1.0f + ffma(x, 2.0f, -n) : ffma(x, 2.0f, 1.0f - n);
	i = rcpa(n);
	float q = fmul(p, i);
	return ffma(ffma(-q, nl, ffma(-q, n, p)) + pl, i, q);
}
API float __nv_erfcf(float a) {
	float m = fabs_(a);
	if (a != a)
		return a + a;
	if (m < 0.5f) {
		float z = fmul(a, a), q = fmul(a, FPOLY(erff_e, z));
		float h = 1.0f - a, l = (1.0f - h) - a;
		return h + (l - q);
	}
	float c = m < 11.0f ? m : 11.0f;
	/* e^(-c^2), the square in two parts */
	float q = fmul(c, c), ql = ffma(c, c, -q);
	float t = frint(fmul(q, -L2E_F));
	float f = ffma(q, -L2E_LF, ffma(q, -L2E_F, -t));
	f = ffma(ql, -L2E_F, f);
	float r = scalef(fmul(ex2ftz(f), erfcx_positivef(c)), f2i(t));
	return a < 0 ? 2.0f - r : r;
}

/* log2 |a| in two parts and 2^(b log2 |a|). */
API float __nv_powf(float a, float b) {
	float m = fabs_(a), n = fabs_(b);
	float x = m, k = 0;
	if (x < 0x1p-126f) {
		x = fmul(x, 0x1p24f);
		k = -24.0f;
	}
	u32 u = fbits(x);
	s32 d = (s32)(u - 0x3f3504f3) >> 23;
	k = k + (float)d;
	x = ffrom(u - ((u32)d << 23));
	/* s = 2f/(2+f), log x = s + s^3 q(s^2) */
	float f = x - 1.0f, v = 2.0f + f, vl = f - (v - 2.0f);
	float i = rcpa(v), g = f + f, s = fmul(g, i);
	float sl = fmul(ffma(-s, vl, ffma(-s, v, g)), i);
	float z = fmul(s, s), zl = ffma(s, s, -z);
	zl = ffma(s + s, sl, zl);
	/* q = 1/12 + z (...), in two parts */
	float q1 = fmul(z, ffma(ffma(log2f_q[3], z, log2f_q[2]), z, log2f_q[1]));
	float cl, c = quick_sumf(0x1.555556p-4f, q1, &cl);
	cl = cl + -0x1.555556p-29f;
	float w = fmul(z, s), wl = ffma(z, s, -w);
	wl = ffma(zl, s, ffma(z, sl, wl));
	float p = fmul(w, c), pl = ffma(w, c, -p);
	pl = ffma(w, cl, ffma(wl, c, pl));
	float l, h = quick_sumf(s, p, &l);
	l = l + (pl + sl);
	/* times log2 e, plus the exponent */
	float t = fmul(h, L2E_F), tl = ffma(h, L2E_F, -t);
	tl = ffma(h, L2E_LF, ffma(l, L2E_F, tl));
	float y = t, e = 0;
	if (k != 0)
		y = quick_sumf(k, t, &e);
	e = e + tl;
	y = quick_sumf(y, e, &e);
	/* times b */
	float bb = n > 0x1p60f ? fsign(0x1p60f, b) : b;
	float r = fmul(y, bb), rl = ffma(y, bb, -r);
	rl = ffma(e, bb, rl);
	float o = frint(r);
	o = o > 200.0f ? 200.0f : o < -240.0f ? -240.0f : o;
	float rest = (r - o) + rl;
	rest = r > 200.0f || r < -240.0f ? 0.0f : rest;
	float res = scalef(ex2ftz(rest), f2i(o) > 250 ? 250 : f2i(o));
	/* special values; b: 0 no integer, 1 odd, 2 even */
	int odd = 0, whole = frint(n) == n;
	if (whole && n < 0x1p24f) {
		float half = fmul(n, 0.5f);
		odd = frint(half) != half;
	}
	if (a == 1.0f || b == 0)
		return 1.0f;
	if (a != a || b != b)
		return a + b;
	if (n == FINF)
		return m == 1.0f ? 1.0f : (m > 1.0f) == (b > 0) ? FINF : 0.0f;
	if (m == 0 || m == FINF)
		res = (m == 0) == (b > 0) ? 0.0f : FINF;
	else if (a < 0 && !whole)
		return FNAN;
	return (s32)fbits(a) < 0 && odd ? -res : res;
}
API float __nv_powif(float a, int b) {
	u32 n = b < 0 ? -(u32)b : (u32)b;
	float r = 1.0f;
	for (;;) {
		if (n & 1)
			r = fmul(r, a);
		n >>= 1;
		if (n == 0)
			break;
		a = fmul(a, a);
	}
	return b < 0 ? fdivrn(1.0f, r) : r;
}

/* Norms through double precision, where the squares are exact. */
INLINE double squaresf(float a, float b, float c, float d) {
	double x = (double)a, y = (double)b, z = (double)c, w = (double)d;
	return dadd(dfma(x, x, dmul(y, y)), dfma(z, z, dmul(w, w)));
}
INLINE float normf_of(float a, float b, float c, float d) { return (float)dsqrt(squaresf(a, b, c, d)); }
INLINE float rnormf_of(float a, float b, float c, float d) {
	double s = squaresf(a, b, c, d);
	if (s == 0)
		return FINF;
	if (!(s < DINF))
		return s != s ? FNAN : 0.0f;
	return (float)rsqrt_parts(s, 0.0);
}
INLINE int any_inf(float a, float b, float c, float d) {
	return fabs_(a) == FINF || fabs_(b) == FINF || fabs_(c) == FINF || fabs_(d) == FINF;
}
API float __nv_hypotf(float a, float b) { return any_inf(a, b, 0, 0) ? FINF : normf_of(a, b, 0, 0); }
API float __nv_rhypotf(float a, float b) { return any_inf(a, b, 0, 0) ? 0.0f : rnormf_of(a, b, 0, 0); }
API float __nv_norm3df(float a, float b, float c) { return any_inf(a, b, c, 0) ? FINF : normf_of(a, b, c, 0); }
API float __nv_rnorm3df(float a, float b, float c) { return any_inf(a, b, c, 0) ? 0.0f : rnormf_of(a, b, c, 0); }
API float __nv_norm4df(float a, float b, float c, float d) { return any_inf(a, b, c, d) ? FINF : normf_of(a, b, c, d); }
API float __nv_rnorm4df(float a, float b, float c, float d) {
	return any_inf(a, b, c, d) ? 0.0f : rnormf_of(a, b, c, d);
}
INLINE double normf_sum(int n, const float *p, int *inf) {
	double s = 0;
	n = n < 1 ? 1 : n;
	*inf = 0;
	for (int i = 0; i < n; i++) {
		*inf |= fabs_(p[i]) == FINF;
		s = dfma((double)p[i], (double)p[i], s);
	}
	return s;
}
API float __nv_normf(int n, const float *p) {
	int inf;
	double s = normf_sum(n, p, &inf);
	return inf ? FINF : (float)dsqrt(s);
}
API float __nv_rnormf(int n, const float *p) {
	int inf;
	double s = normf_sum(n, p, &inf);
	return inf ? 0.0f : (float)ddiv(1.0, dsqrt(s));
}

/* The rest by double precision: few programs call them, and the rounding is the only error. */
#define BY_DOUBLE(name) API float name##f(float a) { return (float)name((double)a); }
BY_DOUBLE(__nv_erfinv)
BY_DOUBLE(__nv_erfcinv)
BY_DOUBLE(__nv_erfcx)
BY_DOUBLE(__nv_normcdf)
BY_DOUBLE(__nv_normcdfinv)
BY_DOUBLE(__nv_lgamma)
BY_DOUBLE(__nv_tgamma)
BY_DOUBLE(__nv_j0)
BY_DOUBLE(__nv_j1)
BY_DOUBLE(__nv_y0)
BY_DOUBLE(__nv_y1)
BY_DOUBLE(__nv_cyl_bessel_i0)
BY_DOUBLE(__nv_cyl_bessel_i1)
API float __nv_jnf(int n, float a) { return (float)__nv_jn(n, (double)a); }
API float __nv_ynf(int n, float a) { return (float)__nv_yn(n, (double)a); }
