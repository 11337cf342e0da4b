// Stream-ordered allocation: each stream's memory is allocated, used and freed in the stream.
#include "check.h"

__global__ void fill(unsigned *p, int n, unsigned key) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = i * key;
}
__global__ void fold(const unsigned *p, int n, unsigned *out) {
	__shared__ unsigned s[128];
	unsigned v = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x) v ^= p[i] + i;
	s[threadIdx.x] = v;
	for (int d = 64; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d) s[threadIdx.x] ^= s[threadIdx.x + d];
	}
	if (threadIdx.x == 0) *out = s[0];
}

int main() {
	int supported = 0;
	CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
	if (!supported) return verdict(false);
	const int streams = 4, n = 3000;
	cudaStream_t s[streams];
	unsigned *out, host[streams];
	CHECK(cudaMalloc(&out, sizeof host));
	for (int k = 0; k < streams; k++) CHECK(cudaStreamCreateWithFlags(&s[k], cudaStreamNonBlocking));
	for (int k = 0; k < streams; k++) {
		unsigned *p;
		CHECK(cudaMallocAsync(&p, n * sizeof(unsigned), s[k]));
		fill<<<(n + 255) / 256, 256, 0, s[k]>>>(p, n, 2654435761u + k);
		fold<<<1, 128, 0, s[k]>>>(p, n, out + k);
		CHECK(cudaFreeAsync(p, s[k]));
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int k = 0; k < streams; k++) {
		unsigned want = 0;
		for (int i = 0; i < n; i++) want ^= i * (2654435761u + k) + i;
		ok &= host[k] == want;
		CHECK(cudaStreamDestroy(s[k]));
	}
	cudaFree(out);
	return verdict(ok);
}
