// All shortest paths, with the way recorded; a few paths are walked and their lengths added.
#include "check.h"

const int far_away = 1 << 28;

__global__ void relax(int *dist, int *via, int n, int k) {
	int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
	if (j >= n) return;
	int d = dist[i * n + k] + dist[k * n + j];
	if (d < dist[i * n + j]) {
		dist[i * n + j] = d;
		via[i * n + j] = k;
	}
}

static int walk(const std::vector<int> &via, const std::vector<int> &edge, int n, int i, int j) {
	int k = via[i * n + j];
	return k < 0 ? edge[i * n + j] : walk(via, edge, n, i, k) + walk(via, edge, n, k, j);
}

int main() {
	const int n = 70;
	std::vector<int> edge(n * n, far_away), dist, via(n * n), got(n * n);
	unsigned seed = 5;
	for (int i = 0; i < n; i++) {
		edge[i * n + i] = 0;
		edge[i * n + (i + 1) % n] = 50;
		for (int k = 0; k < 4; k++) edge[i * n + lcg(seed) % n] = 1 + lcg(seed) % 100;
		edge[i * n + i] = 0;
	}
	dist = edge;
	int *dd, *dv;
	CHECK(cudaMalloc(&dd, n * n * 4));
	CHECK(cudaMalloc(&dv, n * n * 4));
	CHECK(cudaMemcpy(dd, edge.data(), n * n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dv, 0xff, n * n * 4));
	for (int k = 0; k < n; k++) relax<<<dim3((n + 31) / 32, n), 32>>>(dd, dv, n, k);
	CHECK(cudaMemcpy(got.data(), dd, n * n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(via.data(), dv, n * n * 4, cudaMemcpyDeviceToHost));
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++)
			for (int j = 0; j < n; j++) dist[i * n + j] = std::min(dist[i * n + j], dist[i * n + k] + dist[k * n + j]);
	bool ok = got == dist;
	for (int i = 0; i < n; i += 3)
		for (int j = 0; j < n; j += 5) ok &= walk(via, edge, n, i, j) == dist[i * n + j];
	return verdict(ok);
}
