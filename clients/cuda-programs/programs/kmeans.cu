// K-means clustering of points in the plane, until no point changes its cluster.
#include "check.h"

__global__ void assign(const float2 *p, const float2 *centre, int *cluster, int *changed, float *sum, int n, int k) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	int best = 0;
	float least = 1e30f;
	for (int c = 0; c < k; c++) {
		float dx = p[i].x - centre[c].x, dy = p[i].y - centre[c].y, d = dx * dx + dy * dy;
		if (d < least) {
			least = d;
			best = c;
		}
	}
	if (cluster[i] != best) {
		cluster[i] = best;
		*changed = 1;
	}
	atomicAdd(&sum[3 * best], p[i].x);
	atomicAdd(&sum[3 * best + 1], p[i].y);
	atomicAdd(&sum[3 * best + 2], 1.0f);
}
__global__ void update(float2 *centre, float *sum, int k) {
	int c = threadIdx.x;
	if (c >= k) return;
	float count = sum[3 * c + 2];
	if (count > 0) centre[c] = make_float2(sum[3 * c] / count, sum[3 * c + 1] / count);
	sum[3 * c] = sum[3 * c + 1] = sum[3 * c + 2] = 0;
}

int main() {
	const int n = 1500, k = 5;
	std::vector<float2> p(n);
	float2 at[k] = {{0, 0}, {10, 0}, {0, 10}, {10, 10}, {5, 20}}, start[k], got[k];
	std::vector<int> truth(n), cluster(n, -1);
	unsigned seed = 3;
	for (int i = 0; i < n; i++) { // steps of 1/8, so that sums are exact
		truth[i] = i % k;
		p[i] = make_float2(at[i % k].x + (int)(lcg(seed) % 25 - 12) / 8.0f, at[i % k].y + (int)(lcg(seed) % 25 - 12) / 8.0f);
	}
	for (int c = 0; c < k; c++) start[c] = p[c + 10 * k];
	float2 *dp, *dc;
	int *dcl, *dch, changed = 1, rounds = 0;
	float *ds;
	CHECK(cudaMalloc(&dp, n * 8));
	CHECK(cudaMalloc(&dc, sizeof start));
	CHECK(cudaMalloc(&dcl, n * 4));
	CHECK(cudaMalloc(&dch, 4));
	CHECK(cudaMalloc(&ds, k * 12));
	CHECK(cudaMemcpy(dp, p.data(), n * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dc, start, sizeof start, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dcl, 0xff, n * 4));
	CHECK(cudaMemset(ds, 0, k * 12));
	while (changed && rounds++ < 30) {
		CHECK(cudaMemset(dch, 0, 4));
		assign<<<(n + 127) / 128, 128>>>(dp, dc, dcl, dch, ds, n, k);
		update<<<1, 32>>>(dc, ds, k);
		CHECK(cudaMemcpy(&changed, dch, 4, cudaMemcpyDeviceToHost));
	}
	CHECK(cudaMemcpy(cluster.data(), dcl, n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got, dc, sizeof got, cudaMemcpyDeviceToHost));
	printf("%d rounds\n", rounds);
	bool ok = !changed && cluster == truth;
	for (int c = 0; c < k; c++) {
		double x = 0, y = 0;
		for (int i = c; i < n; i += k) {
			x += p[i].x;
			y += p[i].y;
		}
		ok &= near(got[c].x, x * k / n, 1e-5) && near(got[c].y, y * k / n, 1e-5);
	}
	return verdict(ok);
}
