// Breadth-first search on a graph in compressed rows, level by level with queues.
#include "check.h"
#include <queue>

__global__ void expand(const int *start, const int *edge, int *dist, const int *queue, int size, int *next, int *count, int level) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= size) return;
	int v = queue[i];
	for (int e = start[v]; e < start[v + 1]; e++)
		if (atomicCAS(&dist[edge[e]], -1, level) == -1) next[atomicAdd(count, 1)] = edge[e];
}

int main() {
	const int n = 2000;
	std::vector<int> start(n + 1), edge, dist(n, -1), got(n);
	unsigned seed = 23;
	for (int v = 0; v < n; v++) {
		start[v] = edge.size();
		for (int k = lcg(seed) % 5; k >= 0; k--) edge.push_back(lcg(seed) % 3 ? (v * 7 + lcg(seed) % 50) % n : lcg(seed) % n);
	}
	start[n] = edge.size();
	std::queue<int> q;
	q.push(0);
	dist[0] = 0;
	while (!q.empty()) {
		int v = q.front();
		q.pop();
		for (int e = start[v]; e < start[v + 1]; e++)
			if (dist[edge[e]] < 0) {
				dist[edge[e]] = dist[v] + 1;
				q.push(edge[e]);
			}
	}
	int *ds, *de, *dd, *a, *b, *count, size = 1, level = 0;
	CHECK(cudaMalloc(&ds, start.size() * 4));
	CHECK(cudaMalloc(&de, edge.size() * 4));
	CHECK(cudaMalloc(&dd, n * 4));
	CHECK(cudaMalloc(&a, n * 4));
	CHECK(cudaMalloc(&b, n * 4));
	CHECK(cudaMalloc(&count, 4));
	CHECK(cudaMemcpy(ds, start.data(), start.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(de, edge.data(), edge.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dd, 0xff, n * 4));
	CHECK(cudaMemset(dd, 0, 4));
	CHECK(cudaMemset(a, 0, 4));
	while (size > 0) {
		CHECK(cudaMemset(count, 0, 4));
		expand<<<(size + 63) / 64, 64>>>(ds, de, dd, a, size, b, count, ++level);
		CHECK(cudaMemcpy(&size, count, 4, cudaMemcpyDeviceToHost));
		std::swap(a, b);
	}
	CHECK(cudaMemcpy(got.data(), dd, n * 4, cudaMemcpyDeviceToHost));
	printf("%d levels\n", level);
	return verdict(got == dist);
}
