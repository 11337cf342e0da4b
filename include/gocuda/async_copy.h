/* cp.async: copies from global to shared memory that the thread does not wait for (PTX manual). */
#ifndef __GOCUDA_ASYNC_COPY_H__
#define __GOCUDA_ASYNC_COPY_H__

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)
/* n bytes, of which the last zeros are not read but set to 0. */
template <int n> static __device__ __forceinline__ void __gocuda_cp_async(void *dst, const void *src, unsigned zeros = 0) {
	static_assert(n == 4 || n == 8 || n == 16, "a piece has 4, 8 or 16 bytes");
	unsigned to = (unsigned)__cvta_generic_to_shared(dst);
	size_t from = __cvta_generic_to_global(src);
	if (n == 16)
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(16 - zeros) : "memory");
	else
		asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(n), "r"(n - zeros)
					 : "memory");
}
#endif
#endif
