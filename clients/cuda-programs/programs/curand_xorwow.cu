// The XORWOW generator in kernels: uniform numbers, their mean, and that states continue.
#include "check.h"
#include <curand_kernel.h>

__global__ void init(curandState *s, unsigned long long seed) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	curand_init(seed, i, 0, &s[i]);
}
__global__ void draw(curandState *s, float *sum, unsigned *first, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	curandState local = s[i];
	first[i] = curand(&local);
	float v = 0;
	for (int k = 0; k < n; k++) {
		float u = curand_uniform(&local);
		v += u > 0 && u <= 1 ? u : 1e9f;
	}
	sum[i] = v;
	s[i] = local;
}
// the same sequence, skipped to the place
__global__ void skipped(unsigned long long seed, unsigned *out, int offset) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	curandState s;
	curand_init(seed, i, offset, &s);
	out[i] = curand(&s);
}

int main() {
	const int n = 128, draws = 64;
	curandState *s;
	float *sum, hs[n];
	unsigned *first, a[n], b[n];
	CHECK(cudaMalloc(&s, n * sizeof *s));
	CHECK(cudaMalloc(&sum, sizeof hs));
	CHECK(cudaMalloc(&first, sizeof a));
	init<<<2, 64>>>(s, 1234);
	draw<<<2, 64>>>(s, sum, first, draws);
	CHECK(cudaMemcpy(hs, sum, sizeof hs, cudaMemcpyDeviceToHost));
	double mean = 0;
	for (float v : hs) mean += v;
	mean /= n * draws;
	printf("mean %f\n", mean);
	bool ok = fabs(mean - 0.5) < 0.02;
	draw<<<2, 64>>>(s, sum, first, 0); // one more number, after 1 + draws
	CHECK(cudaMemcpy(a, first, sizeof a, cudaMemcpyDeviceToHost));
	skipped<<<2, 64>>>(1234, first, 1 + draws);
	CHECK(cudaMemcpy(b, first, sizeof b, cudaMemcpyDeviceToHost));
	int different = 0;
	for (int i = 0; i < n; i++) {
		ok &= a[i] == b[i];
		different += i && a[i] != a[i - 1];
	}
	return verdict(ok && different > n - 5);
}
