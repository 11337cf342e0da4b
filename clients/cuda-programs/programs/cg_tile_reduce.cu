// Sums over tiles of every width, with the tile's shuffles.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <int W> __device__ int tile_sum(cg::thread_block_tile<W> tile, int v) {
	for (int d = tile.size() / 2; d > 0; d /= 2) v += tile.shfl_down(v, d);
	return tile.shfl(v, 0);
}

template <int W> __global__ void sums(const int *in, int *out, int *rank) {
	cg::thread_block block = cg::this_thread_block();
	auto tile = cg::tiled_partition<W>(block);
	int i = block.thread_rank();
	out[i] = tile_sum<W>(tile, in[i]);
	rank[i] = tile.meta_group_rank() * 100 + tile.thread_rank();
}

template <int W> static bool run(const int *host, int *dev) {
	const int n = 96;
	int out[2 * n];
	sums<W><<<1, n>>>(dev, dev + n, dev + 2 * n);
	CHECK(cudaMemcpy(out, dev + n, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int want = 0;
		for (int k = i / W * W; k < i / W * W + W; k++) want += host[k];
		ok &= out[i] == want && out[n + i] == i / W * 100 + i % W;
	}
	return ok;
}

int main() {
	int host[96], *dev;
	for (int i = 0; i < 96; i++) host[i] = i * i - 50 * i;
	CHECK(cudaMalloc(&dev, 3 * sizeof host));
	CHECK(cudaMemcpy(dev, host, sizeof host, cudaMemcpyHostToDevice));
	bool ok = run<32>(host, dev) && run<16>(host, dev) && run<8>(host, dev) && run<4>(host, dev) && run<2>(host, dev) && run<1>(host, dev);
	cudaFree(dev);
	return verdict(ok);
}
