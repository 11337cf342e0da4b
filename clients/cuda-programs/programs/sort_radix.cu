// Radix sort of keys with values, four bits at a time: counts, scan, stable scatter.
#include "check.h"
#include <algorithm>
#include <numeric>

const int threads = 64;

__global__ void count(const unsigned *key, int *counts, int shift, int n, int per) {
	int t = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x, c[16] = {};
	for (int i = t * per; i < min(n, (t + 1) * per); i++) c[key[i] >> shift & 15]++;
	for (int d = 0; d < 16; d++) counts[d * total + t] = c[d];
}
__global__ void prefix(int *counts, int n) { // one block
	__shared__ int s[256];
	int t = threadIdx.x, per = (n + 255) / 256, sum = 0;
	for (int i = t * per; i < min(n, (t + 1) * per); i++) sum += counts[i];
	s[t] = sum;
	for (int d = 1; d < 256; d *= 2) {
		__syncthreads();
		int v = t >= d ? s[t - d] : 0;
		__syncthreads();
		s[t] += v;
	}
	int before = s[t] - sum;
	for (int i = t * per; i < min(n, (t + 1) * per); i++) {
		int c = counts[i];
		counts[i] = before;
		before += c;
	}
}
__global__ void scatter(const unsigned *key, const int *value, unsigned *key2, int *value2, const int *starts, int shift, int n, int per) {
	int t = blockIdx.x * blockDim.x + threadIdx.x, total = gridDim.x * blockDim.x, at[16];
	for (int d = 0; d < 16; d++) at[d] = starts[d * total + t];
	for (int i = t * per; i < min(n, (t + 1) * per); i++) {
		int p = at[key[i] >> shift & 15]++;
		key2[p] = key[i];
		value2[p] = value[i];
	}
}

int main() {
	const int n = 5000, blocks = 4, per = (n + blocks * threads - 1) / (blocks * threads);
	std::vector<unsigned> key(n), got(n);
	std::vector<int> order(n), value(n);
	unsigned seed = 2, *k[2];
	for (unsigned &v : key) v = lcg(seed) % 700 * 40503u;
	std::iota(value.begin(), value.end(), 0);
	int *v[2], *counts;
	for (int i = 0; i < 2; i++) {
		CHECK(cudaMalloc(&k[i], n * 4));
		CHECK(cudaMalloc(&v[i], n * 4));
	}
	CHECK(cudaMalloc(&counts, 16 * blocks * threads * 4));
	CHECK(cudaMemcpy(k[0], key.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(v[0], value.data(), n * 4, cudaMemcpyHostToDevice));
	for (int pass = 0; pass < 8; pass++) {
		int a = pass & 1, b = 1 - a;
		count<<<blocks, threads>>>(k[a], counts, 4 * pass, n, per);
		prefix<<<1, 256>>>(counts, 16 * blocks * threads);
		scatter<<<blocks, threads>>>(k[a], v[a], k[b], v[b], counts, 4 * pass, n, per);
	}
	CHECK(cudaMemcpy(got.data(), k[0], n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(order.data(), v[0], n * 4, cudaMemcpyDeviceToHost));
	std::stable_sort(value.begin(), value.end(), [&](int a, int b) { return key[a] < key[b]; });
	std::sort(key.begin(), key.end());
	return verdict(got == key && order == value);
}
