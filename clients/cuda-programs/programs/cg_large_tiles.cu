// Tiles of several warps: sync, reduce, any and all, two sizes at once; conversions between the formats of 16 bits.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace cg = cooperative_groups;

template <unsigned N> __global__ void tiles(int *sums, double *largest, int *votes) {
	__shared__ cg::block_tile_memory<1024> memory;
	auto block = cg::this_thread_block(memory);
	auto tile = cg::tiled_partition<N>(block);
	auto half = cg::tiled_partition<N / 2>(block);
	int t = block.thread_rank();
	sums[t] = cg::reduce(tile, t * t, cg::plus<int>());
	double most = cg::reduce(tile, (double)(t * 37 % 101), cg::greater<double>());
	largest[t] = most + cg::reduce(half, t, cg::plus<int>());
	votes[t] = tile.any(t == 70) | tile.all(t < 200) << 1;
	tile.sync();
	half.sync();
}

__global__ void formats(float *out) {
	__nv_bfloat16 b = __float2bfloat16(2.75f);
	__half h = __half(b);
	out[0] = (float)h;
	out[1] = (float)__nv_bfloat16(h);
	out[2] = (float)static_cast<__half>(__nv_bfloat16(-3.5f));
}

template <unsigned N> static bool run() {
	const int n = 256;
	int *sums, *votes, s[n], v[n];
	double *largest, d[n];
	CHECK(cudaMalloc(&sums, sizeof s));
	CHECK(cudaMalloc(&votes, sizeof v));
	CHECK(cudaMalloc(&largest, sizeof d));
	tiles<N><<<1, n>>>(sums, largest, votes);
	CHECK(cudaMemcpy(s, sums, sizeof s, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(v, votes, sizeof v, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(d, largest, sizeof d, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int t = 0; t < n; t++) {
		int first = t / N * N, sum = 0, of_half = 0;
		double most = 0;
		for (int i = first; i < first + (int)N; i++) {
			sum += i * i;
			most = std::fmax(most, i * 37 % 101);
			if (i / (N / 2) == t / (N / 2)) of_half += i;
		}
		EXPECT(s[t] == sum);
		EXPECT(d[t] == most + of_half);
		EXPECT(v[t] == ((first <= 70 && 70 < first + (int)N) | (first + (int)N <= 200) << 1));
	}
	return ok;
}

int main() {
	bool ok = run<64>() & run<128>() & run<256>();
	float *f, h[3];
	CHECK(cudaMalloc(&f, sizeof h));
	formats<<<1, 1>>>(f);
	CHECK(cudaMemcpy(h, f, sizeof h, cudaMemcpyDeviceToHost));
	return verdict(ok && h[0] == 2.75f && h[1] == 2.75f && h[2] == -3.5f);
}
