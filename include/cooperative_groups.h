/* Cooperative groups: CUDA C++ Programming Guide, "Cooperative Groups". */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)

#define __GOCUDA_CG __device__ __forceinline__

namespace cooperative_groups {

namespace details {

__GOCUDA_CG static unsigned laneid() {
	unsigned r;
	asm("mov.u32 %0, %%laneid;" : "=r"(r));
	return r;
}
__GOCUDA_CG static unsigned lanemask_lt() {
	unsigned r;
	asm("mov.u32 %0, %%lanemask_lt;" : "=r"(r));
	return r;
}
__GOCUDA_CG static unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
__GOCUDA_CG static unsigned thread_in_block() {
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}
/* The lane of the n-th thread of mask. */
__GOCUDA_CG static unsigned lane_of(unsigned mask, unsigned n) {
	if (mask == 0xffffffffu) return n;
	for (unsigned i = 0; i < n; i++) mask &= mask - 1;
	return mask ? __ffs((int)mask) - 1 : 32;
}

/* Shuffles of any type that can be copied byte by byte, word by word. */
template <class T, class F> __GOCUDA_CG T shuffle(const T &v, F f) {
	static_assert(__is_trivially_copyable(T), "a shuffled type is copied byte by byte");
	union {
		unsigned w[(sizeof(T) + 3) / 4];
		unsigned char b[(sizeof(T) + 3) / 4 * 4];
	} u;
	__builtin_memcpy(u.b, &v, sizeof(T));
#pragma unroll
	for (unsigned i = 0; i < (sizeof(T) + 3) / 4; i++) u.w[i] = f(u.w[i]);
	T r = v;
	__builtin_memcpy(&r, u.b, sizeof(T));
	return r;
}

struct idx {
	static __GOCUDA_CG unsigned of(unsigned m, unsigned v, unsigned n, int w) { return __shfl_sync(m, v, (int)n, w); }
};
struct up {
	static __GOCUDA_CG unsigned of(unsigned m, unsigned v, unsigned n, int w) { return __shfl_up_sync(m, v, n, w); }
};
struct down {
	static __GOCUDA_CG unsigned of(unsigned m, unsigned v, unsigned n, int w) { return __shfl_down_sync(m, v, n, w); }
};
struct bfly {
	static __GOCUDA_CG unsigned of(unsigned m, unsigned v, unsigned n, int w) { return __shfl_xor_sync(m, v, (int)n, w); }
};
template <class S> struct shuffler {
	unsigned mask, n;
	int width;
	__GOCUDA_CG unsigned operator()(unsigned v) const { return S::of(mask, v, n, width); }
};

/* The grid's workspace, which the driver makes for a cooperative launch: %envreg1 and %envreg2 are its address, the
   second word its barrier. Bit 31 flips when all blocks have come: the first block adds what the others leave. */
__GOCUDA_CG static unsigned *grid_barrier() {
	unsigned hi, lo;
	asm("mov.u32 %0, %%envreg1;" : "=r"(hi));
	asm("mov.u32 %0, %%envreg2;" : "=r"(lo));
	unsigned long long a = (unsigned long long)hi << 32 | lo;
	return a ? (unsigned *)a + 1 : nullptr;
}
__GOCUDA_CG static unsigned grid_arrive() {
	unsigned old = 0;
	__syncthreads();
	if (thread_in_block() == 0) {
		unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
		bool first = (blockIdx.x | blockIdx.y | blockIdx.z) == 0;
		unsigned add = first ? 0x80000000u - (blocks - 1) : 1;
		__threadfence();
		asm volatile("atom.add.release.gpu.u32 %0, [%1], %2;" : "=r"(old) : "l"(grid_barrier()), "r"(add) : "memory");
	}
	return old;
}
__GOCUDA_CG static void grid_wait(unsigned old) {
	if (thread_in_block() == 0) {
		unsigned now;
		do
			asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(now) : "l"(grid_barrier()) : "memory");
		while (((now ^ old) & 0x80000000u) == 0);
		__threadfence();
	}
	__syncthreads();
}

enum kind { of_block, of_lanes, of_grid };
struct access;

} // namespace details

