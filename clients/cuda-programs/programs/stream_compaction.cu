// Compaction that keeps order: ballots within warps, sums of blocks, offsets.
#include "check.h"

__global__ void count(const int *in, int *counts, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int c = __syncthreads_count(i < n && in[i] > 0);
	if (threadIdx.x == 0) counts[blockIdx.x] = c;
}
__global__ void offsets(int *counts, int blocks) {
	int sum = 0;
	for (int b = 0; b < blocks; b++) {
		int c = counts[b];
		counts[b] = sum;
		sum += c;
	}
	counts[blocks] = sum;
}
__global__ void compact(const int *in, int *out, const int *counts, int n) {
	__shared__ int warps[8];
	int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, w = threadIdx.x / 32;
	bool keep = i < n && in[i] > 0;
	unsigned votes = __ballot_sync(~0u, keep);
	if (lane == 0) warps[w] = __popc(votes);
	__syncthreads();
	int at = counts[blockIdx.x] + __popc(votes & ((1u << lane) - 1));
	for (int k = 0; k < w; k++) at += warps[k];
	if (keep) out[at] = in[i];
}

int main() {
	const int n = 7000, block = 256, blocks = (n + block - 1) / block;
	std::vector<int> in(n), want;
	unsigned seed = 71;
	for (int &v : in) {
		v = (int)(lcg(seed) % 1000) - 600;
		if (v > 0) want.push_back(v);
	}
	int *di, *dout, *dc, total = -1;
	CHECK(cudaMalloc(&di, n * 4));
	CHECK(cudaMalloc(&dout, n * 4));
	CHECK(cudaMalloc(&dc, (blocks + 1) * 4));
	CHECK(cudaMemcpy(di, in.data(), n * 4, cudaMemcpyHostToDevice));
	count<<<blocks, block>>>(di, dc, n);
	offsets<<<1, 1>>>(dc, blocks);
	compact<<<blocks, block>>>(di, dout, dc, n);
	CHECK(cudaMemcpy(&total, dc + blocks, 4, cudaMemcpyDeviceToHost));
	bool ok = total == (int)want.size();
	if (ok) {
		std::vector<int> got(total);
		CHECK(cudaMemcpy(got.data(), dout, total * 4, cudaMemcpyDeviceToHost));
		ok = got == want;
	}
	return verdict(ok);
}
