/* What clang's CUDA headers declare and leave to a toolkit to define: overloads for float of the functions of <cmath>,
   min and max, and CUDA's own functions under the name without f. Device code gets them here; host code gets CUDA's
   own functions from math_host.h. Names and types: CUDA Math API reference. */
#ifndef __GOCUDA_MATH_OVERLOADS_H__
#define __GOCUDA_MATH_OVERLOADS_H__

#define __GOCUDA_DEV static __device__ __inline__ __attribute__((always_inline))

#define __GOCUDA_F1(R, name, A) __GOCUDA_DEV R name(A x) { return ::name##f(x); }
__GOCUDA_F1(float, acosh, float)
__GOCUDA_F1(float, asinh, float)
__GOCUDA_F1(float, atanh, float)
__GOCUDA_F1(float, cbrt, float)
__GOCUDA_F1(float, erf, float)
__GOCUDA_F1(float, erfc, float)
__GOCUDA_F1(float, exp2, float)
__GOCUDA_F1(float, expm1, float)
__GOCUDA_F1(int, ilogb, float)
__GOCUDA_F1(float, lgamma, float)
__GOCUDA_F1(long long, llrint, float)
__GOCUDA_F1(long long, llround, float)
__GOCUDA_F1(float, log1p, float)
__GOCUDA_F1(float, log2, float)
__GOCUDA_F1(float, logb, float)
__GOCUDA_F1(long, lrint, float)
__GOCUDA_F1(long, lround, float)
__GOCUDA_F1(float, nearbyint, float)
__GOCUDA_F1(float, rint, float)
__GOCUDA_F1(float, round, float)
__GOCUDA_F1(float, tgamma, float)
__GOCUDA_F1(float, trunc, float)
__GOCUDA_F1(float, rsqrt, float)
__GOCUDA_F1(float, rcbrt, float)
__GOCUDA_F1(float, sinpi, float)
__GOCUDA_F1(float, cospi, float)
__GOCUDA_F1(float, exp10, float)
__GOCUDA_F1(float, erfinv, float)
__GOCUDA_F1(float, erfcinv, float)
__GOCUDA_F1(float, erfcx, float)
__GOCUDA_F1(float, normcdf, float)
__GOCUDA_F1(float, normcdfinv, float)
__GOCUDA_F1(float, cyl_bessel_i0, float)
__GOCUDA_F1(float, cyl_bessel_i1, float)
__GOCUDA_F1(float, j0, float)
__GOCUDA_F1(float, j1, float)
__GOCUDA_F1(float, y0, float)
__GOCUDA_F1(float, y1, float)
#undef __GOCUDA_F1
__GOCUDA_DEV float copysign(float x, float y) { return ::copysignf(x, y); }
__GOCUDA_DEV float fdim(float x, float y) { return ::fdimf(x, y); }
__GOCUDA_DEV float fma(float x, float y, float z) { return ::fmaf(x, y, z); }
__GOCUDA_DEV float fmax(float x, float y) { return ::fmaxf(x, y); }
__GOCUDA_DEV float fmin(float x, float y) { return ::fminf(x, y); }
__GOCUDA_DEV float hypot(float x, float y) { return ::hypotf(x, y); }
__GOCUDA_DEV float rhypot(float x, float y) { return ::rhypotf(x, y); }
__GOCUDA_DEV float nextafter(float x, float y) { return ::nextafterf(x, y); }
__GOCUDA_DEV float remainder(float x, float y) { return ::remainderf(x, y); }
__GOCUDA_DEV float scalbln(float x, long n) { return ::scalblnf(x, n); }
__GOCUDA_DEV float scalbn(float x, int n) { return ::scalbnf(x, n); }
__GOCUDA_DEV float remquo(float x, float y, int *q) { return ::remquof(x, y, q); }
__GOCUDA_DEV float jn(int n, float x) { return ::jnf(n, x); }
__GOCUDA_DEV float yn(int n, float x) { return ::ynf(n, x); }
__GOCUDA_DEV float norm(int n, const float *x) { return ::normf(n, x); }
__GOCUDA_DEV float rnorm(int n, const float *x) { return ::rnormf(n, x); }
__GOCUDA_DEV void sincos(float x, float *s, float *c) { ::sincosf(x, s, c); }
__GOCUDA_DEV void sincospi(float x, float *s, float *c) { ::sincospif(x, s, c); }
__GOCUDA_DEV double nan(const char *tag) { return __nv_nan((const signed char *)tag); }
__GOCUDA_DEV float nanf(const char *tag) { return __nv_nanf((const signed char *)tag); }

/* tanh.approx of PTX: CUDA Math API, "Single Precision Intrinsics". */
__GOCUDA_DEV float __tanhf(float x) {
	float r;
	__asm__("tanh.approx.f32 %0, %1;" : "=f"(r) : "f"(x));
	return r;
}

#undef __GOCUDA_DEV
#endif
