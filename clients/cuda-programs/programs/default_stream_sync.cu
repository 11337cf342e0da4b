// The legacy default stream orders itself against blocking streams, not against non-blocking ones.
#include "check.h"

__global__ void add(int *p, int v) { atomicAdd(p + threadIdx.x, v); }
__global__ void mul(int *p, int v) { p[threadIdx.x] *= v; }

int main() {
	int *p, host[32];
	CHECK(cudaMalloc(&p, sizeof host));
	CHECK(cudaMemset(p, 0, sizeof host));
	cudaStream_t a, b;
	CHECK(cudaStreamCreate(&a));
	CHECK(cudaStreamCreate(&b));
	int want = 0;
	for (int i = 1; i <= 6; i++) {
		add<<<1, 32, 0, a>>>(p, i);
		mul<<<1, 32>>>(p, 3);              // after a's
		add<<<1, 32, 0, b>>>(p, 2 * i);    // after the default stream's
		mul<<<1, 32, 0, cudaStreamLegacy>>>(p, 2);
		want = ((want + i) * 3 + 2 * i) * 2;
	}
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int v : host) ok &= v == want;
	CHECK(cudaStreamDestroy(a));
	CHECK(cudaStreamDestroy(b));
	cudaFree(p);
	return verdict(ok);
}
