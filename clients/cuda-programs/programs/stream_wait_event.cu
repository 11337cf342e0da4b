// Three streams hand a buffer on with events; each stage must see the one before.
#include "check.h"

__global__ void stage(int *p, int n, int mul, int add) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = p[i] * mul + add;
}

int main() {
	const int n = 2000, rounds = 5;
	int *p;
	CHECK(cudaMalloc(&p, n * sizeof(int)));
	cudaStream_t s[3];
	cudaEvent_t done[3];
	for (int k = 0; k < 3; k++) {
		CHECK(cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking));
		CHECK(cudaEventCreateWithFlags(&done[k], cudaEventDisableTiming));
	}
	CHECK(cudaMemsetAsync(p, 0, n * sizeof(int), s[0]));
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < 3; k++) {
			if (r + k > 0) CHECK(cudaStreamWaitEvent(s[k], done[(k + 2) % 3], 0));
			stage<<<(n + 127) / 128, 128, 0, s[k]>>>(p, n, k + 2, r * 3 + k + 1);
			CHECK(cudaEventRecord(done[k], s[k]));
		}
	std::vector<int> host(n);
	CHECK(cudaStreamSynchronize(s[2]));
	CHECK(cudaMemcpy(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
	unsigned want = 0;
	for (int r = 0; r < rounds; r++)
		for (int k = 0; k < 3; k++) want = want * (k + 2) + r * 3 + k + 1;
	bool ok = true;
	for (int v : host) ok &= (unsigned)v == want;
	for (int k = 0; k < 3; k++) {
		CHECK(cudaStreamDestroy(s[k]));
		CHECK(cudaEventDestroy(done[k]));
	}
	cudaFree(p);
	return verdict(ok);
}
