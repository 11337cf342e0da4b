// Three reductions of growing cunning: interleaved, sequential with two loads, and by warp shuffles.
#include "check.h"

__global__ void reduce0(const int *in, int *out, int n) {
	extern __shared__ int s[];
	int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
	s[t] = i < n ? in[i] : 0;
	__syncthreads();
	for (int d = 1; d < blockDim.x; d *= 2) {
		if (t % (2 * d) == 0) s[t] += s[t + d];
		__syncthreads();
	}
	if (t == 0) out[blockIdx.x] = s[0];
}
__global__ void reduce1(const int *in, int *out, int n) {
	extern __shared__ int s[];
	int t = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + t;
	s[t] = (i < n ? in[i] : 0) + (i + blockDim.x < n ? in[i + blockDim.x] : 0);
	for (int d = blockDim.x / 2; d > 0; d >>= 1) {
		__syncthreads();
		if (t < d) s[t] += s[t + d];
	}
	if (t == 0) out[blockIdx.x] = s[0];
}
template <int Threads> __global__ void reduce2(const int *in, int *out, int n) {
	__shared__ int s[Threads / 32];
	int t = threadIdx.x, v = 0;
	for (int i = blockIdx.x * Threads + t; i < n; i += gridDim.x * Threads) v += in[i];
	for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
	if (t % 32 == 0) s[t / 32] = v;
	__syncthreads();
	if (t < 32) {
		v = t < Threads / 32 ? s[t] : 0;
		for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);
		if (t == 0) out[blockIdx.x] = v;
	}
}

int main(int argc, char **argv) {
	int n = argc > 1 ? atoi(argv[1]) : 10000, sum = 0;
	std::vector<int> h(n);
	unsigned seed = 1;
	for (int &v : h) sum += v = (int)(lcg(seed) % 2000) - 1000;
	int *in, *out;
	const int threads = 128, most = (n + threads - 1) / threads;
	CHECK(cudaMalloc(&in, n * sizeof(int)));
	CHECK(cudaMalloc(&out, most * sizeof(int)));
	CHECK(cudaMemcpy(in, h.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	bool ok = true;
	for (int k = 0; k < 3; k++) {
		int blocks = k == 0 ? most : k == 1 ? (most + 1) / 2 : 7;
		if (k == 0) reduce0<<<blocks, threads, threads * sizeof(int)>>>(in, out, n);
		if (k == 1) reduce1<<<blocks, threads, threads * sizeof(int)>>>(in, out, n);
		if (k == 2) reduce2<threads><<<blocks, threads>>>(in, out, n);
		CHECK(cudaGetLastError());
		std::vector<int> part(blocks);
		CHECK(cudaMemcpy(part.data(), out, blocks * sizeof(int), cudaMemcpyDeviceToHost));
		int got = 0;
		for (int v : part) got += v;
		printf("reduce%d: %d\n", k, got);
		ok &= got == sum;
	}
	return verdict(ok);
}
