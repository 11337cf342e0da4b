// Coalesced groups aggregate the atomics of a filter: one atomic for the threads that are there.
#include "check.h"
#include <cooperative_groups.h>
#include <algorithm>

namespace cg = cooperative_groups;

__device__ int aggregated_increment(int *counter) {
	cg::coalesced_group g = cg::coalesced_threads();
	int base = 0;
	if (g.thread_rank() == 0) base = atomicAdd(counter, g.size());
	return g.shfl(base, 0) + g.thread_rank();
}

__global__ void filter(const int *in, int *out, int *counter, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && in[i] % 3 == 0) out[aggregated_increment(counter)] = in[i];
}

int main() {
	const int n = 5000;
	std::vector<int> in(n), want;
	unsigned seed = 3;
	for (int &v : in) {
		v = lcg(seed);
		if (v % 3 == 0) want.push_back(v);
	}
	int *din, *dout, *counter, count;
	CHECK(cudaMalloc(&din, n * sizeof(int)));
	CHECK(cudaMalloc(&dout, n * sizeof(int)));
	CHECK(cudaMalloc(&counter, sizeof(int)));
	CHECK(cudaMemset(counter, 0, sizeof(int)));
	CHECK(cudaMemset(dout, 0xff, n * sizeof(int)));
	CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	filter<<<(n + 127) / 128, 128>>>(din, dout, counter, n);
	CHECK(cudaMemcpy(&count, counter, sizeof count, cudaMemcpyDeviceToHost));
	bool ok = count == (int)want.size();
	std::vector<int> got(want.size());
	CHECK(cudaMemcpy(got.data(), dout, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
	std::sort(got.begin(), got.end());
	std::sort(want.begin(), want.end());
	ok &= got == want;
	return verdict(ok);
}
