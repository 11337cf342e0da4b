// Thread block clusters: a histogram whose bins are spread over the shared memory of the cluster's blocks.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

const int bins_per_block = 32;

__global__ void __cluster_dims__(4, 1, 1) histogram(const unsigned char *in, int n, int *out) {
	__shared__ int bins[bins_per_block];
	cg::cluster_group cluster = cg::this_cluster();
	for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x) bins[i] = 0;
	cluster.sync();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		int bin = in[i] % (4 * bins_per_block);
		int *remote = cluster.map_shared_rank(bins, bin / bins_per_block);
		atomicAdd(&remote[bin % bins_per_block], 1);
	}
	cluster.sync();
	for (int i = threadIdx.x; i < bins_per_block; i += blockDim.x)
		atomicAdd(&out[cluster.block_rank() * bins_per_block + i], bins[i]);
}

int main() {
	const int n = 6000, bins = 4 * bins_per_block;
	std::vector<unsigned char> in(n);
	std::vector<int> want(bins), got(bins);
	unsigned seed = 9;
	for (auto &v : in) {
		v = lcg(seed);
		want[v % bins]++;
	}
	unsigned char *din;
	int *dout;
	CHECK(cudaMalloc(&din, n));
	CHECK(cudaMalloc(&dout, bins * sizeof(int)));
	CHECK(cudaMemset(dout, 0, bins * sizeof(int)));
	CHECK(cudaMemcpy(din, in.data(), n, cudaMemcpyHostToDevice));
	histogram<<<8, 64>>>(din, n, dout);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(got.data(), dout, bins * sizeof(int), cudaMemcpyDeviceToHost));
	bool ok = got == want;
	histogram<<<6, 64>>>(din, n, dout); // no multiple of the cluster
	ok &= cudaGetLastError() != cudaSuccess;
	return verdict(ok);
}
