// Bitonic sort: steps within shared memory where they fit, across global memory where not.
#include "check.h"
#include <algorithm>

__global__ void step(unsigned *a, int j, int k) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, p = i ^ j;
	if (p > i) {
		unsigned x = a[i], y = a[p];
		if ((x > y) == ((i & k) == 0)) {
			a[i] = y;
			a[p] = x;
		}
	}
}
__global__ void steps_shared(unsigned *a, int from, int k) {
	__shared__ unsigned s[512];
	unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
	s[t] = a[i];
	for (int j = from; j > 0; j >>= 1) {
		__syncthreads();
		unsigned p = t ^ j, x = s[t], y = s[p];
		bool swap = p > t ? (x > y) == ((i & k) == 0) : (y > x) == ((i & k) == 0);
		__syncthreads();
		if (swap) s[t] = y;
	}
	__syncthreads();
	a[i] = s[t];
}

int main() {
	const int n = 1 << 12;
	std::vector<unsigned> h(n), got(n);
	unsigned seed = 6, *d;
	for (unsigned &v : h) v = lcg(seed) << 16 | lcg(seed);
	CHECK(cudaMalloc(&d, n * 4));
	CHECK(cudaMemcpy(d, h.data(), n * 4, cudaMemcpyHostToDevice));
	for (int k = 2; k <= n; k *= 2) {
		int j = k / 2;
		for (; j >= 512; j /= 2) step<<<n / 512, 512>>>(d, j, k);
		steps_shared<<<n / 512, 512>>>(d, j, k);
	}
	CHECK(cudaMemcpy(got.data(), d, n * 4, cudaMemcpyDeviceToHost));
	std::sort(h.begin(), h.end());
	return verdict(got == h);
}
