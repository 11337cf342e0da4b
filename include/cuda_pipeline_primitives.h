/* The pipeline primitives: CUDA C++ Programming Guide, "Pipeline Primitives Interface". */
#ifndef _CUDA_PIPELINE_PRIMITIVES_H_
#define _CUDA_PIPELINE_PRIMITIVES_H_

#include "gocuda/async_copy.h"

#if defined(__cplusplus) && defined(__CUDACC__)

/* size is 4, 8 or 16; the last zfill bytes become 0. */
static __device__ __forceinline__ void __pipeline_memcpy_async(void *dst, const void *src, size_t size, size_t zfill = 0) {
	switch (size) {
	case 4: __gocuda_cp_async<4>(dst, src, (unsigned)zfill); break;
	case 8: __gocuda_cp_async<8>(dst, src, (unsigned)zfill); break;
	case 16: __gocuda_cp_async<16>(dst, src, (unsigned)zfill); break;
	default: __trap();
	}
}
static __device__ __forceinline__ void __pipeline_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/* Waits until at most n groups, the youngest, are under way. The instruction takes a constant. */
static __device__ __forceinline__ void __pipeline_wait_prior(size_t n) {
	switch (n) {
	case 0: asm volatile("cp.async.wait_group 0;" ::: "memory"); break;
	case 1: asm volatile("cp.async.wait_group 1;" ::: "memory"); break;
	case 2: asm volatile("cp.async.wait_group 2;" ::: "memory"); break;
	case 3: asm volatile("cp.async.wait_group 3;" ::: "memory"); break;
	case 4: asm volatile("cp.async.wait_group 4;" ::: "memory"); break;
	case 5: asm volatile("cp.async.wait_group 5;" ::: "memory"); break;
	case 6: asm volatile("cp.async.wait_group 6;" ::: "memory"); break;
	case 7: asm volatile("cp.async.wait_group 7;" ::: "memory"); break;
	default: asm volatile("cp.async.wait_group 8;" ::: "memory"); /* waits for more than was asked */
	}
}
typedef unsigned long long __mbarrier_t;
static __device__ __forceinline__ void __mbarrier_init(__mbarrier_t *b, unsigned n) {
	asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(b)), "r"(n) : "memory");
}
static __device__ __forceinline__ void __mbarrier_inval(__mbarrier_t *b) {
	asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
}
typedef unsigned long long __mbarrier_token_t;
static __device__ __forceinline__ __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b) {
	unsigned long long t;
	asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(t) : "r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
	return t;
}
static __device__ __forceinline__ bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t t) {
	unsigned done;
	asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
				 : "=r"(done) : "r"((unsigned)__cvta_generic_to_shared(b)), "l"(t) : "memory");
	return done;
}
static __device__ __forceinline__ void __pipeline_arrive_on(__mbarrier_t *b) {
	asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"((unsigned)__cvta_generic_to_shared(b)) : "memory");
}

#endif
#endif
