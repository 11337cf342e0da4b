/* The floating-point formats of 8 bits: CUDA Math API, "FP8 Intrinsics"; the formats are those of the OCP 8-bit
   Floating Point Specification. E4M3 has no infinity. */
#ifndef __CUDA_FP8_H__
#define __CUDA_FP8_H__
#define __CUDA_FP8_TYPES_EXIST__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "device_types.h"
#include "vector_functions.h"
#include "vector_types.h"

#if defined(__cplusplus)

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

#define __GOCUDA_FP8 static __inline__ __host__ __device__

/* d rounded to the nearest, ties to even. What is larger than the largest number becomes that, or infinity, or not a
   number where the format has no infinity. */
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_double_to_fp8(const double d, const __nv_saturation_t saturate,
													   const __nv_fp8_interpretation_t format) {
	const int bits = format == __NV_E4M3 ? 3 : 2, bias = format == __NV_E4M3 ? 7 : 15;
	const unsigned largest = format == __NV_E4M3 ? 0x7e : 0x7b;
	unsigned long long u;
	memcpy(&u, &d, sizeof u);
	unsigned sign = (unsigned)(u >> 63) << 7, r;
	int e = (int)(u >> 52 & 0x7ff) - 1023;
	if (d != d) return 0x7f;
	if (e < 1 - bias) e = 1 - bias;
	if (e > 16) {
		r = largest + 1;
	} else {
		/* 2 to the power bits-e makes the last place 1; adding 2 to the power 52 rounds to it. */
		unsigned long long s = (unsigned long long)(1023 + bits - e) << 52, a = u & 0x7fffffffffffffffull;
		double scale, q;
		memcpy(&scale, &s, sizeof scale);
		memcpy(&q, &a, sizeof q);
		q = q * scale + 0x1p52;
		memcpy(&s, &q, sizeof s);
		r = (unsigned)((e + bias - 1) << bits) + (unsigned)(s & 0xff);
	}
	if (r > largest) r = saturate == __NV_SATFINITE ? largest : format == __NV_E4M3 ? 0x7f : 0x7c;
	return (__nv_fp8_storage_t)(sign | r);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_fp8x2(const double2 v, const __nv_saturation_t saturate,
															const __nv_fp8_interpretation_t format) {
	return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, saturate, format) |
								  __nv_cvt_double_to_fp8(v.y, saturate, format) << 8);
}
/* The instruction always saturates. */
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(const float2 v, const __nv_saturation_t saturate,
														   const __nv_fp8_interpretation_t format) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
	if (saturate == __NV_SATFINITE) {
		unsigned short r;
		if (format == __NV_E4M3)
			__asm__("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(r) : "f"(v.y), "f"(v.x));
		else
			__asm__("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(r) : "f"(v.y), "f"(v.x));
		return r;
	}
#endif
	return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_fp8(v.x, saturate, format) |
								  __nv_cvt_double_to_fp8(v.y, saturate, format) << 8);
}
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_float_to_fp8(const float f, const __nv_saturation_t saturate,
													  const __nv_fp8_interpretation_t format) {
	float2 v;
	v.x = f, v.y = 0;
	return (__nv_fp8_storage_t)__nv_cvt_float2_to_fp8x2(v, saturate, format);
}
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(const __half_raw x, const __nv_saturation_t saturate,
														const __nv_fp8_interpretation_t format) {
	return __nv_cvt_float_to_fp8((float)__half(x), saturate, format);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(const __half2_raw x, const __nv_saturation_t saturate,
															 const __nv_fp8_interpretation_t format) {
	return __nv_cvt_float2_to_fp8x2(__half22float2(__half2(x)), saturate, format);
}
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
															const __nv_fp8_interpretation_t format) {
	return __nv_cvt_float_to_fp8((float)__nv_bfloat16(x), saturate, format);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat16raw2_to_fp8x2(const __nv_bfloat162_raw x,
																 const __nv_saturation_t saturate,
																 const __nv_fp8_interpretation_t format) {
	return __nv_cvt_float2_to_fp8x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, format);
}

/* Every number of the formats is one of half. */
__GOCUDA_FP8 __half_raw __nv_cvt_fp8_to_halfraw(const __nv_fp8_storage_t x, const __nv_fp8_interpretation_t format) {
	__half_raw r;
	unsigned sign = (unsigned)(x >> 7) << 15, m = x & 0x7f;
	if (format == __NV_E5M2) {
		r.x = (unsigned short)(m > 0x7c ? 0x7fff : sign | m << 8);
	} else if (m == 0x7f) {
		r.x = 0x7fff;
	} else if (m >> 3) {
		r.x = (unsigned short)(sign | ((m << 7) + (8 << 10)));
	} else {
		/* m times 2 to the power -9 is normal in half */
		unsigned shift = m >= 4 ? 2 : m >= 2 ? 1 : 0;
		r.x = (unsigned short)(m ? sign | (6 + shift) << 10 | (m << (10 - shift) & 0x3ff) : sign);
	}
	return r;
}
__GOCUDA_FP8 __half2_raw __nv_cvt_fp8x2_to_halfraw2(const __nv_fp8x2_storage_t x,
													const __nv_fp8_interpretation_t format) {
	__half2_raw r;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
	unsigned v;
	if (format == __NV_E4M3)
		__asm__("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(v) : "h"(x));
	else
		__asm__("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(v) : "h"(x));
	r.x = (unsigned short)v, r.y = (unsigned short)(v >> 16);
#else
	r.x = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)x, format).x;
	r.y = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)(x >> 8), format).x;
#endif
	return r;
}

