/* __nv_bfloat16 and __nv_bfloat162: CUDA Math API, "Bfloat16 Precision Intrinsics". */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__
#define __CUDA_BF16_HPP__
#define CUDA_BF16_TYPES_EXIST

#include "vector_types.h"
#include "gocuda/half_host.h"

#if defined(__cplusplus)

static __inline__ __host__ __device__ float __gocuda_bfloat_float(unsigned short x) {
	unsigned u = (unsigned)x << 16;
	float f;
	__builtin_memcpy(&f, &u, sizeof f);
	return f;
}
static __inline__ __device__ unsigned short __gocuda_bfloat_double(double d) {
	return __gocuda_pack(d, 7, 127, __gocuda_rn);
}
#define __gocuda_bfloat_rn(f) __gocuda_float_to_bfloat16_rn(f)
#define __gocuda_bfloat_rz(f) __gocuda_pack(f, 7, 127, __gocuda_rz)
#define __gocuda_bfloat_rd(f) __gocuda_pack(f, 7, 127, __gocuda_rd)
#define __gocuda_bfloat_ru(f) __gocuda_pack(f, 7, 127, __gocuda_ru)
#define __GOCUDA_H __nv_bfloat16
#define __GOCUDA_H2 __nv_bfloat162
#define __GOCUDA_RAW __nv_bfloat16_raw
#define __GOCUDA_RAW2 __nv_bfloat162_raw
#define __GOCUDA_OTHER __half
#define __GOCUDA_TYPE "bf16"
#define __GOCUDA_BITS 7
#define __GOCUDA_BIAS 127
#define __GOCUDA_TOFLOAT(x) __gocuda_bfloat_float(x)
#define __GOCUDA_TODEVICE(x) __gocuda_bfloat_float(x)
#define __GOCUDA_DOUBLE(d) __gocuda_bfloat_double(d)
#define __GOCUDA_NAME(a, b) a##bfloat16##b
#define __GOCUDA_NAMEOF(a, b) __bfloat16##a##b
#if defined(__CUDA_ARCH__)
#define __GOCUDA_INT(mode, r, name, v) (r = __gocuda_pack((double)(v), 7, 127, __gocuda_##mode))
#endif
#define __GOCUDA_ROUNDED(mode, r, f) (r = __gocuda_bfloat_##mode(f))
#include "gocuda/half_type.inc"

#define __GOCUDA_H __nv_bfloat16
#define __GOCUDA_H2 __nv_bfloat162
#define __GOCUDA_T "bf16"
#define __GOCUDA_TO(h) (float)(h)
#define __GOCUDA_FROM(f) __nv_bfloat16((float)(f))
#define __GOCUDA_ROUND(d) __nv_bfloat16((double)(d))
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
#define __GOCUDA_ARITH 0
#else
#define __GOCUDA_ARITH 1
#endif
#define __GOCUDA_ONE 0x3f80
#define __GOCUDA_FTZ ".noftz"
#include "gocuda/half_ops.inc"

static __inline__ __host__ __device__ __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 h) {
	return __nv_bfloat162(h, h);
}
static __inline__ __host__ __device__ __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
	return __nv_bfloat162(a, b);
}
static __inline__ __host__ __device__ __nv_bfloat16 __low2bfloat16(__nv_bfloat162 v) { return v.x; }
static __inline__ __host__ __device__ __nv_bfloat16 __high2bfloat16(__nv_bfloat162 v) { return v.y; }
static __inline__ __host__ __device__ __nv_bfloat162 __low2bfloat162(__nv_bfloat162 v) {
	return __nv_bfloat162(v.x, v.x);
}
static __inline__ __host__ __device__ __nv_bfloat162 __high2bfloat162(__nv_bfloat162 v) {
	return __nv_bfloat162(v.y, v.y);
}
static __inline__ __host__ __device__ __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
	return __nv_bfloat162(a.x, b.x);
}
static __inline__ __host__ __device__ __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
	return __nv_bfloat162(a.y, b.y);
}
static __inline__ __host__ __device__ __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
	return __nv_bfloat162(a, b);
}

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define CUDART_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7F80U)
#define CUDART_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7FFFU)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001U)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7F7FU)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000U)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000U)
#define CUDART_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3F80U)

#endif
#endif
