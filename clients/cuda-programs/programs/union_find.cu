// Connected components by hooking and pointer jumping with atomics.
#include "check.h"
#include <numeric>

__device__ int root(int *parent, int v) {
	int p;
	while ((p = ((volatile int *)parent)[v]) != v) v = p;
	return v;
}
__global__ void hook(int *parent, const int2 *edge, int m) {
	int e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= m) return;
	int a = edge[e].x, b = edge[e].y;
	for (;;) {
		a = root(parent, a);
		b = root(parent, b);
		if (a == b) break;
		if (a < b) {
			int t = a;
			a = b;
			b = t;
		}
		if (atomicCAS(&parent[a], a, b) == a) break; // the larger root hangs below the smaller one
	}
}
__global__ void flatten(int *parent, int n) {
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v < n) parent[v] = root(parent, v);
}

int main() {
	const int n = 1000, m = 700;
	std::vector<int2> edge(m);
	std::vector<int> parent(n), got(n);
	std::iota(parent.begin(), parent.end(), 0);
	unsigned seed = 37;
	for (auto &e : edge) e = make_int2(lcg(seed) % n, lcg(seed) % n);
	int *dp;
	int2 *de;
	CHECK(cudaMalloc(&dp, n * 4));
	CHECK(cudaMalloc(&de, m * 8));
	CHECK(cudaMemcpy(dp, parent.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(de, edge.data(), m * 8, cudaMemcpyHostToDevice));
	hook<<<(m + 63) / 64, 64>>>(dp, de, m);
	flatten<<<(n + 63) / 64, 64>>>(dp, n);
	CHECK(cudaMemcpy(got.data(), dp, n * 4, cudaMemcpyDeviceToHost));
	auto find = [&](int v) {
		while (parent[v] != v) v = parent[v] = parent[parent[v]];
		return v;
	};
	for (auto e : edge) {
		int a = find(e.x), b = find(e.y);
		parent[std::max(a, b)] = std::min(a, b);
	}
	bool ok = true;
	int components = 0;
	for (int v = 0; v < n; v++) {
		ok &= got[v] == find(v); // the root is the smallest vertex of the component
		components += got[v] == v;
	}
	printf("%d components\n", components);
	return verdict(ok);
}
