// Priorities and flags of streams; work in a stream of each priority.
#include "check.h"

__global__ void put(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }

int main() {
	int least = 1, greatest = 1;
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
	bool ok = least == 0 && greatest <= least;
	int *p;
	const int levels = least - greatest + 1;
	CHECK(cudaMalloc(&p, levels * 32 * sizeof(int)));
	std::vector<cudaStream_t> s(levels);
	for (int k = 0; k < levels; k++) {
		CHECK(cudaStreamCreateWithPriority(&s[k], cudaStreamNonBlocking, greatest + k));
		put<<<1, 32, 0, s[k]>>>(p + 32 * k, 1000 * k);
	}
	for (int k = 0; k < levels; k++) {
		int priority = 99;
		unsigned flags = 99;
		CHECK(cudaStreamGetPriority(s[k], &priority));
		CHECK(cudaStreamGetFlags(s[k], &flags));
		ok &= priority == greatest + k && flags == cudaStreamNonBlocking;
		CHECK(cudaStreamSynchronize(s[k]));
		CHECK(cudaStreamQuery(s[k]));
		int host[32];
		CHECK(cudaMemcpy(host, p + 32 * k, sizeof host, cudaMemcpyDeviceToHost));
		for (int i = 0; i < 32; i++) ok &= host[i] == 1000 * k + i;
	}
	// a priority out of range is moved into it
	cudaStream_t far;
	int priority = 99;
	CHECK(cudaStreamCreateWithPriority(&far, cudaStreamDefault, greatest - 100));
	CHECK(cudaStreamGetPriority(far, &priority));
	ok &= priority == greatest;
	CHECK(cudaStreamDestroy(far));
	for (auto x : s) CHECK(cudaStreamDestroy(x));
	cudaFree(p);
	return verdict(ok);
}
