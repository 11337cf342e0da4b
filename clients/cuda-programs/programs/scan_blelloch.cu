// Work-efficient exclusive prefix sums over many blocks: sums of blocks are scanned, and added.
#include "check.h"

const int block = 256;

__global__ void scan_block(const unsigned *in, unsigned *out, unsigned *sums, int n) {
	__shared__ unsigned s[2 * block];
	int t = threadIdx.x, base = blockIdx.x * 2 * block;
	s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
	s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
	int offset = 1;
	for (int d = block; d > 0; d >>= 1) {
		__syncthreads();
		if (t < d) s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
		offset *= 2;
	}
	if (t == 0) {
		if (sums) sums[blockIdx.x] = s[2 * block - 1];
		s[2 * block - 1] = 0;
	}
	for (int d = 1; d <= block; d *= 2) {
		offset >>= 1;
		__syncthreads();
		if (t < d) {
			int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
			unsigned v = s[a];
			s[a] = s[b];
			s[b] += v;
		}
	}
	__syncthreads();
	if (base + 2 * t < n) out[base + 2 * t] = s[2 * t];
	if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = s[2 * t + 1];
}
__global__ void add(unsigned *out, const unsigned *sums, int n) {
	int i = blockIdx.x * 2 * block + threadIdx.x;
	if (i < n) out[i] += sums[blockIdx.x];
	if (i + block < n) out[i + block] += sums[blockIdx.x];
}

static void scan(const unsigned *in, unsigned *out, int n) {
	int blocks = (n + 2 * block - 1) / (2 * block);
	unsigned *sums = nullptr;
	if (blocks > 1) CHECK(cudaMalloc(&sums, blocks * sizeof(unsigned)));
	scan_block<<<blocks, block>>>(in, out, sums, n);
	if (blocks == 1) return;
	scan(sums, sums, blocks);
	add<<<blocks, block>>>(out, sums, n);
	CHECK(cudaFree(sums));
}

int main() {
	bool ok = true;
	for (int n : {1, 511, 512, 513, 20000}) {
		std::vector<unsigned> h(n), got(n);
		unsigned seed = n, sum = 0, *in, *out;
		for (unsigned &v : h) v = lcg(seed);
		CHECK(cudaMalloc(&in, n * 4));
		CHECK(cudaMalloc(&out, n * 4));
		CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
		scan(in, out, n);
		CHECK(cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++) {
			ok &= got[i] == sum;
			sum += h[i];
		}
		CHECK(cudaFree(in));
		CHECK(cudaFree(out));
	}
	return verdict(ok);
}
