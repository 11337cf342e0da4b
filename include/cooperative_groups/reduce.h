/* cooperative_groups::reduce and its operations: CUDA C++ Programming Guide, "reduce". */
#ifndef _CG_REDUCE_H
#define _CG_REDUCE_H

#include "../cooperative_groups.h"

#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups {

template <class T> struct plus {
	__device__ __forceinline__ T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
	__device__ __forceinline__ T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
	__device__ __forceinline__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
	__device__ __forceinline__ T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
	__device__ __forceinline__ T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
	__device__ __forceinline__ T operator()(T a, T b) const { return a ^ b; }
};

template <unsigned N, class P, class T, class Op>
__device__ __forceinline__ T reduce(const thread_block_tile<N, P> &g, T v, Op op) {
	if constexpr (N <= 32) {
#pragma unroll
		for (unsigned d = N / 2; d; d /= 2) v = op(v, g.shfl_xor(v, d));
		return v;
	} else {
#pragma unroll
		for (unsigned d = 16; d; d /= 2)
			v = op(v, details::shuffle(v, details::shuffler<details::bfly>{0xffffffffu, d, 32}));
		T r = v;
		g.warps(v, [&](unsigned i, T t) { r = i == 0 ? t : op(r, t); });
		return r;
	}
}
/* Of any number of threads: pairs at growing distance towards rank 0, whose result all get. */
template <class T, class Op> __device__ __forceinline__ T reduce(const coalesced_group &g, T v, Op op) {
	unsigned rank = g.thread_rank(), n = g.size();
	for (unsigned d = 1; d < n; d *= 2) {
		T other = g.shfl_down(v, d);
		if (rank + d < n) v = op(v, other);
	}
	return g.shfl(v, 0);
}
template <class G, class A, class T, class Op> __device__ __forceinline__ void reduce_store_async(const G &g, A *to, T v, Op op) {
	T r = reduce(g, v, op);
	if (g.thread_rank() == 0) *to = r;
}

} // namespace cooperative_groups

#endif
#endif
