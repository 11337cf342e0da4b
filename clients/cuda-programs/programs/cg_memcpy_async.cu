// cg::memcpy_async moves tiles of global memory to shared memory ahead of their use.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>

namespace cg = cooperative_groups;

const int tile = 128;

__global__ void smooth(const int *in, int *out, int tiles) {
	__shared__ __align__(16) int buffer[tile];
	auto block = cg::this_thread_block();
	for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
		cg::memcpy_async(block, buffer, in + t * tile, sizeof(int) * tile);
		cg::wait(block);
		int i = threadIdx.x;
		out[t * tile + i] = buffer[i] + buffer[(i + 1) % tile] * 2 + buffer[(i + tile - 1) % tile] * 3;
		block.sync();
	}
}

int main() {
	const int tiles = 9, n = tiles * tile;
	std::vector<int> in(n), out(n);
	for (int i = 0; i < n; i++) in[i] = i * i % 977;
	int *din, *dout;
	CHECK(cudaMalloc(&din, n * sizeof(int)));
	CHECK(cudaMalloc(&dout, n * sizeof(int)));
	CHECK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	smooth<<<4, tile>>>(din, dout, tiles);
	CHECK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int b = i / tile * tile, k = i % tile;
		ok &= out[i] == in[i] + in[b + (k + 1) % tile] * 2 + in[b + (k + tile - 1) % tile] * 3;
	}
	return verdict(ok);
}
