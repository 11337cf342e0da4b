// A message from block to block: data, fence, flag; the reader spins on a volatile flag.
#include "check.h"

__device__ volatile int flag[32];
__device__ int data[32][64];

__global__ void relay(int *out, int rounds) {
	int b = blockIdx.x, t = threadIdx.x;
	if (b > 0) {
		if (t == 0)
			while (flag[b - 1] == 0) {}
		__syncthreads();
		__threadfence();
	}
	data[b][t] = b == 0 ? t : ((volatile int *)data[b - 1])[t] * 2 + b;
	__threadfence();
	__syncthreads();
	if (t == 0) flag[b] = 1;
	if (b == gridDim.x - 1) out[t] = data[b][t];
	__threadfence_system();
}

int main() {
	const int blocks = 8;
	int *d, h[64];
	CHECK(cudaMalloc(&d, sizeof h));
	relay<<<blocks, 64>>>(d, 1);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int t = 0; t < 64; t++) {
		int v = t;
		for (int b = 1; b < blocks; b++) v = v * 2 + b;
		ok &= h[t] == v;
	}
	return verdict(ok);
}
