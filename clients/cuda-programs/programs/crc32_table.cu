// CRC-32: the table is made on the device; pieces are hashed by threads and the host combines nothing but compares.
#include "check.h"
#include <cstdint>

__device__ uint32_t table[256];

__global__ void make_table() {
	uint32_t c = threadIdx.x;
	for (int k = 0; k < 8; k++) c = c & 1 ? 0xEDB88320u ^ c >> 1 : c >> 1;
	table[threadIdx.x] = c;
}
__global__ void crc(const unsigned char *data, const int *at, uint32_t *out, int n) {
	__shared__ uint32_t t[256];
	for (int i = threadIdx.x; i < 256; i += blockDim.x) t[i] = table[i];
	__syncthreads();
	int m = blockIdx.x * blockDim.x + threadIdx.x;
	if (m >= n) return;
	uint32_t c = ~0u;
	for (int i = at[m]; i < at[m + 1]; i++) c = t[(c ^ data[i]) & 255] ^ c >> 8;
	out[m] = ~c;
}

static uint32_t host(const unsigned char *p, int n) {
	uint32_t c = ~0u;
	for (int i = 0; i < n; i++) {
		c ^= p[i];
		for (int k = 0; k < 8; k++) c = c >> 1 ^ (c & 1 ? 0xEDB88320u : 0);
	}
	return ~c;
}

int main() {
	const int n = 100;
	std::vector<unsigned char> data = {'1', '2', '3', '4', '5', '6', '7', '8', '9'};
	std::vector<int> at = {0, 9};
	unsigned seed = 13;
	for (int m = 1; m < n; m++) {
		for (int k = lcg(seed) % 90; k > 0; k--) data.push_back(lcg(seed));
		at.push_back(data.size());
	}
	unsigned char *dd;
	int *da;
	uint32_t *dout, out[n];
	CHECK(cudaMalloc(&dd, data.size()));
	CHECK(cudaMalloc(&da, at.size() * 4));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(dd, data.data(), data.size(), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(da, at.data(), at.size() * 4, cudaMemcpyHostToDevice));
	make_table<<<1, 256>>>();
	crc<<<4, 32>>>(dd, da, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = out[0] == 0xCBF43926u;
	for (int m = 0; m < n; m++) ok &= out[m] == host(data.data() + at[m], at[m + 1] - at[m]);
	return verdict(ok);
}
