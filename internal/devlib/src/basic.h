/* Functions that are one instruction or a few: arithmetic with a rounding mode, conversions, bits, integers, rounding
 * to an integer, minimum and maximum, parts of numbers, and the fast approximations. Float operations flush subnormal
 * numbers where the program is compiled so (FTZ). */

#ifdef __NVPTX__
/* r: rn, rz, rd or ru, a rounding mode of the instruction; i: rni and so on, to an integer. */
#define BY_FTZ1(i, a) (FTZ ? F1(i ".ftz.f32", a) : F1(i ".f32", a))
#define BY_FTZ2(i, a, b) (FTZ ? F2(i ".ftz.f32", a, b) : F2(i ".f32", a, b))
#define TO_INT(ret, c, i, t, a) \
	(FTZ ? ASM1(ret, c, "cvt." i ".ftz." t ".f32", "f", a) : ASM1(ret, c, "cvt." i "." t ".f32", "f", a))
#define ROUNDED(r, m, i)                                                                                               \
	API float __nv_fadd_##r(float a, float b) { return BY_FTZ2("add." m, a, b); }                                       \
	API float __nv_fsub_##r(float a, float b) { return BY_FTZ2("sub." m, a, b); }                                       \
	API float __nv_fmul_##r(float a, float b) { return BY_FTZ2("mul." m, a, b); }                                       \
	API float __nv_fdiv_##r(float a, float b) { return BY_FTZ2("div." m, a, b); }                                       \
	API float __nv_frcp_##r(float a) { return BY_FTZ1("rcp." m, a); }                                                   \
	API float __nv_fsqrt_##r(float a) { return BY_FTZ1("sqrt." m, a); }                                                 \
	API float __nv_fmaf_##r(float a, float b, float c) {                                                                \
		return FTZ ? ASM3(float, "f", "fma." m ".ftz.f32", a, b, c) : ASM3(float, "f", "fma." m ".f32", a, b, c);       \
	}                                                                                                                  \
	API float __nv_fmaf_ieee_##r(float a, float b, float c) { return ASM3(float, "f", "fma." m ".f32", a, b, c); }      \
	API double __nv_dadd_##r(double a, double b) { return D2("add." m ".f64", a, b); }                                  \
	API double __nv_dsub_##r(double a, double b) { return D2("sub." m ".f64", a, b); }                                  \
	API double __nv_dmul_##r(double a, double b) { return D2("mul." m ".f64", a, b); }                                  \
	API double __nv_ddiv_##r(double a, double b) { return D2("div." m ".f64", a, b); }                                  \
	API double __nv_drcp_##r(double a) { return D1("rcp." m ".f64", a); }                                               \
	API double __nv_dsqrt_##r(double a) { return D1("sqrt." m ".f64", a); }                                             \
	API double __nv_fma_##r(double a, double b, double c) { return ASM3(double, "d", "fma." m ".f64", a, b, c); }       \
	API float __nv_double2float_##r(double a) {                                                                        \
		return FTZ ? ASM1(float, "f", "cvt." m ".ftz.f32.f64", "d", a) : ASM1(float, "f", "cvt." m ".f32.f64", "d", a); \
	}                                                                                                                  \
	API int __nv_double2int_##r(double a) { return ASM1(int, "r", "cvt." i ".s32.f64", "d", a); }                       \
	API u32 __nv_double2uint_##r(double a) { return ASM1(u32, "r", "cvt." i ".u32.f64", "d", a); }                      \
	API s64 __nv_double2ll_##r(double a) { return ASM1(s64, "l", "cvt." i ".s64.f64", "d", a); }                        \
	API u64 __nv_double2ull_##r(double a) { return ASM1(u64, "l", "cvt." i ".u64.f64", "d", a); }                       \
	API int __nv_float2int_##r(float a) { return TO_INT(int, "r", i, "s32", a); }                                       \
	API u32 __nv_float2uint_##r(float a) { return TO_INT(u32, "r", i, "u32", a); }                                      \
	API s64 __nv_float2ll_##r(float a) { return TO_INT(s64, "l", i, "s64", a); }                                        \
	API u64 __nv_float2ull_##r(float a) { return TO_INT(u64, "l", i, "u64", a); }                                       \
	API float __nv_int2float_##r(int a) { return ASM1(float, "f", "cvt." m ".f32.s32", "r", a); }                       \
	API float __nv_uint2float_##r(u32 a) { return ASM1(float, "f", "cvt." m ".f32.u32", "r", a); }                      \
	API float __nv_ll2float_##r(s64 a) { return ASM1(float, "f", "cvt." m ".f32.s64", "l", a); }                        \
	API float __nv_ull2float_##r(u64 a) { return ASM1(float, "f", "cvt." m ".f32.u64", "l", a); }                       \
	API double __nv_ll2double_##r(s64 a) { return ASM1(double, "d", "cvt." m ".f64.s64", "l", a); }                     \
	API double __nv_ull2double_##r(u64 a) { return ASM1(double, "d", "cvt." m ".f64.u64", "l", a); }
