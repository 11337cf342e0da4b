// cub in a kernel: reductions, scans and merge sorts of warps.
#include "check.h"
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <algorithm>

struct Less { __device__ bool operator()(int a, int b) const { return a < b; } };

__global__ void warps(const int *in, int *sum, int *scan, int *sorted) {
	using Reduce = cub::WarpReduce<int>;
	using Scan = cub::WarpScan<int, 16>;
	using Sort = cub::WarpMergeSort<int, 2, 32>;
	__shared__ typename Reduce::TempStorage reduce[2];
	__shared__ typename Scan::TempStorage scans[4];
	__shared__ typename Sort::TempStorage sort[2];
	int t = threadIdx.x, v = in[t], s = 0;
	int total = Reduce(reduce[t / 32]).Sum(v);
	if (t % 32 == 0) sum[t / 32] = total;
	Scan(scans[t / 16]).InclusiveSum(v, s);
	scan[t] = s;
	int keys[2] = {v, v * 31 % 97};
	Sort(sort[t / 32]).Sort(keys, Less());
	sorted[2 * t] = keys[0];
	sorted[2 * t + 1] = keys[1];
}

int main() {
	const int n = 64;
	int h[n], sum[2], scan[n], sorted[2 * n], want[2 * n], *d;
	for (int i = 0; i < n; i++) h[i] = i * 53 % 101 - 30;
	CHECK(cudaMalloc(&d, (4 * n + 2) * 4));
	CHECK(cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice));
	warps<<<1, n>>>(d, d + n, d + n + 2, d + 2 * n + 2);
	CHECK(cudaMemcpy(sum, d + n, sizeof sum, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(scan, d + n + 2, sizeof scan, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(sorted, d + 2 * n + 2, sizeof sorted, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int w = 0; w < 2; w++) {
		int s = 0;
		for (int i = 32 * w; i < 32 * w + 32; i++) {
			s += h[i];
			want[2 * i] = h[i];
			want[2 * i + 1] = h[i] * 31 % 97;
		}
		ok &= sum[w] == s;
		std::sort(want + 64 * w, want + 64 * w + 64);
	}
	for (int i = 0, s = 0; i < n; i++) {
		s = i % 16 ? s + h[i] : h[i];
		ok &= scan[i] == s;
	}
	for (int i = 0; i < 2 * n; i++) ok &= sorted[i] == want[i];
	return verdict(ok);
}
