// A histogram of bytes: bins per block in shared memory, then added up.
#include "check.h"

__global__ void histogram(const uchar4 *data, int n4, unsigned *bins) {
	__shared__ unsigned s[256];
	for (int i = threadIdx.x; i < 256; i += blockDim.x) s[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
		uchar4 v = data[i];
		atomicAdd(&s[v.x], 1);
		atomicAdd(&s[v.y], 1);
		atomicAdd(&s[v.z], 1);
		atomicAdd(&s[v.w], 1);
	}
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		if (s[i]) atomicAdd(&bins[i], s[i]);
}

int main() {
	const int n = 1 << 15;
	std::vector<unsigned char> h(n);
	std::vector<unsigned> want(256), got(256);
	unsigned seed = 44;
	for (auto &v : h) {
		v = (lcg(seed) & 127) + (lcg(seed) & 127);
		want[v]++;
	}
	unsigned char *d;
	unsigned *bins;
	CHECK(cudaMalloc(&d, n));
	CHECK(cudaMalloc(&bins, 1024));
	CHECK(cudaMemset(bins, 0, 1024));
	CHECK(cudaMemcpy(d, h.data(), n, cudaMemcpyHostToDevice));
	histogram<<<8, 128>>>((uchar4 *)d, n / 4, bins);
	CHECK(cudaMemcpy(got.data(), bins, 1024, cudaMemcpyDeviceToHost));
	return verdict(got == want);
}
