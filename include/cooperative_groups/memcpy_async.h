/* cooperative_groups::memcpy_async and wait: CUDA C++ Programming Guide, "memcpy_async". */
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC

#include "../cooperative_groups.h"
#include "../gocuda/async_copy.h"

#if defined(__cplusplus) && defined(__CUDACC__)


namespace cooperative_groups {

namespace details {
/* The threads of the group take pieces of the largest size that the addresses allow, in turns. */
template <class G> __device__ __forceinline__ void copy_async(const G &g, void *dst, const void *src, size_t n) {
	size_t rank = g.thread_rank(), step = g.size();
	size_t low = (size_t)dst | (size_t)src;
	bool direct = __isShared(dst) && __isGlobal(src);
	unsigned piece = direct ? (low % 16 == 0 ? 16 : low % 8 == 0 ? 8 : low % 4 == 0 ? 4 : 1) : 1;
	size_t whole = piece > 1 ? n / piece : 0;
	char *d = (char *)dst;
	const char *s = (const char *)src;
	for (size_t i = rank; i < whole; i += step) {
		if (piece == 16) ::__gocuda_cp_async<16>(d + i * 16, s + i * 16);
		else if (piece == 8) ::__gocuda_cp_async<8>(d + i * 8, s + i * 8);
		else ::__gocuda_cp_async<4>(d + i * 4, s + i * 4);
	}
	for (size_t i = whole * piece + rank; i < n; i += step) d[i] = s[i];
	asm volatile("cp.async.commit_group;" ::: "memory");
}
} // namespace details

template <class G, class T, class S>
__device__ __forceinline__ void memcpy_async(const G &g, T *dst, const T *src, const S &bytes) {
	details::copy_async(g, dst, src, (size_t)bytes);
}
/* Layouts in elements: what both sides have is copied. */
template <class G, class T, class D, class S>
__device__ __forceinline__ void memcpy_async(const G &g, T *dst, const D &to, const T *src, const S &from) {
	size_t a = (size_t)to, b = (size_t)from;
	details::copy_async(g, dst, src, (a < b ? a : b) * sizeof(T));
}
template <class G> __device__ __forceinline__ void wait(const G &g) {
	asm volatile("cp.async.wait_all;" ::: "memory");
	g.sync();
}
template <unsigned N, class G> __device__ __forceinline__ void wait_prior(const G &g) {
	asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
	g.sync();
}

} // namespace cooperative_groups

#endif
#endif