ROUNDED(rn, "rn", "rni")
ROUNDED(rz, "rz", "rzi")
ROUNDED(rd, "rm", "rmi")
ROUNDED(ru, "rp", "rpi")

API double __nv_int2double_rn(int a) { return (double)a; }
API double __nv_uint2double_rn(u32 a) { return (double)a; }
API u16 __nv_float2half_rn(float a) {
	return FTZ ? ASM1(u16, "h", "cvt.rn.ftz.f16.f32", "f", a) : ASM1(u16, "h", "cvt.rn.f16.f32", "f", a);
}
API float __nv_half2float(u16 a) { return ASM1(float, "f", "cvt.f32.f16", "h", a); }
/* 1/sqrt rounded right: from the approximation by a step with the residual, exactly as far as a tie is excluded, which
 * no argument comes near (the closest is 2^-25 ulp away). */
API float __nv_frsqrt_rn(float a) {
	if (!(a > 0 && a < FINF) || (FTZ && a < 0x1p-126f))
		return a != a ? a + a : a == 0 || (FTZ && fabs_(a) < 0x1p-126f) ? fsign(FINF, a) : a > 0 ? 0.0f : FNAN;
	return (float)rsqrt_parts((double)a, 0.0);
}

API float __nv_saturatef(float a) { return FTZ ? F1("cvt.sat.ftz.f32.f32", a) : F1("cvt.sat.f32.f32", a); }
API float __nv_fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
API float __nv_fminf(float a, float b) { return __builtin_fminf(a, b); }
API double __nv_fmax(double a, double b) { return __builtin_fmax(a, b); }
API double __nv_fmin(double a, double b) { return __builtin_fmin(a, b); }
API float __nv_fabsf(float a) { return __builtin_fabsf(a); }
API double __nv_fabs(double a) { return __builtin_fabs(a); }
API float __nv_floorf(float a) { return __builtin_floorf(a); }
API float __nv_ceilf(float a) { return __builtin_ceilf(a); }
API float __nv_truncf(float a) { return __builtin_truncf(a); }
API float __nv_rintf(float a) { return frint(a); }
API double __nv_floor(double a) { return __builtin_floor(a); }
API double __nv_ceil(double a) { return __builtin_ceil(a); }
API double __nv_trunc(double a) { return __builtin_trunc(a); }
API double __nv_rint(double a) { return drint(a); }
API float __nv_fmaf(float a, float b, float c) { return ffma(a, b, c); }
API double __nv_fma(double a, double b, double c) { return dfma(a, b, c); }
/* The compiler's own square root: -prec-sqrt and fast-math modes apply to it. */
API float __nv_sqrtf(float a) { return __builtin_sqrtf(a); }
API float __nv_rsqrtf(float a) { return rsqrta(a); }

