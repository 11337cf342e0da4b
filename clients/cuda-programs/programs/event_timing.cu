// Events: times between them are not negative and add up; queries; errors of events that were not recorded.
#include "check.h"

__global__ void spin(int *p, int turns) {
	int v = threadIdx.x;
	for (int i = 0; i < turns; i++) v = v * 1103515245 + 12345;
	p[threadIdx.x] = v;
}

int main() {
	cudaEvent_t a, b, c, quiet;
	CHECK(cudaEventCreate(&a));
	CHECK(cudaEventCreateWithFlags(&b, cudaEventBlockingSync));
	CHECK(cudaEventCreate(&c));
	CHECK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming));
	int *p;
	CHECK(cudaMalloc(&p, 128));
	CHECK(cudaEventRecord(a));
	spin<<<1, 32>>>(p, 1000);
	CHECK(cudaEventRecord(b));
	spin<<<1, 32>>>(p, 3000);
	CHECK(cudaEventRecord(c, 0));
	CHECK(cudaEventRecord(quiet));
	CHECK(cudaEventSynchronize(c));
	CHECK(cudaEventQuery(a));
	float ab = -1, bc = -1, ac = -1, none;
	CHECK(cudaEventElapsedTime(&ab, a, b));
	CHECK(cudaEventElapsedTime(&bc, b, c));
	CHECK(cudaEventElapsedTime(&ac, a, c));
	bool ok = ab >= 0 && bc >= 0 && ac >= 0 && fabsf(ac - (ab + bc)) <= 0.01f + 0.01f * ac;
	CHECK(cudaEventSynchronize(quiet));
	ok &= cudaEventElapsedTime(&none, a, quiet) == cudaErrorInvalidResourceHandle;
	cudaGetLastError();
	int host[32];
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	for (int t = 0; t < 32; t++) {
		unsigned v = t;
		for (int i = 0; i < 3000; i++) v = v * 1103515245u + 12345u;
		ok &= (unsigned)host[t] == v;
	}
	CHECK(cudaEventDestroy(a));
	CHECK(cudaEventDestroy(b));
	CHECK(cudaEventDestroy(c));
	CHECK(cudaEventDestroy(quiet));
	return verdict(ok);
}
