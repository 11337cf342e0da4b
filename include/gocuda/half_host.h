/* Conversions to and from the formats of 16 bits in host code: CUDA Math API, "Half Precision Intrinsics" and "Bfloat16
   Precision Intrinsics". Device code has instructions for them. */
#ifndef __GOCUDA_HALF_HOST_H__
#define __GOCUDA_HALF_HOST_H__

#include <math.h>
#include <string.h>

#include "crt/host_defines.h"

enum { __gocuda_rn, __gocuda_rz, __gocuda_rd, __gocuda_ru };

/* d rounded to a format with so many bits behind the point and this exponent bias. */
static __inline__ __host__ __device__ unsigned short __gocuda_pack(double d, int bits, int bias, int mode) {
	unsigned long long u;
	memcpy(&u, &d, sizeof u);
	unsigned sign = (unsigned)(u >> 63), inf = ((2u * bias + 1) << bits), top = sign << 15;
	if (d != d) return 0x7fff;
	double a = sign ? -d : d;
	if (a == 0) return (unsigned short)top;
	if (a > 1.7976931348623157e308) return (unsigned short)(top | inf);
	int e = (int)(u >> 52 & 0x7ff) - 1023;
	if (e < 1 - bias) e = 1 - bias;
	if (e > bias) e = bias + 1;
	/* 2 to the power bits-e scales a so that the last place of the format is 1. */
	unsigned long long s = (unsigned long long)(1023 + bits - e) << 52;
	double scale;
	memcpy(&scale, &s, sizeof scale);
	double q = a * scale;
	unsigned long long n = q < 9007199254740992.0 ? (unsigned long long)q : 1ULL << 53;
	double rest = q - (double)n;
	int up = mode == __gocuda_rn ? rest > 0.5 || (rest == 0.5 && (n & 1)) : mode == __gocuda_rd ? sign && rest > 0
			 : mode == __gocuda_ru ? !sign && rest > 0 : 0;
	n += (unsigned)up;
	unsigned long long r = ((unsigned long long)(e + bias - 1) << bits) + n;
	if (r >= inf) {
		int to = mode == __gocuda_rn || (mode == __gocuda_rd && sign) || (mode == __gocuda_ru && !sign);
		r = to ? inf : inf - 1;
	}
	return (unsigned short)(top | (unsigned)r);
}

static __inline__ __host__ __device__ float __gocuda_half_to_float(unsigned short h) {
	unsigned sign = (unsigned)(h >> 15) << 31, e = h >> 10 & 0x1f, m = h & 0x3ff, u;
	float f;
	if (e == 0x1f) {
		u = sign | 0x7f800000u | m << 13;
		if (m) u = 0x7fffffffu;
	} else if (e) {
		u = sign | (e + 112) << 23 | m << 13;
	} else {
		f = (float)m * 5.9604644775390625e-08f; /* 2 to the power -24 */
		memcpy(&u, &f, sizeof u);
		u |= sign;
	}
	memcpy(&f, &u, sizeof f);
	return f;
}

/* a*b+c rounded to odd in double, so that rounding it again to 16 bits is right. */
static __inline__ __host__ __device__ double __gocuda_fma_odd(double a, double b, double c) {
	double p = a * b, s = p + c; /* p is exact: 11 bits times 11 bits */
	if (s != s || s - s != 0) return s;
	double t = s - p, e = (p - (s - t)) + (c - t);
	unsigned long long u;
	memcpy(&u, &s, sizeof u);
	if (e != 0 && !(u & 1)) {
		u += (e > 0) == (s > 0) ? 1 : (unsigned long long)-1;
		memcpy(&s, &u, sizeof s);
	}
	return s;
}

#if defined(__cplusplus)
struct __half;
struct __nv_bfloat16;
template <class T, class U> struct __gocuda_same {};
template <class T> struct __gocuda_same<T, T> {
	typedef int type;
};

/* f rounded to an integer type; what lies beyond its bounds goes to them, NaN to 0. */
template <class T> static __inline__ __host__ __device__ T __gocuda_to_int(float f, int mode) {
	double d = f, lowest = (T)-1 < 0 ? -(double)(1ULL << (8 * sizeof(T) - 1)) : 0;
	double beyond = (T)-1 < 0 ? (double)(1ULL << (8 * sizeof(T) - 1)) : 2.0 * (double)(1ULL << (8 * sizeof(T) - 1));
	if (f != f) return 0;
	d = mode == __gocuda_rn ? rint(d) : mode == __gocuda_rz ? trunc(d) : mode == __gocuda_rd ? floor(d) : ceil(d);
	if (d < lowest) d = lowest;
	if (d >= beyond) return (T)-1 < 0 ? (T)((1ULL << (8 * sizeof(T) - 1)) - 1) : (T)-1;
	return (T)d;
}
template <class T> static __inline__ __host__ __device__ T __gocuda_narrow(int v) {
	int lowest = (T)-1 < 0 ? -(1 << (8 * sizeof(T) - 1)) : 0, most = (T)-1 < 0 ? -1 - lowest : (1 << 8 * sizeof(T)) - 1;
	return (T)(v < lowest ? lowest : v > most ? most : v);
}
#endif

#endif
