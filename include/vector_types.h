/* Vector types of CUDA C++, as the CUDA C++ Programming Guide, "Built-in Vector Types", gives their members and
   alignments. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#include "crt/host_defines.h"

#define __GOCUDA_VEC1(T, name, a1)    \
	struct __align__(a1) name##1 {    \
		T x;                          \
	};                                \
	typedef struct name##1 name##1;
#define __GOCUDA_VEC2(T, name, a2)    \
	struct __align__(a2) name##2 {    \
		T x, y;                       \
	};                                \
	typedef struct name##2 name##2;
#define __GOCUDA_VEC3(T, name, a1)    \
	struct __align__(a1) name##3 {    \
		T x, y, z;                    \
	};                                \
	typedef struct name##3 name##3;
#define __GOCUDA_VEC4(T, name, a4)    \
	struct __align__(a4) name##4 {    \
		T x, y, z, w;                 \
	};                                \
	typedef struct name##4 name##4;
#define __GOCUDA_VEC(T, name, a1, a2, a4) \
	__GOCUDA_VEC1(T, name, a1)            \
	__GOCUDA_VEC2(T, name, a2)            \
	__GOCUDA_VEC3(T, name, a1)            \
	__GOCUDA_VEC4(T, name, a4)

__GOCUDA_VEC(signed char, char, 1, 2, 4)
__GOCUDA_VEC(unsigned char, uchar, 1, 2, 4)
__GOCUDA_VEC(short, short, 2, 4, 8)
__GOCUDA_VEC(unsigned short, ushort, 2, 4, 8)
__GOCUDA_VEC(int, int, 4, 8, 16)
__GOCUDA_VEC(unsigned int, uint, 4, 8, 16)
#if defined(_WIN32)
__GOCUDA_VEC(long, long, 4, 8, 16)
__GOCUDA_VEC(unsigned long, ulong, 4, 8, 16)
#else
__GOCUDA_VEC(long, long, 8, 16, 16)
__GOCUDA_VEC(unsigned long, ulong, 8, 16, 16)
#endif
__GOCUDA_VEC(long long, longlong, 8, 16, 16)
__GOCUDA_VEC(unsigned long long, ulonglong, 8, 16, 16)
__GOCUDA_VEC(float, float, 4, 8, 16)
__GOCUDA_VEC(double, double, 8, 16, 16)

/* CUDA 13 names the alignment of the vectors of four 64-bit values. */
#define __GOCUDA_VEC4_ALIGNED(T, name)        \
	struct __align__(16) name##4_16a {        \
		T x, y, z, w;                         \
	};                                        \
	typedef struct name##4_16a name##4_16a;   \
	struct __align__(32) name##4_32a {        \
		T x, y, z, w;                         \
	};                                        \
	typedef struct name##4_32a name##4_32a;
__GOCUDA_VEC4_ALIGNED(long, long)
__GOCUDA_VEC4_ALIGNED(unsigned long, ulong)
__GOCUDA_VEC4_ALIGNED(long long, longlong)
__GOCUDA_VEC4_ALIGNED(unsigned long long, ulonglong)
__GOCUDA_VEC4_ALIGNED(double, double)

#undef __GOCUDA_VEC1
#undef __GOCUDA_VEC2
#undef __GOCUDA_VEC3
#undef __GOCUDA_VEC4
#undef __GOCUDA_VEC
#undef __GOCUDA_VEC4_ALIGNED

struct dim3 {
	unsigned int x, y, z;
#if defined(__cplusplus)
#if __cplusplus >= 201103L
	__host__ __device__ constexpr dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1)
		: x(vx), y(vy), z(vz) {}
	__host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	__host__ __device__ constexpr operator uint3(void) const { return uint3{x, y, z}; }
#else
	__host__ __device__ dim3(unsigned int vx = 1, unsigned int vy = 1, unsigned int vz = 1) : x(vx), y(vy), z(vz) {}
	__host__ __device__ dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
	__host__ __device__ operator uint3(void) const { uint3 t = {x, y, z}; return t; }
#endif
#endif
};
typedef struct dim3 dim3;

#endif
