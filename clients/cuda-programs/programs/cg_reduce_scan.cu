// cg::reduce, inclusive_scan and exclusive_scan with several operators and types.
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

__global__ void all(const int *in, int *out, float *fout, int n) {
	auto tile = cg::tiled_partition<32>(cg::this_thread_block());
	int i = threadIdx.x, v = in[i];
	out[0 * n + i] = cg::reduce(tile, v, cg::plus<int>());
	out[1 * n + i] = cg::reduce(tile, v, cg::less<int>());
	out[2 * n + i] = cg::reduce(tile, v, cg::greater<int>());
	out[3 * n + i] = cg::reduce(tile, v, cg::bit_xor<int>());
	out[4 * n + i] = cg::inclusive_scan(tile, v, cg::plus<int>());
	out[5 * n + i] = cg::exclusive_scan(tile, v);
	auto eight = cg::tiled_partition<8>(tile);
	out[6 * n + i] = cg::reduce(eight, v, [](int a, int b) { return a * 3 + b * 3; });
	out[7 * n + i] = cg::inclusive_scan(eight, v, cg::greater<int>());
	fout[i] = cg::reduce(tile, v * 0.5f, cg::plus<float>());
}

int main() {
	const int n = 64;
	int in[n], out[8][n], *din, *dout;
	float fout[n], *df;
	for (int i = 0; i < n; i++) in[i] = (i * 29 + 5) % 41 - 20;
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMalloc(&df, sizeof fout));
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	all<<<1, n>>>(din, dout, df, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(fout, df, sizeof fout, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int w = i / 32 * 32, e = i / 8 * 8, sum = 0, lo = 99, hi = -99, x = 0, before = 0, top = -99, esum = 0;
		for (int k = w; k < w + 32; k++) {
			sum += in[k];
			lo = std::min(lo, in[k]);
			hi = std::max(hi, in[k]);
			x ^= in[k];
			if (k < i) before += in[k];
		}
		for (int k = e; k < e + 8; k++) {
			esum += in[k] * 27; // three levels of a tree
			if (k <= i) top = std::max(top, in[k]);
		}
		ok &= out[0][i] == sum && out[1][i] == lo && out[2][i] == hi && out[3][i] == x && out[4][i] == before + in[i] && out[5][i] == before;
		ok &= out[6][i] == esum && out[7][i] == top && fout[i] == sum * 0.5f;
	}
	return verdict(ok);
}
