// Atomics with block and system scope; a counter in managed memory; a lock by compare and swap.
#include "check.h"

__device__ int lock, guarded[2];

__global__ void scopes(int *block, unsigned long long *system, float *f, int *m) {
	atomicAdd_block(block + blockIdx.x, (int)threadIdx.x);
	atomicMax_block(block + 8 + blockIdx.x, (int)(threadIdx.x * 7 % 32));
	atomicAdd_system(system, 1ull);
	atomicOr_system((unsigned *)(system + 1), 1u << threadIdx.x);
	atomicAdd_system(f, 0.25f);
	atomicCAS_system(m, 5, 6);
	if (threadIdx.x == 0) {
		while (atomicCAS(&lock, 0, 1) != 0) {}
		__threadfence();
		volatile int *g = guarded;
		int v = g[0];
		g[0] = v + 1;
		g[1] = g[1] + v;
		__threadfence();
		atomicExch(&lock, 0);
	}
}

int main() {
	const int blocks = 8, threads = 32;
	int *block, *m, host[16], g[2];
	unsigned long long *sys;
	float *f;
	CHECK(cudaMalloc(&block, sizeof host));
	CHECK(cudaMemset(block, 0, sizeof host));
	CHECK(cudaMallocManaged(&sys, 16));
	CHECK(cudaMallocManaged(&f, 4));
	CHECK(cudaMallocHost(&m, 4));
	sys[0] = 100;
	sys[1] = 0;
	*f = 1;
	*m = 5;
	scopes<<<blocks, threads>>>(block, sys, f, m);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host, block, sizeof host, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromSymbol(g, guarded, sizeof g));
	bool ok = sys[0] == 100 + blocks * threads && sys[1] == 0xffffffffu && *f == 1 + 0.25f * blocks * threads && *m == 6;
	for (int b = 0; b < blocks; b++) ok &= host[b] == 31 * 16 && host[8 + b] == 31;
	ok &= g[0] == blocks && g[1] == blocks * (blocks - 1) / 2;
	return verdict(ok);
}