API float __nv_fast_sinf(float a) { return BY_FTZ1("sin.approx", a); }
API float __nv_fast_cosf(float a) { return BY_FTZ1("cos.approx", a); }
API void __nv_fast_sincosf(float a, float *s, float *c) {
	*s = __nv_fast_sinf(a);
	*c = __nv_fast_cosf(a);
}
API float __nv_fast_fdividef(float a, float b) { return BY_FTZ2("div.approx", a, b); }
API float __nv_fast_tanf(float a) { return __nv_fast_fdividef(__nv_fast_sinf(a), __nv_fast_cosf(a)); }
API float __nv_fast_expf(float a) { return ex2(fmul(a, L2E_F)); }
API float __nv_fast_exp10f(float a) { return ex2(fmul(a, 0x1.a934f0p+1f)); }
API float __nv_fast_log2f(float a) { return lg2(a); }
API float __nv_fast_logf(float a) { return fmul(lg2(a), LN2_F); }
API float __nv_fast_log10f(float a) { return fmul(lg2(a), 0x1.344136p-2f); }
API float __nv_fast_powf(float a, float b) { return ex2(fmul(b, lg2(a))); }
API double __nv_rcp64h(double a) { return rcpa64(a); }

API int __nv_byte_perm(int a, int b, int c) { return __nvvm_prmt(a, b, c & 0x7777); }
API int __nv_mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
API u32 __nv_umul24(u32 a, u32 b) { return __nvvm_mul24_ui(a, b); }
API s64 __nv_llrint(double a) { return __nv_double2ll_rn(a); }
API s64 __nv_llrintf(float a) { return __nv_float2ll_rn(a); }
#else
API double __nv_fabs(double a) { return dabs(a); }
API double __nv_floor(double a) { return floor(a); }
API float __nv_truncf(float a) { return truncf(a); }
API double __nv_trunc(double a) { return trunc(a); }
API float __nv_frsqrt_rn(float a) { return (float)rsqrt_parts(a, 0.0); }
#endif

API float __nv_nearbyintf(float a) { return frint(a); }
API double __nv_nearbyint(double a) { return drint(a); }
/* Halves away from zero. */
API float __nv_roundf(float a) {
	float t = __nv_truncf(a);
	return fabs_(a - t) >= 0.5f ? t + fsign(1.0f, a) : t;
}
API double __nv_round(double a) {
	double t = __nv_trunc(a);
	return dabs(dsub(a, t)) >= 0.5 ? dadd(t, dsign(1.0, a)) : t;
}
#ifdef __NVPTX__
API s64 __nv_llround(double a) { return __nv_double2ll_rz(__nv_round(a)); }
API s64 __nv_llroundf(float a) { return __nv_float2ll_rz(__nv_roundf(a)); }
#endif

API int __nv_abs(int a) { return a < 0 ? (int)(0u - (u32)a) : a; }
API s64 __nv_llabs(s64 a) { return a < 0 ? (s64)(0ull - (u64)a) : a; }
API int __nv_max(int a, int b) { return a > b ? a : b; }
API int __nv_min(int a, int b) { return a < b ? a : b; }
API u32 __nv_umax(u32 a, u32 b) { return a > b ? a : b; }
API u32 __nv_umin(u32 a, u32 b) { return a < b ? a : b; }
API s64 __nv_llmax(s64 a, s64 b) { return a > b ? a : b; }
API s64 __nv_llmin(s64 a, s64 b) { return a < b ? a : b; }
API u64 __nv_ullmax(u64 a, u64 b) { return a > b ? a : b; }
API u64 __nv_ullmin(u64 a, u64 b) { return a < b ? a : b; }
API int __nv_brev(int a) { return (int)__builtin_bitreverse32((u32)a); }
API s64 __nv_brevll(s64 a) { return (s64)__builtin_bitreverse64((u64)a); }
API int __nv_clz(int a) { return a ? __builtin_clz((u32)a) : 32; }
API int __nv_clzll(s64 a) { return a ? __builtin_clzll((u64)a) : 64; }
API int __nv_ffs(int a) { return a ? __builtin_ctz((u32)a) + 1 : 0; }
API int __nv_ffsll(s64 a) { return a ? __builtin_ctzll((u64)a) + 1 : 0; }
API int __nv_popc(u32 a) { return __builtin_popcount(a); }
API int __nv_popcll(u64 a) { return __builtin_popcountll(a); }
API int __nv_hadd(int a, int b) { return (int)(((s64)a + b) >> 1); }
API int __nv_rhadd(int a, int b) { return (int)(((s64)a + b + 1) >> 1); }
API int __nv_uhadd(u32 a, u32 b) { return (int)(((u64)a + b) >> 1); }
API u32 __nv_urhadd(u32 a, u32 b) { return (u32)(((u64)a + b + 1) >> 1); }
API int __nv_mulhi(int a, int b) { return (int)((s64)a * b >> 32); }
API u32 __nv_umulhi(u32 a, u32 b) { return (u32)((u64)a * b >> 32); }
API s64 __nv_mul64hi(s64 a, s64 b) { return (s64)((__int128)a * b >> 64); }
API u64 __nv_umul64hi(u64 a, u64 b) { return (u64)((u128)a * b >> 64); }
API int __nv_sad(int a, int b, int c) { return (int)((a > b ? (u32)a - (u32)b : (u32)b - (u32)a) + (u32)c); }
API u32 __nv_usad(u32 a, u32 b, u32 c) { return (a > b ? a - b : b - a) + c; }

