/* cooperative_groups::inclusive_scan and exclusive_scan: CUDA C++ Programming Guide. */
#ifndef _CG_SCAN_H
#define _CG_SCAN_H

#include "reduce.h"

#if defined(__cplusplus) && defined(__CUDACC__)

namespace cooperative_groups {

template <class G, class T, class Op> __device__ __forceinline__ T inclusive_scan(const G &g, T v, Op op) {
	unsigned rank = g.thread_rank(), n = g.size();
	for (unsigned d = 1; d < n; d *= 2) {
		T other = g.shfl_up(v, d);
		if (rank >= d) v = op(other, v);
	}
	return v;
}
template <unsigned N, class P, class T, class Op>
__device__ __forceinline__ T inclusive_scan(const thread_block_tile<N, P> &g, T v, Op op) {
	unsigned lane = g.thread_rank() % 32, warp = g.thread_rank() / 32;
	for (unsigned d = 1; d < (N < 32 ? N : 32); d *= 2) {
		T other = details::shuffle(v, details::shuffler<details::up>{__activemask(), d, N < 32 ? (int)N : 32});
		if (lane >= d) v = op(other, v);
	}
	if constexpr (N > 32) {
		T before = v;
		g.warps(v, [&](unsigned i, T t) {
			if (i < warp) before = i == 0 ? t : op(before, t);
		});
		if (warp) v = op(before, v);
	}
	return v;
}
template <class G, class T> __device__ __forceinline__ T inclusive_scan(const G &g, T v) {
	return inclusive_scan(g, v, plus<T>());
}
/* The first thread gets T(). */
template <class G, class T, class Op> __device__ __forceinline__ T exclusive_scan(const G &g, T v, Op op) {
	T r = g.shfl_up(inclusive_scan(g, v, op), 1);
	return g.thread_rank() == 0 ? T() : r;
}
template <class G, class T> __device__ __forceinline__ T exclusive_scan(const G &g, T v) {
	return exclusive_scan(g, v, plus<T>());
}

} // namespace cooperative_groups

#endif
#endif
