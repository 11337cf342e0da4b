// __syncthreads_count, _and and _or; barriers in loops that all threads take.
#include "check.h"

__global__ void run(const int *in, int *out) {
	int i = threadIdx.x, v = in[blockIdx.x * blockDim.x + i];
	int count = __syncthreads_count(v > 50);
	int all = __syncthreads_and(v < 100);
	int any = __syncthreads_or(v == 77);
	__shared__ int ring[96];
	ring[i] = v;
	for (int r = 0; r < 5; r++) {
		__syncthreads();
		int t = ring[(i + 1) % blockDim.x];
		__syncthreads();
		ring[i] = t;
	}
	int *o = out + (blockIdx.x * blockDim.x + i) * 2;
	o[0] = count * 4 + (all != 0) * 2 + (any != 0);
	o[1] = ring[i];
}

int main() {
	const int block = 96, blocks = 6, n = block * blocks;
	int in[n], out[n][2], *d, *o;
	for (int i = 0; i < n; i++) in[i] = i * 31 % (70 + i / block * 10);
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	run<<<blocks, block>>>(d, o);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int b = 0; b < blocks; b++) {
		int count = 0, all = 1, any = 0, *p = in + b * block;
		for (int i = 0; i < block; i++) {
			count += p[i] > 50;
			all &= p[i] < 100;
			any |= p[i] == 77;
		}
		for (int i = 0; i < block; i++) ok &= out[b * block + i][0] == count * 4 + all * 2 + any && out[b * block + i][1] == p[(i + 5) % block];
	}
	return verdict(ok);
}
