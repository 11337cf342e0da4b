/* Remainders: exact, by long division of the significands. */

/* x mod y for finite x >= y > 0 as integers with exponents; *odd is the quotient's low bits. */
INLINE double fmod_positive(double x, double y, u32 *quo) {
	u64 a = dbits(x), b = dbits(y);
	s32 ea = (s32)(a >> 52), eb = (s32)(b >> 52);
	u64 ma = a & 0xfffffffffffffull, mb = b & 0xfffffffffffffull;
	if (ea == 0) {
		s32 z = __builtin_clzll(ma) - 11;
		ma <<= z;
		ea = 1 - z;
	} else
		ma |= 1ull << 52;
	if (eb == 0) {
		s32 z = __builtin_clzll(mb) - 11;
		mb <<= z;
		eb = 1 - z;
	} else
		mb |= 1ull << 52;
	s32 n = ea - eb;
	u32 q = 0;
	/* eleven bits of the quotient a step */
	q = ma >= mb;
	ma -= q ? mb : 0;
	double rb = ddiv(1.0, (double)mb);
	while (n > 0) {
		s32 s = n < 10 ? n : 10;
		ma <<= s;
		u64 t = (u64)dmul((double)ma, rb);
		u64 r = ma - t * mb;
		if ((s64)r < 0) {
			r += mb;
			t--;
		} else if (r >= mb) {
			r -= mb;
			t++;
		}
		q = q << s | (u32)t;
		ma = r;
		n -= s;
		if (ma == 0) {
			q = n < 32 ? q << n : 0;
			break;
		}
	}
	*quo = q;
	if (ma == 0)
		return 0.0;
	s32 z = __builtin_clzll(ma) - 11;
	s32 e = eb - z;
	if (e > 0)
		return dfrom((ma << z & 0xfffffffffffffull) | (u64)(u32)e << 52);
	return dfrom(ma << z >> (1 - e));
}

API double __nv_fmod(double a, double b) {
	double x = dabs(a), y = dabs(b);
	u32 q;
	if (a != a || b != b)
		return dadd(a, b);
	if (x == DINF || y == 0)
		return DNAN;
	if (x < y)
		return a;
	return dsign(fmod_positive(x, y, &q), a);
}

API double __nv_remquo(double a, double b, int *quo) {
	double x = dabs(a), y = dabs(b);
	u32 q = 0;
	*quo = 0;
	if (a != a || b != b)
		return dadd(a, b);
	if (x == DINF || y == 0)
		return DNAN;
	if (y == DINF)
		return a;
	double r = x < y ? x : fmod_positive(x, y, &q);
	/* nearest, ties to an even quotient */
	double d = dsub(y, r);
	if (r > d || (r == d && (q & 1))) {
		r = -d;
		q++;
	}
	q &= 0x7;
	*quo = (dbits(a) ^ dbits(b)) >> 63 ? -(s32)q : (s32)q;
	if (r == 0)
		return dsign(0.0, a);
	return hiword(a) < 0 ? -r : r;
}

API double __nv_remainder(double a, double b) {
	int q;
	return __nv_remquo(a, b, &q);
}

/* Of floats: through double, where all steps are exact. */
API float __nv_fmodf(float a, float b) {
	float x = fabs_(a), y = fabs_(b);
	u32 q;
	if (a != a || b != b)
		return a + b;
	if (x == FINF || y == 0)
		return FNAN;
	if (x < y)
		return a;
	return fsign((float)fmod_positive((double)x, (double)y, &q), a);
}
API float __nv_remquof(float a, float b, int *quo) {
	if (a != a || b != b) {
		*quo = 0;
		return a + b;
	}
	if (fabs_(a) == FINF || b == 0) {
		*quo = 0;
		return FNAN;
	}
	return (float)__nv_remquo((double)a, (double)b, quo);
}
API float __nv_remainderf(float a, float b) {
	int q;
	return __nv_remquof(a, b, &q);
}
