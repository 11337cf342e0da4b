// PageRank by power iteration; ranks sum to one.
#include "check.h"

__global__ void spread(const int *start, const int *from, const int *degree, const float *rank, float *next, int n, float damping, float *dangling) {
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= n) return;
	float s = 0;
	for (int e = start[v]; e < start[v + 1]; e++) s += rank[from[e]] / degree[from[e]];
	next[v] = (1 - damping) / n + damping * (s + *dangling / n);
}
__global__ void lost(const int *degree, const float *rank, float *dangling, int n) {
	__shared__ float s;
	if (threadIdx.x == 0) s = 0;
	__syncthreads();
	for (int v = threadIdx.x; v < n; v += blockDim.x)
		if (degree[v] == 0) atomicAdd(&s, rank[v]);
	__syncthreads();
	if (threadIdx.x == 0) *dangling = s;
}

int main() {
	const int n = 400, rounds = 30;
	std::vector<std::vector<int>> in(n);
	std::vector<int> degree(n), start(n + 1), from;
	unsigned seed = 51;
	for (int v = 0; v < n; v++)
		for (int k = v % 10 == 0 ? 0 : 1 + lcg(seed) % 6; k > 0; k--) {
			int to = lcg(seed) % n * (lcg(seed) % n) / n;
			in[to].push_back(v);
			degree[v]++;
		}
	for (int v = 0; v < n; v++) {
		start[v] = from.size();
		from.insert(from.end(), in[v].begin(), in[v].end());
	}
	start[n] = from.size();
	std::vector<float> rank(n, 1.0f / n), got(n);
	std::vector<double> a(n, 1.0 / n), b(n);
	int *ds, *df, *dd;
	float *x, *y, *dangling;
	CHECK(cudaMalloc(&ds, start.size() * 4));
	CHECK(cudaMalloc(&df, from.size() * 4));
	CHECK(cudaMalloc(&dd, n * 4));
	CHECK(cudaMalloc(&x, n * 4));
	CHECK(cudaMalloc(&y, n * 4));
	CHECK(cudaMalloc(&dangling, 4));
	CHECK(cudaMemcpy(ds, start.data(), start.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(df, from.data(), from.size() * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dd, degree.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(x, rank.data(), n * 4, cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++) {
		lost<<<1, 128>>>(dd, x, dangling, n);
		spread<<<(n + 63) / 64, 64>>>(ds, df, dd, x, y, n, 0.85f, dangling);
		std::swap(x, y);
		double loose = 0;
		for (int v = 0; v < n; v++) loose += degree[v] ? 0 : a[v];
		for (int v = 0; v < n; v++) {
			double s = 0;
			for (int u : in[v]) s += a[u] / degree[u];
			b[v] = 0.15 / n + 0.85 * (s + loose / n);
		}
		std::swap(a, b);
	}
	CHECK(cudaMemcpy(got.data(), x, n * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	double sum = 0;
	for (int v = 0; v < n; v++) {
		ok &= fabs(got[v] - a[v]) < 1e-5 * fmax(a[v], 0.01);
		sum += got[v];
	}
	return verdict(ok && fabs(sum - 1) < 1e-4);
}
