/* Complex numbers as pairs: the types and functions that cuBLAS and cuFFT programs use. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>

#include "vector_functions.h"

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

#if defined(__cplusplus)
#define __GOCUDA_COMPLEX static __inline__ __host__ __device__
#else
#define __GOCUDA_COMPLEX static __inline__
#endif

/* Quotients scale the divisor first, so that its square neither overflows nor vanishes. */
#define __GOCUDA_COMPLEXES(C, R, s, make, fabs, sqrt)                                             \
	__GOCUDA_COMPLEX R cuCreal##s(C z) { return z.x; }                                            \
	__GOCUDA_COMPLEX R cuCimag##s(C z) { return z.y; }                                            \
	__GOCUDA_COMPLEX C make(R x, R y) {                                                           \
		C z;                                                                                      \
		z.x = x, z.y = y;                                                                         \
		return z;                                                                                 \
	}                                                                                             \
	__GOCUDA_COMPLEX C cuConj##s(C z) { return make(z.x, -z.y); }                                 \
	__GOCUDA_COMPLEX C cuCadd##s(C a, C b) { return make(a.x + b.x, a.y + b.y); }                 \
	__GOCUDA_COMPLEX C cuCsub##s(C a, C b) { return make(a.x - b.x, a.y - b.y); }                 \
	__GOCUDA_COMPLEX C cuCmul##s(C a, C b) {                                                      \
		return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                \
	}                                                                                             \
	__GOCUDA_COMPLEX C cuCdiv##s(C a, C b) {                                                      \
		R scale = 1 / (fabs(b.x) + fabs(b.y));                                                    \
		R ax = a.x * scale, ay = a.y * scale, bx = b.x * scale, by = b.y * scale;                 \
		R d = 1 / (bx * bx + by * by);                                                            \
		return make((ax * bx + ay * by) * d, (ay * bx - ax * by) * d);                            \
	}                                                                                             \
	__GOCUDA_COMPLEX R cuCabs##s(C z) {                                                           \
		R a = fabs(z.x), b = fabs(z.y), big = a > b ? a : b, small = a > b ? b : a;               \
		if (big == 0 || big - big != 0 || small - small != 0) return big + small;                 \
		R t = small / big;                                                                        \
		return big * sqrt(1 + t * t);                                                             \
	}                                                                                             \
	__GOCUDA_COMPLEX C cuCfma##s(C a, C b, C c) { return cuCadd##s(cuCmul##s(a, b), c); }
__GOCUDA_COMPLEXES(cuFloatComplex, float, f, make_cuFloatComplex, fabsf, sqrtf)
__GOCUDA_COMPLEXES(cuDoubleComplex, double, , make_cuDoubleComplex, fabs, sqrt)
#undef __GOCUDA_COMPLEXES

__GOCUDA_COMPLEX cuComplex make_cuComplex(float x, float y) { return make_cuFloatComplex(x, y); }
__GOCUDA_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex z) {
	return make_cuFloatComplex((float)z.x, (float)z.y);
}
__GOCUDA_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex z) {
	return make_cuDoubleComplex((double)z.x, (double)z.y);
}

#undef __GOCUDA_COMPLEX
#endif
