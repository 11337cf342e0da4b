/* __half and __half2: CUDA Math API, "Half Precision Intrinsics". */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__
#define __CUDA_FP16_HPP__
#define CUDA_FP16_TYPES_EXIST

#include "vector_types.h"
#include "gocuda/half_host.h"

#if defined(__cplusplus)

static __inline__ __device__ float __gocuda_half_float(unsigned short x) {
	float f;
	__asm__("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(x));
	return f;
}
static __inline__ __device__ unsigned short __gocuda_half_double(double d) {
	unsigned short r;
	__asm__("cvt.rn.f16.f64 %0, %1;" : "=h"(r) : "d"(d));
	return r;
}
#define __GOCUDA_H __half
#define __GOCUDA_H2 __half2
#define __GOCUDA_RAW __half_raw
#define __GOCUDA_RAW2 __half2_raw
#define __GOCUDA_OTHER __nv_bfloat16
#define __GOCUDA_TYPE "f16"
#define __GOCUDA_BITS 10
#define __GOCUDA_BIAS 15
#define __GOCUDA_TOFLOAT(x) __gocuda_half_to_float(x)
#define __GOCUDA_TODEVICE(x) __gocuda_half_float(x)
#define __GOCUDA_DOUBLE(d) __gocuda_half_double(d)
#define __GOCUDA_NAME(a, b) a##half##b
#define __GOCUDA_NAMEOF(a, b) __half##a##b
#if defined(__CUDA_ARCH__)
#define __GOCUDA_ROUNDED(mode, r, f) (r = __gocuda_float_half_##mode(f))
#define __GOCUDA_INT(mode, r, name, v) (r = __gocuda_##name##_half_##mode(v))
#define __GOCUDA_CVT(mode, full, name, T, ptx, c)                                                                  \
	static __inline__ __device__ unsigned short __gocuda_##name##_half_##mode(T v) {                               \
		unsigned short r;                                                                                          \
		__asm__("cvt." #full ".f16." ptx " %0, %1;" : "=h"(r) : c(v));                                             \
		return r;                                                                                                  \
	}
#define __GOCUDA_CVTS(mode, full)                               \
	__GOCUDA_CVT(mode, full, short, short, "s16", "h")                \
	__GOCUDA_CVT(mode, full, ushort, unsigned short, "u16", "h")      \
	__GOCUDA_CVT(mode, full, int, int, "s32", "r")                    \
	__GOCUDA_CVT(mode, full, uint, unsigned, "u32", "r")              \
	__GOCUDA_CVT(mode, full, ll, long long, "s64", "l")               \
	__GOCUDA_CVT(mode, full, ull, unsigned long long, "u64", "l")     \
	__GOCUDA_CVT(mode, full, float, float, "f32", "f")
__GOCUDA_CVTS(rn, rn)
__GOCUDA_CVTS(rz, rz)
__GOCUDA_CVTS(rd, rm)
__GOCUDA_CVTS(ru, rp)
#undef __GOCUDA_CVTS
#undef __GOCUDA_CVT
#else
#define __GOCUDA_ROUNDED(mode, r, f) (r = __gocuda_pack(f, 10, 15, __gocuda_##mode))
#endif
#include "gocuda/half_type.inc"

#define __GOCUDA_T "f16"
#define __GOCUDA_TO(h) (float)(h)
#define __GOCUDA_FROM(f) __half((float)(f))
#define __GOCUDA_ROUND(d) __half((double)(d))
#define __GOCUDA_ARITH 1
#define __GOCUDA_ONE 0x3c00
#define __GOCUDA_FTZ ".noftz"
#include "gocuda/half_ops.inc"

static __inline__ __host__ __device__ __half2 __half2half2(__half h) { return __half2(h, h); }
static __inline__ __host__ __device__ __half2 make_half2(__half a, __half b) { return __half2(a, b); }

typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;
typedef __half_raw __nv_half_raw;
typedef __half2_raw __nv_half2_raw;
typedef __half nv_half;
typedef __half2 nv_half2;

#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00U)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFFU)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half((unsigned short)0x8000U)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0x0000U)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00U)

#endif
#endif
