// cub in a kernel: loads, reductions, scans and radix sorts of a block.
#include "check.h"
#include <algorithm>
#include <cub/cub.cuh>

const int threads = 64, items = 4, tile = threads * items;

__global__ void block(const int *in, int *sorted, int *scanned, int *sums) {
	using Load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
	using Store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
	using Sort = cub::BlockRadixSort<int, threads, items>;
	using Scan = cub::BlockScan<int, threads>;
	using Reduce = cub::BlockReduce<int, threads>;
	__shared__ union {
		typename Load::TempStorage load;
		typename Store::TempStorage store;
		typename Sort::TempStorage sort;
		typename Scan::TempStorage scan;
		typename Reduce::TempStorage reduce;
	} temp;
	int v[items], s[items], total;
	const int at = blockIdx.x * tile;
	Load(temp.load).Load(in + at, v);
	__syncthreads();
	Scan(temp.scan).ExclusiveSum(v, s, total);
	__syncthreads();
	Store(temp.store).Store(scanned + at, s);
	__syncthreads();
	int most = Reduce(temp.reduce).Reduce(v[0], [](int a, int b) { return a > b ? a : b; });
	__syncthreads();
	Sort(temp.sort).Sort(v);
	__syncthreads();
	Store(temp.store).Store(sorted + at, v);
	if (threadIdx.x == 0) {
		sums[2 * blockIdx.x] = total;
		sums[2 * blockIdx.x + 1] = most;
	}
}

int main() {
	const int blocks = 3, n = blocks * tile;
	std::vector<int> h(n), sorted(n), scanned(n), sums(2 * blocks);
	unsigned seed = 39;
	for (int &v : h) v = (int)(lcg(seed) % 5000) - 2500;
	int *d;
	CHECK(cudaMalloc(&d, (3 * n + 2 * blocks) * 4));
	CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
	block<<<blocks, threads>>>(d, d + n, d + 2 * n, d + 3 * n);
	CHECK(cudaMemcpy(sorted.data(), d + n, n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(scanned.data(), d + 2 * n, n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(sums.data(), d + 3 * n, sums.size() * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int b = 0; b < blocks; b++) {
		int sum = 0, most = -9999;
		for (int i = b * tile; i < (b + 1) * tile; i++) {
			ok &= scanned[i] == sum;
			sum += h[i];
			if ((i - b * tile) % items == 0) most = std::max(most, h[i]);
		}
		ok &= sums[2 * b] == sum && sums[2 * b + 1] == most;
		std::sort(h.begin() + b * tile, h.begin() + (b + 1) * tile);
	}
	return verdict(ok && sorted == h);
}