#define __GOCUDA_F8 __nv_fp8_e4m3
#define __GOCUDA_F8X2 __nv_fp8x2_e4m3
#define __GOCUDA_F8X4 __nv_fp8x4_e4m3
#define __GOCUDA_F8FORMAT __NV_E4M3
#include "gocuda/fp8_type.inc"
#define __GOCUDA_F8 __nv_fp8_e5m2
#define __GOCUDA_F8X2 __nv_fp8x2_e5m2
#define __GOCUDA_F8X4 __nv_fp8x4_e5m2
#define __GOCUDA_F8FORMAT __NV_E5M2
#include "gocuda/fp8_type.inc"

/* E8M0: the powers of two from -127 to 127, and not a number. The sign does not count. What lies between two powers goes
   to the lower one (cudaRoundZero) or the upper one (cudaRoundPosInf). */
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_double_to_e8m0(const double d, const __nv_saturation_t saturate,
														const enum cudaRoundMode mode) {
	unsigned long long u;
	memcpy(&u, &d, sizeof u);
	u &= 0x7fffffffffffffffull;
	if (u > 0x7ff0000000000000ull) return 0xff;
	int e = (int)(u >> 52) - 1023 + 127;
	if (mode == cudaRoundPosInf && (u & 0xfffffffffffffull)) e++;
	if (e < 0) return 0;
	if (e > 254) return saturate == __NV_SATFINITE ? 0xfe : 0xff;
	return (__nv_fp8_storage_t)e;
}
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_float_to_e8m0(const float f, const __nv_saturation_t saturate,
													   const enum cudaRoundMode mode) {
	return __nv_cvt_double_to_e8m0(f, saturate, mode);
}
__GOCUDA_FP8 __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_e8m0(const __nv_bfloat16_raw x, const __nv_saturation_t saturate,
															 const enum cudaRoundMode mode) {
	return __nv_cvt_double_to_e8m0((float)__nv_bfloat16(x), saturate, mode);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_double2_to_e8m0x2(const double2 v, const __nv_saturation_t saturate,
															 const enum cudaRoundMode mode) {
	return (__nv_fp8x2_storage_t)(__nv_cvt_double_to_e8m0(v.x, saturate, mode) |
								  __nv_cvt_double_to_e8m0(v.y, saturate, mode) << 8);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_float2_to_e8m0x2(const float2 v, const __nv_saturation_t saturate,
															const enum cudaRoundMode mode) {
	return __nv_cvt_double2_to_e8m0x2(make_double2(v.x, v.y), saturate, mode);
}
__GOCUDA_FP8 __nv_fp8x2_storage_t __nv_cvt_bfloat162raw_to_e8m0x2(const __nv_bfloat162_raw x,
																  const __nv_saturation_t saturate,
																  const enum cudaRoundMode mode) {
	return __nv_cvt_float2_to_e8m0x2(__bfloat1622float2(__nv_bfloat162(x)), saturate, mode);
}
__GOCUDA_FP8 __nv_bfloat16_raw __nv_cvt_e8m0_to_bf16raw(const __nv_fp8_storage_t x) {
	__nv_bfloat16_raw r;
	r.x = (unsigned short)(x == 0xff ? 0x7fff : x ? x << 7 : 0x40);
	return r;
}
__GOCUDA_FP8 __nv_bfloat162_raw __nv_cvt_e8m0x2_to_bf162raw(const __nv_fp8x2_storage_t x) {
	__nv_bfloat162_raw r;
	r.x = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)x).x;
	r.y = __nv_cvt_e8m0_to_bf16raw((__nv_fp8_storage_t)(x >> 8)).x;
	return r;
}
/* Constructors round up and saturate. */
struct __align__(1) __nv_fp8_e8m0 {
	__nv_fp8_storage_t __x;

	__nv_fp8_e8m0() = default;
	explicit __host__ __device__ __nv_fp8_e8m0(const double d)
		: __x(__nv_cvt_double_to_e8m0(d, __NV_SATFINITE, cudaRoundPosInf)) {}
	explicit __host__ __device__ __nv_fp8_e8m0(const float f) : __nv_fp8_e8m0((double)f) {}
	explicit __host__ __device__ __nv_fp8_e8m0(const __half h) : __nv_fp8_e8m0((double)(float)h) {}
	explicit __host__ __device__ __nv_fp8_e8m0(const __nv_bfloat16 h) : __nv_fp8_e8m0((double)(float)h) {}
	explicit __host__ __device__ operator __nv_bfloat16() const { return __nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(__x)); }
	explicit __host__ __device__ operator float() const { return (float)(__nv_bfloat16)*this; }
	explicit __host__ __device__ operator double() const { return (float)*this; }
	explicit __host__ __device__ operator __half() const { return __half((float)*this); }
	explicit __host__ __device__ operator bool() const { return true; }
};
struct __align__(2) __nv_fp8x2_e8m0 {
	__nv_fp8x2_storage_t __x;

	__nv_fp8x2_e8m0() = default;
	explicit __host__ __device__ __nv_fp8x2_e8m0(const double2 v)
		: __x(__nv_cvt_double2_to_e8m0x2(v, __NV_SATFINITE, cudaRoundPosInf)) {}
	explicit __host__ __device__ __nv_fp8x2_e8m0(const float2 v) : __nv_fp8x2_e8m0(make_double2(v.x, v.y)) {}
	explicit __host__ __device__ operator __nv_bfloat162() const { return __nv_bfloat162(__nv_cvt_e8m0x2_to_bf162raw(__x)); }
	explicit __host__ __device__ operator float2() const { return __bfloat1622float2((__nv_bfloat162)*this); }
};

#undef __GOCUDA_FP8

#endif
#endif
