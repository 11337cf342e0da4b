/* What the sources of the device math library stand on: types, PTX instructions as clang's builtins, and, when compiled
 * for the host (tests of accuracy alone), the same by the C library.
 *
 * Products are written with dmul, fmul and fma: they become mul.rn and fma.rn, which no compiler contracts. A plain +
 * or - never has a product as an operand.
 */
#ifndef DEVLIB_PORT_H
#define DEVLIB_PORT_H

typedef unsigned int u32;
typedef int s32;
typedef unsigned long long u64;
typedef long long s64;
typedef unsigned short u16;
typedef unsigned __int128 u128;

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define API __attribute__((visibility("default")))

#ifdef __NVPTX__
#define TABLE static const __attribute__((address_space(4)))
/* The generator writes the name that LLVM's NVVMReflect pass knows in its place, after the optimizer has run. */
int devlib_reflect(const char *) __attribute__((const, nothrow));
#define FTZ devlib_reflect("__CUDA_FTZ")
/* Instructions by name: the optimizer turns the builtins of some into operations that it may contract, approximate or
 * call undefined where the instruction saturates. */
#define ASM1(ret, r, ins, ta, a) ({ ret r_; __asm__(ins " %0, %1;" : "=" r(r_) : ta(a)); r_; })
#define ASM2(ret, r, ins, a, b) ({ ret r_; __asm__(ins " %0, %1, %2;" : "=" r(r_) : r(a), r(b)); r_; })
#define ASM3(ret, r, ins, a, b, c) ({ ret r_; __asm__(ins " %0, %1, %2, %3;" : "=" r(r_) : r(a), r(b), r(c)); r_; })
#define F1(ins, a) ASM1(float, "f", ins, "f", a)
#define F2(ins, a, b) ASM2(float, "f", ins, a, b)
#define D1(ins, a) ASM1(double, "d", ins, "d", a)
#define D2(ins, a, b) ASM2(double, "d", ins, a, b)
INLINE float fmul(float a, float b) { return F2("mul.rn.f32", a, b); }
INLINE float ffma_down(float a, float b, float c) { return ASM3(float, "f", "fma.rm.f32", a, b, c); }
INLINE float fdivrn(float a, float b) { return F2("div.rn.f32", a, b); }
INLINE float fsqrtrn(float a) { return F1("sqrt.rn.f32", a); }
INLINE float ex2(float a) { return FTZ ? F1("ex2.approx.ftz.f32", a) : F1("ex2.approx.f32", a); }
INLINE float ex2ftz(float a) { return F1("ex2.approx.ftz.f32", a); }
INLINE float lg2(float a) { return FTZ ? F1("lg2.approx.ftz.f32", a) : F1("lg2.approx.f32", a); }
INLINE float rcpa(float a) { return F1("rcp.approx.ftz.f32", a); }
INLINE float rsqrta(float a) { return FTZ ? F1("rsqrt.approx.ftz.f32", a) : F1("rsqrt.approx.f32", a); }
INLINE double rcpa64(double a) { return D1("rcp.approx.ftz.f64", a); }
INLINE double rsqrta64(double a) { return D1("rsqrt.approx.ftz.f64", a); }
INLINE double dmul(double a, double b) { return D2("mul.rn.f64", a, b); }
INLINE double dadd(double a, double b) { return a + b; }
INLINE double ddiv(double a, double b) { return D2("div.rn.f64", a, b); }
INLINE double dsqrt(double a) { return D1("sqrt.rn.f64", a); }
INLINE double drint(double a) { return __builtin_rint(a); }
INLINE float frint(float a) { return __builtin_rintf(a); }
INLINE s32 d2i(double a) { return ASM1(s32, "r", "cvt.rni.s32.f64", "d", a); }
INLINE s32 f2i(float a) { return ASM1(s32, "r", "cvt.rni.s32.f32", "f", a); }
#else
#include <math.h>
#include <string.h>
#define TABLE static const
#define FTZ 0
INLINE float fmul(float a, float b) { return a * b; }
INLINE float ex2(float a) { return exp2f(a); }
INLINE float ex2ftz(float a) { return exp2f(a); }
INLINE float lg2(float a) { return log2f(a); }
INLINE float rcpa(float a) { return 1 / a; }
INLINE double rcpa64(double a) { return (float)(1 / a); }
INLINE double rsqrta64(double a) { return 1 / sqrt(a); }
INLINE float rsqrta(float a) { return (float)(1 / sqrt(a)); }
INLINE float ffma_down(float a, float b, float c) { return (float)floor((double)a * b) + c; }
INLINE float fdivrn(float a, float b) { return a / b; }
INLINE float fsqrtrn(float a) { return sqrtf(a); }
INLINE double dmul(double a, double b) { return a * b; }
INLINE double dadd(double a, double b) { return a + b; }
INLINE double ddiv(double a, double b) { return a / b; }
INLINE double dsqrt(double a) { return sqrt(a); }
INLINE double drint(double a) { return rint(a); }
INLINE float frint(float a) { return rintf(a); }
INLINE s32 d2i(double a) {
	return a != a ? 0 : a >= 2147483647. ? 2147483647 : a <= -2147483648. ? -2147483647 - 1 : (s32)rint(a);
}
INLINE s32 f2i(float a) { return d2i(a); }
#endif