API double __nv_hiloint2double(int h, int l) { return dfrom((u64)(u32)h << 32 | (u32)l); }
API int __nv_double2hiint(double a) { return hiword(a); }
API int __nv_double2loint(double a) { return (int)dbits(a); }
API u64 __nv_double_as_longlong(double a) { return dbits(a); }
API double __nv_longlong_as_double(s64 a) { return dfrom((u64)a); }
API int __nv_float_as_int(float a) { return (int)fbits(a); }
API u32 __nv_float_as_uint(float a) { return fbits(a); }
API float __nv_int_as_float(int a) { return ffrom((u32)a); }
API float __nv_uint_as_float(u32 a) { return ffrom(a); }

API int __nv_isnanf(float a) { return (fbits(a) & 0x7fffffff) > 0x7f800000; }
API int __nv_isinff(float a) { return (fbits(a) & 0x7fffffff) == 0x7f800000; }
API int __nv_finitef(float a) { return (fbits(a) & 0x7fffffff) < 0x7f800000; }
API int __nv_signbitf(float a) { return (int)(fbits(a) >> 31); }
API int __nv_isnand(double a) { return (dbits(a) & 0x7fffffffffffffffull) > 0x7ff0000000000000ull; }
API int __nv_isinfd(double a) { return (dbits(a) & 0x7fffffffffffffffull) == 0x7ff0000000000000ull; }
API int __nv_isfinited(double a) { return (dbits(a) & 0x7fffffffffffffffull) < 0x7ff0000000000000ull; }
API int __nv_signbitd(double a) { return (int)(dbits(a) >> 63); }
/* By their bits, which keeps what a NaN holds. */
API float __nv_copysignf(float a, float b) { return ffrom((fbits(a) & 0x7fffffff) | (fbits(b) & 0x80000000)); }
API double __nv_copysign(double a, double b) {
	return dfrom((dbits(a) & 0x7fffffffffffffffull) | (dbits(b) & 0x8000000000000000ull));
}
API float __nv_nanf(const signed char *p) { (void)p; return ffrom(0x7fc00000u); }
API double __nv_nan(const signed char *p) { (void)p; return DNAN; }

API float __nv_fdimf(float a, float b) { return a <= b ? 0.0f : a - b; }
API double __nv_fdim(double a, double b) { return a <= b ? 0.0 : dsub(a, b); }

