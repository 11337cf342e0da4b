#include "../check.h"

static __constant__ int factor;

static __global__ void kernel(int *p, int n) {
	int i = threadIdx.x;
	if (i < n) p[i] += factor + i % 5;
}

void other(int *p, int n, int f) {
	CHECK(cudaMemcpyToSymbol(factor, &f, sizeof f));
	kernel<<<2, n / 2>>>(p, 0);
	kernel<<<1, n>>>(p, n);
}