class thread_block;
class coalesced_group;

/* A group of any kind. */
class thread_group {
protected:
	details::kind kind;
	unsigned mask;               /* of the lanes, for parts of a warp */
	unsigned metaRank, metaSize; /* among the parts */

	__GOCUDA_CG thread_group(details::kind k, unsigned m, unsigned rank, unsigned size)
		: kind(k), mask(m), metaRank(rank), metaSize(size) {}
	friend __GOCUDA_CG thread_group tiled_partition(const thread_group &, unsigned);
	friend struct details::access;

public:
	typedef void parent_type;
	__GOCUDA_CG thread_group() {}
	__GOCUDA_CG unsigned num_threads() const {
		switch (kind) {
		case details::of_block: return details::block_threads();
		case details::of_grid: return details::block_threads() * gridDim.x * gridDim.y * gridDim.z;
		default: return __popc(mask);
		}
	}
	__GOCUDA_CG unsigned long long size() const { return num_threads(); }
	__GOCUDA_CG unsigned long long thread_rank() const {
		switch (kind) {
		case details::of_block: return details::thread_in_block();
		case details::of_grid:
			return ((unsigned long long)(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) *
				   details::block_threads() + details::thread_in_block();
		default: return __popc(mask & details::lanemask_lt());
		}
	}
	__GOCUDA_CG bool is_valid() const { return kind != details::of_grid || details::grid_barrier() != nullptr; }
	__GOCUDA_CG void sync() const {
		switch (kind) {
		case details::of_block: __syncthreads(); break;
		case details::of_grid: details::grid_wait(details::grid_arrive()); break;
		default: __syncwarp(mask);
		}
	}
};

namespace details {
struct access {
	static __GOCUDA_CG unsigned mask(const thread_group &g) { return g.mask; }
};
} // namespace details

/* Memory for tiles of more than a warp, which programs may give; tiles have their own. */
template <unsigned MaxBlockSize = 1024> struct block_tile_memory {
	unsigned unused[MaxBlockSize / 32 ? MaxBlockSize / 32 : 1];
};

class thread_block : public thread_group {
	__GOCUDA_CG thread_block() : thread_group(details::of_block, 0, 0, 1) {}
	friend __GOCUDA_CG thread_block this_thread_block();

public:
	struct arrival_token {};
	static __GOCUDA_CG void sync() { __syncthreads(); }
	__GOCUDA_CG arrival_token barrier_arrive() const { return arrival_token(); }
	__GOCUDA_CG void barrier_wait(arrival_token &&) const { __syncthreads(); }
	static __GOCUDA_CG unsigned thread_rank() { return details::thread_in_block(); }
	static __GOCUDA_CG unsigned num_threads() { return details::block_threads(); }
	static __GOCUDA_CG unsigned size() { return details::block_threads(); }
	static __GOCUDA_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	static __GOCUDA_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
	static __GOCUDA_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
	static __GOCUDA_CG dim3 dim_threads() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
};
__GOCUDA_CG thread_block this_thread_block() { return thread_block(); }
template <unsigned N> __GOCUDA_CG thread_block this_thread_block(block_tile_memory<N> &) { return this_thread_block(); }

/* What tiles and coalesced groups share. Ranks are translated to lanes by the group. */
class coalesced_group : public thread_group {
protected:
	__GOCUDA_CG coalesced_group(unsigned m, unsigned rank, unsigned size)
		: thread_group(details::of_lanes, m, rank, size) {}
	friend __GOCUDA_CG coalesced_group coalesced_threads();
	template <class G, class L> friend __GOCUDA_CG coalesced_group labeled_partition(const G &, L);
	friend __GOCUDA_CG coalesced_group tiled_partition(const coalesced_group &, unsigned);