#define INT_LEAST (-2147483647 - 1)
API int __nv_ilogbf(float a) {
	u32 u = fbits(a) & 0x7fffffff;
	if (u >= 0x7f800000)
		return u == 0x7f800000 ? 2147483647 : INT_LEAST;
	if (u < 0x800000)
		return u ? -118 - __builtin_clz(u) : INT_LEAST;
	return (int)(u >> 23) - 127;
}
API int __nv_ilogb(double a) {
	u64 u = dbits(a) & 0x7fffffffffffffffull;
	if (u >= 0x7ff0000000000000ull)
		return u == 0x7ff0000000000000ull ? 2147483647 : INT_LEAST;
	if (u < 0x10000000000000ull)
		return u ? -1011 - __builtin_clzll(u) : INT_LEAST;
	return (int)(u >> 52) - 1023;
}
API float __nv_logbf(float a) {
	float m = fabs_(a);
	if (!(m > 0 && m < FINF))
		return m == 0 ? -FINF : fmul(a, a);
	return (float)__nv_ilogbf(a);
}
API double __nv_logb(double a) {
	double m = dabs(a);
	if (!(m > 0 && m < DINF))
		return m == 0 ? -DINF : dmul(a, a);
	return (double)__nv_ilogb(a);
}
API float __nv_frexpf(float a, int *e) {
	float m = fabs_(a);
	if (!(m > 0 && m < FINF)) {
		*e = 0;
		return a + a;
	}
	s32 k = 0;
	if (m < 0x1p-126f) {
		a = fmul(a, 0x1p24f);
		k = -24;
	}
	u32 u = fbits(a);
	*e = (s32)(u >> 23 & 0xff) - 126 + k;
	return ffrom((u & 0x807fffff) | 0x3f000000);
}
API double __nv_frexp(double a, int *e) {
	double m = dabs(a);
	if (!(m > 0 && m < DINF)) {
		*e = 0;
		return dadd(a, a);
	}
	s32 k = 0;
	if (m < 0x1p-1022) {
		a = dmul(a, 0x1p54);
		k = -54;
	}
	u64 u = dbits(a);
	*e = (s32)(u >> 52 & 0x7ff) - 1022 + k;
	return dfrom((u & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
}
/* Three steps, of which the first two are exact or decide the result (the middle ones keep 2^-126 at bay). */
API float __nv_ldexpf(float a, int n) {
	if (n > 127) {
		a = fmul(a, 0x1p127f);
		n -= 127;
		if (n > 127) {
			a = fmul(a, 0x1p127f);
			n -= 127;
			n = n > 127 ? 127 : n;
		}
	} else if (n < -126) {
		a = fmul(a, 0x1p-102f); /* 2^-126 2^24 */
		n += 102;
		if (n < -126) {
			a = fmul(a, 0x1p-102f);
			n += 102;
			n = n < -126 ? -126 : n;
		}
	}
	return fmul(a, pow2f(n));
}
API double __nv_ldexp(double a, int n) {
	if (n > 1023) {
		a = dmul(a, 0x1p1023);
		n -= 1023;
		if (n > 1023) {
			a = dmul(a, 0x1p1023);
			n -= 1023;
			n = n > 1023 ? 1023 : n;
		}
	} else if (n < -1022) {
		a = dmul(a, 0x1p-969); /* 2^-1022 2^53 */
		n += 969;
		if (n < -1022) {
			a = dmul(a, 0x1p-969);
			n += 969;
			n = n < -1022 ? -1022 : n;
		}
	}
	return dmul(a, pow2(n));
}
API float __nv_scalbnf(float a, int n) { return __nv_ldexpf(a, n); }
API double __nv_scalbn(double a, int n) { return __nv_ldexp(a, n); }
API float __nv_modff(float a, float *p) {
	float t = __nv_truncf(a);
	*p = t;
	return a != a ? FNAN : fsign(fabs_(a) == FINF ? 0.0f : a - t, a);
}
API double __nv_modf(double a, double *p) {
	double t = __nv_trunc(a);
	*p = t;
	return dsign(dabs(a) == DINF ? 0.0 : dsub(a, t), a);
}
API float __nv_nextafterf(float a, float b) {
	if (a != a || b != b)
		return a + b;
	if (a == b)
		return b;
	if (a == 0)
		return fsign(ffrom(1), b);
	u32 u = fbits(a);
	return ffrom((a > 0) == (b > a) ? u + 1 : u - 1);
}
API double __nv_nextafter(double a, double b) {
	if (a != a || b != b)
		return dadd(a, b);
	if (a == b)
		return b;
	if (a == 0)
		return dsign(dfrom(1), b);
	u64 u = dbits(a);
	return dfrom((a > 0) == (b > a) ? u + 1 : u - 1);
}
