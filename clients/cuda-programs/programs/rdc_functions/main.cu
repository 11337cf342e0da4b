// Separate compilation: kernels here call device functions of another file, which call back.
#include "../check.h"
#include "shared.cuh"

__device__ int helper(int v) { return v * v - 1; }

__global__ void run(const int *in, int *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		out[i] = far_away(in[i], i) + weight[i % 4];
		atomicAdd(&calls, 1);
	}
}

int main() {
	const int n = 300;
	int in[n], out[n], *d, w[4] = {1000, 2000, 3000, 4000}, count;
	for (int i = 0; i < n; i++) in[i] = i - 150;
	CHECK(cudaMalloc(&d, 2 * sizeof in));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(weight, w, sizeof w));
	run<<<3, 100>>>(d, d + n, n);
	CHECK(cudaMemcpy(out, d + n, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromSymbol(&count, calls, sizeof count));
	bool ok = count == 2 * n;
	for (int i = 0; i < n; i++) ok &= out[i] == (in[i] + i) * (in[i] + i) - 1 + 7 * in[i] + w[i % 4];
	return verdict(ok);
}
