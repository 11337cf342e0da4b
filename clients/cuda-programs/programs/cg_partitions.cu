// Labeled and binary partitions of a tile.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void split(const int *label, int *out) {
	auto tile = cg::tiled_partition<32>(cg::this_thread_block());
	int i = threadIdx.x;
	cg::coalesced_group same = cg::labeled_partition(tile, label[i]);
	cg::coalesced_group half = cg::binary_partition(tile, label[i] > 2);
	int first = same.shfl(i, 0);                       // the lowest thread with this label
	int last = same.shfl(i, same.size() - 1);
	out[i * 4 + 0] = same.size() * 1000 + same.thread_rank();
	out[i * 4 + 1] = first * 100 + last % 32;
	out[i * 4 + 2] = half.size() * 1000 + half.thread_rank();
	out[i * 4 + 3] = half.any(i % 32 == 31) + 2 * half.all(label[i] > 2);
}

int main() {
	const int n = 128;
	int label[n], out[n][4], *dl, *dout;
	unsigned seed = 11;
	for (int &l : label) l = lcg(seed) % 6;
	CHECK(cudaMalloc(&dl, sizeof label));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(dl, label, sizeof label, cudaMemcpyHostToDevice));
	split<<<1, n>>>(dl, dout);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int w = i / 32 * 32, size = 0, rank = 0, first = -1, last = 0, half = 0, hrank = 0;
		for (int k = w; k < w + 32; k++) {
			if (label[k] == label[i]) {
				size++;
				rank += k < i;
				if (first < 0) first = k;
				last = k;
			}
			if ((label[k] > 2) == (label[i] > 2)) {
				half++;
				hrank += k < i;
			}
		}
		bool big = label[i] > 2, any = (label[w + 31] > 2) == big;
		ok &= out[i][0] == size * 1000 + rank && out[i][1] == first * 100 + last % 32;
		ok &= out[i][2] == half * 1000 + hrank && out[i][3] == any + 2 * big;
	}
	return verdict(ok);
}
