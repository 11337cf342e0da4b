// An open-addressing hash table: inserts and counts by compare and swap, then lookups.
#include "check.h"
#include <map>

const unsigned slots = 4096, empty = 0xffffffffu;

__device__ unsigned hash(unsigned k) {
	k ^= k >> 16;
	k *= 0x85ebca6b;
	k ^= k >> 13;
	k *= 0xc2b2ae35;
	return (k ^ k >> 16) & (slots - 1);
}
__global__ void insert(uint2 *table, const unsigned *keys, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	for (unsigned s = hash(keys[i]);; s = (s + 1) & (slots - 1)) {
		unsigned old = atomicCAS(&table[s].x, empty, keys[i]);
		if (old == empty || old == keys[i]) {
			atomicAdd(&table[s].y, 1);
			return;
		}
	}
}
__global__ void lookup(const uint2 *table, const unsigned *keys, unsigned *counts, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	counts[i] = 0;
	for (unsigned s = hash(keys[i]); table[s].x != empty; s = (s + 1) & (slots - 1))
		if (table[s].x == keys[i]) {
			counts[i] = table[s].y;
			return;
		}
}

int main() {
	const int n = 3000, queries = 2000;
	std::vector<unsigned> keys(n), asked(queries), got(queries);
	std::map<unsigned, unsigned> truth;
	unsigned seed = 61;
	for (unsigned &k : keys) truth[k = lcg(seed) % 2500 * 97]++;
	for (unsigned &k : asked) k = lcg(seed) % 4000 * 97;
	uint2 *table;
	unsigned *dk, *dc;
	std::vector<uint2> init(slots, make_uint2(empty, 0));
	CHECK(cudaMalloc(&table, slots * 8));
	CHECK(cudaMalloc(&dk, n * 4));
	CHECK(cudaMalloc(&dc, queries * 4));
	CHECK(cudaMemcpy(table, init.data(), slots * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dk, keys.data(), n * 4, cudaMemcpyHostToDevice));
	insert<<<(n + 127) / 128, 128>>>(table, dk, n);
	CHECK(cudaMemcpy(dk, asked.data(), queries * 4, cudaMemcpyHostToDevice));
	lookup<<<(queries + 127) / 128, 128>>>(table, dk, dc, queries);
	CHECK(cudaMemcpy(got.data(), dc, queries * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < queries; i++) {
		auto it = truth.find(asked[i]);
		ok &= got[i] == (it == truth.end() ? 0 : it->second);
	}
	return verdict(ok);
}
