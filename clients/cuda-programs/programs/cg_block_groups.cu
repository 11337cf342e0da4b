// Indices and sizes of block, grid and tile groups, in three dimensions; nested partitions; votes.
#include "check.h"
#include <cooperative_groups.h>

using namespace cooperative_groups;

__global__ void ranks(unsigned *out) {
	thread_block b = this_thread_block();
	grid_group g = this_grid();
	thread_block_tile<32> warp = tiled_partition<32>(b);
	thread_block_tile<4> quad = tiled_partition<4>(warp);
	unsigned long long rank = g.thread_rank();
	dim3 t = b.thread_index(), k = b.group_index();
	unsigned v = b.thread_rank() + 1000 * (t.x + 10 * t.y + 100 * t.z);
	out[rank * 4 + 0] = v;
	out[rank * 4 + 1] = k.x + 10 * k.y + 100 * b.size() + 100000 * (unsigned)g.size() / 1000;
	out[rank * 4 + 2] = warp.ballot(threadIdx.x % 2) ^ quad.meta_group_rank();
	out[rank * 4 + 3] = quad.shfl_xor(v, 3) + (quad.any(threadIdx.x == 2) ? 7 : 0);
	sync(b);
}

int main() {
	const dim3 grid(2, 3), block(4, 4, 4);
	const int n = 6 * 64;
	unsigned *dev, host[n][4];
	CHECK(cudaMalloc(&dev, sizeof host));
	ranks<<<grid, block>>>(dev);
	CHECK(cudaMemcpy(host, dev, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (unsigned i = 0; i < n; i++) {
		unsigned r = i % 64, b = i / 64;
		auto v = [](unsigned r) { return r + 1000 * (r % 4 + 10 * (r / 4 % 4) + 100 * (r / 16)); };
		ok &= host[i][0] == v(r);
		ok &= host[i][1] == b % 2 + 10 * (b / 2) + 6400 + 100000 * n / 1000;
		ok &= host[i][2] == (0xAAAAAAAAu ^ (r % 32 / 4));
		ok &= host[i][3] == v(r ^ 3) + 7;
	}
	return verdict(ok);
}