	/* Bits of lanes as bits of ranks. */
	__GOCUDA_CG unsigned pack(unsigned lanes) const {
		if (mask == 0xffffffffu) return lanes;
		unsigned r = 0;
		for (unsigned m = mask, i = 0; m; m &= m - 1, i++)
			if (lanes & (m & -m)) r |= 1u << i;
		return r;
	}

public:
	__GOCUDA_CG unsigned num_threads() const { return __popc(mask); }
	__GOCUDA_CG unsigned size() const { return __popc(mask); }
	__GOCUDA_CG unsigned thread_rank() const { return __popc(mask & details::lanemask_lt()); }
	__GOCUDA_CG unsigned meta_group_rank() const { return metaRank; }
	__GOCUDA_CG unsigned meta_group_size() const { return metaSize; }
	__GOCUDA_CG void sync() const { __syncwarp(mask); }
	template <class T> __GOCUDA_CG T shfl(const T &v, unsigned rank) const {
		unsigned lane = rank < size() ? details::lane_of(mask, rank) : details::laneid();
		return details::shuffle(v, details::shuffler<details::idx>{mask, lane, 32});
	}
	template <class T> __GOCUDA_CG T shfl_up(const T &v, unsigned delta) const {
		unsigned rank = thread_rank();
		return shfl(v, rank < delta ? rank : rank - delta);
	}
	template <class T> __GOCUDA_CG T shfl_down(const T &v, unsigned delta) const {
		unsigned rank = thread_rank();
		return shfl(v, rank + delta < size() ? rank + delta : rank);
	}
	__GOCUDA_CG int any(int p) const { return __any_sync(mask, p); }
	__GOCUDA_CG int all(int p) const { return __all_sync(mask, p); }
	__GOCUDA_CG unsigned ballot(int p) const { return pack(__ballot_sync(mask, p)); }
	template <class T> __GOCUDA_CG unsigned match_any(T v) const { return pack(__match_any_sync(mask, v)); }
	template <class T> __GOCUDA_CG unsigned match_all(T v, int &p) const { return pack(__match_all_sync(mask, v, &p)); }
};
__GOCUDA_CG coalesced_group coalesced_threads() { return coalesced_group(__activemask(), 0, 1); }

template <unsigned Size, class Parent = void> class thread_block_tile;

namespace details {
template <unsigned Size> class tile : public thread_group {
protected:
	__GOCUDA_CG tile(unsigned m, unsigned rank, unsigned size) : thread_group(of_lanes, m, rank, size) {}

public:
	static __GOCUDA_CG constexpr unsigned num_threads() { return Size; }
	static __GOCUDA_CG constexpr unsigned size() { return Size; }
	static __GOCUDA_CG unsigned thread_rank() { return laneid() & (Size - 1); }
	__GOCUDA_CG unsigned meta_group_rank() const { return metaRank; }
	__GOCUDA_CG unsigned meta_group_size() const { return metaSize; }
	__GOCUDA_CG void sync() const { __syncwarp(mask); }
	template <class T> __GOCUDA_CG T shfl(const T &v, int rank) const {
		return shuffle(v, shuffler<idx>{mask, (unsigned)rank, (int)Size});
	}
	template <class T> __GOCUDA_CG T shfl_up(const T &v, unsigned n) const {
		return shuffle(v, shuffler<details::up>{mask, n, (int)Size});
	}
	template <class T> __GOCUDA_CG T shfl_down(const T &v, unsigned n) const {
		return shuffle(v, shuffler<down>{mask, n, (int)Size});
	}
	template <class T> __GOCUDA_CG T shfl_xor(const T &v, unsigned n) const {
		return shuffle(v, shuffler<bfly>{mask, n, (int)Size});
	}
	__GOCUDA_CG unsigned pack(unsigned lanes) const {
		return Size == 32 ? lanes : (lanes & mask) >> (laneid() & ~(Size - 1) & 31);
	}
	__GOCUDA_CG int any(int p) const { return __any_sync(mask, p); }
	__GOCUDA_CG int all(int p) const { return __all_sync(mask, p); }
	__GOCUDA_CG unsigned ballot(int p) const { return pack(__ballot_sync(mask, p)); }
	template <class T> __GOCUDA_CG unsigned match_any(T v) const { return pack(__match_any_sync(mask, v)); }
	template <class T> __GOCUDA_CG unsigned match_all(T v, int &p) const { return pack(__match_all_sync(mask, v, &p)); }
	static __GOCUDA_CG unsigned lanes() {
		return Size == 32 ? 0xffffffffu : ((1ull << Size) - 1) << (laneid() & ~(Size - 1) & 31);
	}
};
} // namespace details

template <unsigned Size> class thread_block_tile<Size, void> : public details::tile<Size> {
	static_assert(Size <= 32 && (Size & (Size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
	template <unsigned S, class P> friend class thread_block_tile;

protected:
	__GOCUDA_CG thread_block_tile(unsigned m, unsigned rank, unsigned size) : details::tile<Size>(m, rank, size) {}
};
/* A tile of several warps, which sync through a counter in shared memory. All threads of the block make their tiles
   together. */
template <unsigned Size> class __gocuda_large_tile : public thread_group {
	static __GOCUDA_CG unsigned *counters() {
		static __shared__ unsigned c[1024 / Size];
		return c;
	}

protected:
	__GOCUDA_CG __gocuda_large_tile(unsigned rank, unsigned size)
		: thread_group(details::of_lanes, 0xffffffffu, rank, size) {
		if (thread_rank() == 0) counters()[rank] = 0;
		__syncthreads();
	}

public:
	static __GOCUDA_CG constexpr unsigned num_threads() { return Size; }
	static __GOCUDA_CG constexpr unsigned size() { return Size; }
	static __GOCUDA_CG unsigned thread_rank() { return details::thread_in_block() & (Size - 1); }
	__GOCUDA_CG unsigned meta_group_rank() const { return metaRank; }
	__GOCUDA_CG unsigned meta_group_size() const { return metaSize; }
	/* The counter grows by one for each warp; it is a multiple of the warps whenever all have come. */
	__GOCUDA_CG void sync() const {
		__syncwarp();
		if (details::laneid() == 0) {
			unsigned old, now, warps = Size / 32;
			unsigned p = (unsigned)__cvta_generic_to_shared(counters() + metaRank);
			asm volatile("atom.add.acq_rel.cta.shared.u32 %0, [%1], 1;" : "=r"(old) : "r"(p) : "memory");
			unsigned want = (old / warps + 1) * warps;
			do
				asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(now) : "r"(p) : "memory");
			while ((int)(now - want) < 0);
		}
		__syncwarp();
	}
	/* Every thread gives a value and reads that of the thread from says. */
	template <class T> __GOCUDA_CG T shfl(const T &v, unsigned from) const {
		static_assert(__is_trivially_copyable(T), "a shuffled type is copied byte by byte");
		static __shared__ __attribute__((aligned(16))) unsigned char all[1024 * sizeof(T)];
		T r;
		__builtin_memcpy(all + details::thread_in_block() * sizeof(T), &v, sizeof(T));
		sync();
		__builtin_memcpy(&r, all + (metaRank * Size + (from & (Size - 1))) * sizeof(T), sizeof(T));
		sync();
		return r;
	}
	/* The values that the last threads of the tile's warps give, in the order of the warps. */
	template <class T, class F> __GOCUDA_CG void warps(const T &v, F f) const {
		static_assert(__is_trivially_copyable(T), "values are copied byte by byte");
		static __shared__ __attribute__((aligned(16))) unsigned char last[32 * sizeof(T)];
		if (details::laneid() == 31) __builtin_memcpy(last + details::thread_in_block() / 32 * sizeof(T), &v, sizeof(T));
		sync();
		for (unsigned i = 0; i < Size / 32; i++) {
			T t;
			__builtin_memcpy(&t, last + (metaRank * (Size / 32) + i) * sizeof(T), sizeof(T));
			f(i, t);
		}
		sync();
	}
	__GOCUDA_CG int any(int p) const {
		int r = 0;
		warps(__any_sync(0xffffffffu, p), [&](unsigned, int t) { r |= t; });
		return r != 0;
	}
	__GOCUDA_CG int all(int p) const {
		int r = 1;
		warps(__all_sync(0xffffffffu, p), [&](unsigned, int t) { r &= t != 0; });
		return r;
	}
};
#define __GOCUDA_LARGE(n)                                                                                       \
	template <class Parent> class thread_block_tile<n, Parent> : public __gocuda_large_tile<n> {                \
	public:                                                                                                     \
		typedef Parent parent_type;                                                                             \
		__GOCUDA_CG explicit thread_block_tile(const Parent &p)                                                 \
			: __gocuda_large_tile<n>(p.thread_rank() / n, (p.num_threads() + n - 1) / n) {}                     \
	};
__GOCUDA_LARGE(64)
__GOCUDA_LARGE(128)
__GOCUDA_LARGE(256)
__GOCUDA_LARGE(512)
__GOCUDA_LARGE(1024)
#undef __GOCUDA_LARGE
template <unsigned Size, class Parent> class thread_block_tile : public thread_block_tile<Size, void> {
	template <unsigned S, class P> friend __GOCUDA_CG thread_block_tile<S, P> tiled_partition(const P &);
	__GOCUDA_CG explicit thread_block_tile(const Parent &p)
		: thread_block_tile<Size, void>(details::tile<Size>::lanes(), p.thread_rank() / Size,
										(p.num_threads() + Size - 1) / Size) {}

public:
	typedef Parent parent_type;
	__GOCUDA_CG operator thread_block_tile<Size, void>() const { return *this; }
};
template <unsigned Size, class Parent> __GOCUDA_CG thread_block_tile<Size, Parent> tiled_partition(const Parent &p) {
	return thread_block_tile<Size, Parent>(p);
}
__GOCUDA_CG coalesced_group tiled_partition(const coalesced_group &g, unsigned n) {
	unsigned rank = g.thread_rank(), part = rank / n, m = 0, i = 0;
	for (unsigned l = g.mask; l; l &= l - 1, i++)
		if (i / n == part) m |= l & -l;
	return coalesced_group(m, part, (g.size() + n - 1) / n);
}
__GOCUDA_CG thread_group tiled_partition(const thread_group &g, unsigned n) {
	unsigned first = details::laneid() & ~(n - 1);
	unsigned m = n >= 32 ? 0xffffffffu : ((1u << n) - 1) << first;
	return thread_group(details::of_lanes, m, (unsigned)g.thread_rank() / n, (g.num_threads() + n - 1) / n);
}
template <class G, class L> __GOCUDA_CG coalesced_group labeled_partition(const G &g, L label) {
	unsigned lanes = details::access::mask(g);
	unsigned group = __match_any_sync(lanes, label), rank = 0, n = 0;
	for (unsigned m = lanes; m;) {
		unsigned part = __shfl_sync(lanes, group, __ffs((int)m) - 1);
		if (part == group) rank = n;
		m &= ~part;
		n++;
	}
	return coalesced_group(group, rank, n);
}
template <class G> __GOCUDA_CG coalesced_group binary_partition(const G &g, bool p) { return labeled_partition(g, (int)p); }

class grid_group : public thread_group {
	__GOCUDA_CG grid_group() : thread_group(details::of_grid, 0, 0, 1) {}
	friend __GOCUDA_CG grid_group this_grid();

public:
	struct arrival_token {
		unsigned old;
	};
	__GOCUDA_CG bool is_valid() const { return details::grid_barrier() != nullptr; }
	__GOCUDA_CG void sync() const { barrier_wait(barrier_arrive()); }
	__GOCUDA_CG arrival_token barrier_arrive() const {
		if (!is_valid()) __trap(); /* not a cooperative launch */
		return arrival_token{details::grid_arrive()};
	}
	__GOCUDA_CG void barrier_wait(arrival_token &&t) const { details::grid_wait(t.old); }
	static __GOCUDA_CG dim3 dim_blocks() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
	static __GOCUDA_CG dim3 group_dim() { return dim_blocks(); }
	static __GOCUDA_CG dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
	static __GOCUDA_CG unsigned long long num_blocks() { return (unsigned long long)gridDim.x * gridDim.y * gridDim.z; }
	static __GOCUDA_CG unsigned long long block_rank() {
		return ((unsigned long long)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
	}
	static __GOCUDA_CG unsigned long long num_threads() { return num_blocks() * details::block_threads(); }
	static __GOCUDA_CG unsigned long long size() { return num_threads(); }
	static __GOCUDA_CG unsigned long long thread_rank() {
		return block_rank() * details::block_threads() + details::thread_in_block();
	}
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
	static __GOCUDA_CG dim3 dim_clusters() { return __clusterGridDimInClusters(); }
	static __GOCUDA_CG dim3 cluster_index() { return __clusterIdx(); }
	static __GOCUDA_CG unsigned long long num_clusters() {
		dim3 d = dim_clusters();
		return (unsigned long long)d.x * d.y * d.z;
	}
	static __GOCUDA_CG unsigned long long cluster_rank() {
		dim3 d = dim_clusters(), i = cluster_index();
		return ((unsigned long long)i.z * d.y + i.y) * d.x + i.x;
	}
#endif
};
__GOCUDA_CG grid_group this_grid() { return grid_group(); }

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
class cluster_group {
	__GOCUDA_CG cluster_group() {}
	friend __GOCUDA_CG cluster_group this_cluster();

public:
	typedef void parent_type;
	struct arrival_token {};
	static __GOCUDA_CG void sync() {
		__cluster_barrier_arrive();
		__cluster_barrier_wait();
	}
	static __GOCUDA_CG arrival_token barrier_arrive() {
		__cluster_barrier_arrive();
		return arrival_token();
	}
	static __GOCUDA_CG void barrier_wait() { __cluster_barrier_wait(); }
	static __GOCUDA_CG void barrier_wait(arrival_token &&) { __cluster_barrier_wait(); }
	static __GOCUDA_CG unsigned query_shared_rank(const void *p) { return __cluster_query_shared_rank(p); }
	template <class T> static __GOCUDA_CG T *map_shared_rank(T *p, int rank) {
		return (T *)__cluster_map_shared_rank((const void *)p, (unsigned)rank);
	}
	static __GOCUDA_CG dim3 block_index() { return __clusterRelativeBlockIdx(); }
	static __GOCUDA_CG unsigned block_rank() { return __clusterRelativeBlockRank(); }
	static __GOCUDA_CG dim3 dim_blocks() { return __clusterDim(); }
	static __GOCUDA_CG unsigned num_blocks() { return __clusterSizeInBlocks(); }
	static __GOCUDA_CG dim3 dim_threads() {
		dim3 d = __clusterDim();
		return dim3(d.x * blockDim.x, d.y * blockDim.y, d.z * blockDim.z);
	}
	static __GOCUDA_CG unsigned num_threads() { return num_blocks() * details::block_threads(); }
	static __GOCUDA_CG unsigned size() { return num_threads(); }
	static __GOCUDA_CG dim3 thread_index() {
		dim3 b = block_index();
		return dim3(b.x * blockDim.x + threadIdx.x, b.y * blockDim.y + threadIdx.y, b.z * blockDim.z + threadIdx.z);
	}
	static __GOCUDA_CG unsigned thread_rank() {
		return block_rank() * details::block_threads() + details::thread_in_block();
	}
};
__GOCUDA_CG cluster_group this_cluster() { return cluster_group(); }
#endif

/* The functions beside the members. */
template <class G> __GOCUDA_CG void sync(const G &g) { g.sync(); }
template <class G> __GOCUDA_CG auto thread_rank(const G &g) -> decltype(g.thread_rank()) { return g.thread_rank(); }
template <class G> __GOCUDA_CG auto group_size(const G &g) -> decltype(g.size()) { return g.size(); }

template <class G, class F, class... A> __GOCUDA_CG void invoke_one(const G &g, F &&f, A &&...a) {
	if (g.thread_rank() == 0) f((A &&)a...);
}
template <class G, class F, class... A>
__GOCUDA_CG auto invoke_one_broadcast(const G &g, F &&f, A &&...a) -> decltype(f((A &&)a...)) {
	decltype(f((A &&)a...)) r{};
	if (g.thread_rank() == 0) r = f((A &&)a...);
	return g.shfl(r, 0);
}

} // namespace cooperative_groups

#undef __GOCUDA_CG

#endif
#endif
