/* __match_any_sync and __match_all_sync on the functions of clang's headers: CUDA C++ Programming Guide, "Warp Match
   Functions". clang's intrinsics header includes this file by name. */
#ifndef __SM_70_RT_HPP__
#define __SM_70_RT_HPP__

#define __GOCUDA_MATCH(T, bits, unsigned_type)                                                \
	static __device__ __forceinline__ unsigned __match_any_sync(unsigned mask, T value) {     \
		unsigned_type u;                                                                      \
		__builtin_memcpy(&u, &value, sizeof u);                                               \
		return __match##bits##_any_sync(mask, u);                                             \
	}                                                                                         \
	static __device__ __forceinline__ unsigned __match_all_sync(unsigned mask, T value, int *pred) { \
		unsigned_type u;                                                                      \
		__builtin_memcpy(&u, &value, sizeof u);                                               \
		return __match##bits##_all_sync(mask, u, pred);                                       \
	}
__GOCUDA_MATCH(int, 32, unsigned)
__GOCUDA_MATCH(unsigned, 32, unsigned)
__GOCUDA_MATCH(float, 32, unsigned)
#if defined(_WIN32)
__GOCUDA_MATCH(long, 32, unsigned)
__GOCUDA_MATCH(unsigned long, 32, unsigned)
#else
__GOCUDA_MATCH(long, 64, unsigned long long)
__GOCUDA_MATCH(unsigned long, 64, unsigned long long)
#endif
__GOCUDA_MATCH(long long, 64, unsigned long long)
__GOCUDA_MATCH(unsigned long long, 64, unsigned long long)
__GOCUDA_MATCH(double, 64, unsigned long long)
#undef __GOCUDA_MATCH

/* __nanosleep: the same guide, "Nanosleep Function". */
static __device__ __forceinline__ void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns)); }

#endif
