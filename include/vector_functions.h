/* Constructors of the vector types: CUDA C++ Programming Guide, "Built-in Vector Types". */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_HPP__

#include "vector_types.h"

#if defined(__cplusplus)
#define __GOCUDA_MAKE static __inline__ __host__ __device__
#else
#define __GOCUDA_MAKE static __inline__
#endif
#define __GOCUDA_MAKERS(T, name) \
	__GOCUDA_MAKE name##1 make_##name##1(T x) { name##1 t; t.x = x; return t; } \
	__GOCUDA_MAKE name##2 make_##name##2(T x, T y) { name##2 t; t.x = x; t.y = y; return t; } \
	__GOCUDA_MAKE name##3 make_##name##3(T x, T y, T z) { name##3 t; t.x = x; t.y = y; t.z = z; return t; } \
	__GOCUDA_MAKE4(T, name##4, make_##name##4)
#define __GOCUDA_MAKE4(T, type, make) \
	__GOCUDA_MAKE type make(T x, T y, T z, T w) { type t; t.x = x; t.y = y; t.z = z; t.w = w; return t; }
#define __GOCUDA_MAKERS_ALIGNED(T, name) \
	__GOCUDA_MAKE4(T, name##4_16a, make_##name##4_16a) \
	__GOCUDA_MAKE4(T, name##4_32a, make_##name##4_32a)

__GOCUDA_MAKERS(signed char, char)
__GOCUDA_MAKERS(unsigned char, uchar)
__GOCUDA_MAKERS(short, short)
__GOCUDA_MAKERS(unsigned short, ushort)
__GOCUDA_MAKERS(int, int)
__GOCUDA_MAKERS(unsigned int, uint)
__GOCUDA_MAKERS(long, long)
__GOCUDA_MAKERS(unsigned long, ulong)
__GOCUDA_MAKERS(long long, longlong)
__GOCUDA_MAKERS(unsigned long long, ulonglong)
__GOCUDA_MAKERS(float, float)
__GOCUDA_MAKERS(double, double)
__GOCUDA_MAKERS_ALIGNED(long, long)
__GOCUDA_MAKERS_ALIGNED(unsigned long, ulong)
__GOCUDA_MAKERS_ALIGNED(long long, longlong)
__GOCUDA_MAKERS_ALIGNED(unsigned long long, ulonglong)
__GOCUDA_MAKERS_ALIGNED(double, double)

#undef __GOCUDA_MAKE
#undef __GOCUDA_MAKE4
#undef __GOCUDA_MAKERS
#undef __GOCUDA_MAKERS_ALIGNED

#endif
