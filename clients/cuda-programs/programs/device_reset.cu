// cudaDeviceReset ends all: memory is gone, variables have their first values again, work goes on.
#include "check.h"

__device__ int counter = 5;

__global__ void count(int *out) { *out = ++counter; }

static int run(int times) {
	int *d, h = 0;
	CHECK(cudaMalloc(&d, 4));
	for (int i = 0; i < times; i++) count<<<1, 1>>>(d);
	CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
	return h;
}

int main() {
	bool ok = run(3) == 8 && run(2) == 10;
	CHECK(cudaDeviceReset());
	ok &= run(1) == 6;
	CHECK(cudaDeviceReset());
	int v = -1;
	CHECK(cudaMemcpyFromSymbol(&v, counter, sizeof v));
	ok &= v == 5;
	CHECK(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
	ok &= run(4) == 9;
	return verdict(ok);
}
