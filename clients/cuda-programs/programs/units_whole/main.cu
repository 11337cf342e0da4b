// Two translation units without -rdc: each has a kernel and a variable of the same name, of its own.
#include "../check.h"

void other(int *p, int n, int factor);

static __constant__ int factor;

static __global__ void kernel(int *p, int n) {
	int i = threadIdx.x;
	if (i < n) p[i] = i * factor;
}

int main() {
	const int n = 64;
	int *p, host[n], f = 3;
	CHECK(cudaMalloc(&p, sizeof host));
	CHECK(cudaMemcpyToSymbol(factor, &f, sizeof f));
	kernel<<<1, n>>>(p, n);
	other(p, n, 100);
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= host[i] == i * 3 + 100 + i % 5;
	return verdict(ok);
}
