// Occupancy: blocks per multiprocessor, suggested block sizes, the effect of shared memory.
#include "check.h"

__global__ void small(float *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = p[i] * 2 + 1;
}
__global__ void greedy(float *p) {
	__shared__ float s[8192]; // 32 KiB
	s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	p[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

int main() {
	int blocks, more, grid, block, threads, warp;
	CHECK(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, 0));
	CHECK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, small, 256, 0));
	bool ok = blocks == threads / 256;
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&more, small, 1024, 0));
	EXPECT(more == threads / 1024);
	CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, greedy, 64, 0));
	int shared;
	CHECK(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerMultiprocessor, 0));
	printf("%d blocks of 32 KiB in %d\n", blocks, shared);
	EXPECT(blocks == shared / (32768 + 1024));
	CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, small, 0, 0));
	EXPECT(block >= warp);
	EXPECT(block % warp == 0);
	EXPECT(block <= 1024);
	EXPECT(grid > 0);
	CHECK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, small, [](int b) { return (size_t)b * 16; }, 512));
	EXPECT(block <= 512);
	EXPECT(block > 0);
	size_t dynamic = 0;
	CHECK(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, small, 2, 128));
	printf("%zu bytes\n", dynamic);
	EXPECT(dynamic == 48 << 10);
	const int n = 5000;
	std::vector<float> h(n, 3.0f);
	float *d;
	CHECK(cudaMalloc(&d, n * 4));
	CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
	small<<<(n + block - 1) / block, block>>>(d, n);
	CHECK(cudaMemcpy(h.data(), d, n * 4, cudaMemcpyDeviceToHost));
	for (float v : h) ok &= v == 7;
	return verdict(ok);
}
