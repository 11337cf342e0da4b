// cudaLaunchKernelEx: a cluster of a size chosen at the launch, a cooperative launch, a priority.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void who(int *out) {
	cg::cluster_group c = cg::this_cluster();
	__shared__ int mine;
	if (threadIdx.x == 0) mine = blockIdx.x * 10;
	c.sync();
	int *next = c.map_shared_rank(&mine, (c.block_rank() + 1) % c.num_blocks());
	if (threadIdx.x == 0) out[blockIdx.x] = c.num_blocks() * 1000 + c.block_rank() * 100 + *next;
	c.sync();
}
__global__ void together(int *counter, int *out, int blocks) {
	cg::grid_group g = cg::this_grid();
	if (threadIdx.x == 0) atomicAdd(counter, blockIdx.x + 1);
	g.sync();
	out[g.thread_rank()] = *counter;
}

int main() {
	int *d, h[128];
	CHECK(cudaMalloc(&d, sizeof h + 4));
	bool ok = true;
	for (int size : {1, 2, 4, 8}) {
		cudaLaunchConfig_t config = {};
		config.gridDim = dim3(8);
		config.blockDim = dim3(32);
		cudaLaunchAttribute attribute[2];
		attribute[0].id = cudaLaunchAttributeClusterDimension;
		attribute[0].val.clusterDim.x = size;
		attribute[0].val.clusterDim.y = 1;
		attribute[0].val.clusterDim.z = 1;
		attribute[1].id = cudaLaunchAttributePriority;
		attribute[1].val.priority = 0;
		config.attrs = attribute;
		config.numAttrs = 2;
		CHECK(cudaLaunchKernelEx(&config, who, d));
		CHECK(cudaMemcpy(h, d, 8 * sizeof(int), cudaMemcpyDeviceToHost));
		for (int b = 0; b < 8; b++) {
			int rank = b % size, next = b - rank + (rank + 1) % size;
			ok &= h[b] == size * 1000 + rank * 100 + next * 10;
		}
		int most = 0;
		CHECK(cudaOccupancyMaxActiveClusters(&most, who, &config));
		ok &= most > 0;
	}
	int *counter = d + 128;
	CHECK(cudaMemset(counter, 0, 4));
	cudaLaunchConfig_t config = {};
	config.gridDim = 4;
	config.blockDim = 32;
	cudaLaunchAttribute cooperative;
	cooperative.id = cudaLaunchAttributeCooperative;
	cooperative.val.cooperative = 1;
	config.attrs = &cooperative;
	config.numAttrs = 1;
	CHECK(cudaLaunchKernelEx(&config, together, counter, d, 4));
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	for (int v : h) ok &= v == 10;
	return verdict(ok);
}