INLINE double dfma(double a, double b, double c) { return __builtin_fma(a, b, c); }
INLINE float ffma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
INLINE double dsub(double a, double b) { return dadd(a, -b); }
INLINE double dabs(double a) { return __builtin_fabs(a); }
INLINE float fabs_(float a) { return __builtin_fabsf(a); }

/* Bits. */
INLINE u64 dbits(double a) { u64 u; __builtin_memcpy(&u, &a, 8); return u; }
INLINE double dfrom(u64 u) { double a; __builtin_memcpy(&a, &u, 8); return a; }
INLINE u32 fbits(float a) { u32 u; __builtin_memcpy(&u, &a, 4); return u; }
INLINE float ffrom(u32 u) { float a; __builtin_memcpy(&a, &u, 4); return a; }
INLINE s32 hiword(double a) { return (s32)(dbits(a) >> 32); }
INLINE double dsign(double a, double s) { return __builtin_copysign(a, s); }
INLINE float fsign(float a, float s) { return __builtin_copysignf(a, s); }

#define DINF __builtin_inf()
#define FINF __builtin_inff()
/* The quiet NaN that operations of the hardware give. */
#define DNAN dfrom(0xfff8000000000000ull)
#define FNAN ffrom(0x7fffffffu)

/* Sums and products with their errors: *l is what the rounded result lacks. */
INLINE double two_sum(double a, double b, double *l) {
	double s = dadd(a, b), t = dsub(s, a);
	*l = dadd(dsub(a, dsub(s, t)), dsub(b, t));
	return s;
}
INLINE double quick_sum(double a, double b, double *l) { /* |a| >= |b| or a = 0 */
	double s = dadd(a, b);
	*l = dsub(b, dsub(s, a));
	return s;
}
INLINE double two_prod(double a, double b, double *l) {
	double p = dmul(a, b);
	*l = dfma(a, b, -p);
	return p;
}
INLINE float quick_sumf(float a, float b, float *l) {
	float s = a + b;
	*l = b - (s - a);
	return s;
}
INLINE float two_prodf(float a, float b, float *l) {
	float p = fmul(a, b);
	*l = ffma(a, b, -p);
	return p;
}

/* Horner's scheme over a table, lowest coefficient first. */
#define POLY(type, fma_, t, first, x)                                                              \
	({                                                                                             \
		const int n_ = sizeof(t) / sizeof((t)[0]);                                                 \
		type p_ = (t)[n_ - 1];                                                                     \
		_Pragma("clang loop unroll(full)") for (int i_ = n_ - 2; i_ >= first; i_--)                \
			p_ = fma_(p_, x, (t)[i_]);                                                             \
		p_;                                                                                        \
	})
#define DPOLY(t, x) POLY(double, dfma, t, 0, x)
#define DPOLY_FROM(t, first, x) POLY(double, dfma, t, first, x)
#define FPOLY(t, x) POLY(float, ffma, t, 0, x)
#define FPOLY_FROM(t, first, x) POLY(float, ffma, t, first, x)

/* 2^k, -1022 <= k <= 1023. */
INLINE double pow2(s32 k) { return dfrom((u64)(k + 1023) << 52); }
INLINE float pow2f(s32 k) { return ffrom((u32)(k + 127) << 23); }
/* a*2^k with one rounding if a is in [2^-2, 2^2] and k within [-1100, 1100]; the first step is exact. */
INLINE double scale(double a, s32 k) {
	s32 h = k >> 1;
	return dmul(dmul(a, pow2(h)), pow2(k - h));
}
INLINE float scalef(float a, s32 k) {
	s32 h = k >> 1;
	return fmul(fmul(a, pow2f(h)), pow2f(k - h));
}

#define LN2_H 0x1.62e42fefa39efp-1
#define LN2_L 0x1.abc9e3b39803fp-56
#define L2E 0x1.71547652b82fep+0
#define L2E_L 0x1.777d0ffda0d24p-56
#define PI_H 0x1.921fb54442d18p+1
#define PI_L 0x1.1a62633145c07p-53
#define PIO2_H 0x1.921fb54442d18p+0
#define PIO2_L 0x1.1a62633145c07p-54
#define PIO2_LL -0x1.f1976b7ed8fbcp-110
#endif
