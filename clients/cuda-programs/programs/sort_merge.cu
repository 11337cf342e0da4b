// Merge sort from below: each thread merges two runs, or finds its place in the other run.
#include "check.h"
#include <algorithm>

__device__ int lower(const float *a, int n, float v) {
	int lo = 0, hi = n;
	while (lo < hi) {
		int m = (lo + hi) / 2;
		if (a[m] < v) lo = m + 1; else hi = m;
	}
	return lo;
}
__device__ int upper(const float *a, int n, float v) {
	int lo = 0, hi = n;
	while (lo < hi) {
		int m = (lo + hi) / 2;
		if (a[m] <= v) lo = m + 1; else hi = m;
	}
	return lo;
}
__global__ void merge(const float *in, float *out, int run, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	int pair = i / (2 * run) * 2 * run, mid = min(pair + run, n), end = min(pair + 2 * run, n);
	float v = in[i];
	int place = i < mid ? i + lower(in + mid, end - mid, v) : i - mid + pair + upper(in + pair, mid - pair, v);
	out[place] = v;
}

int main() {
	const int n = 3001;
	std::vector<float> h(n), got(n);
	unsigned seed = 12;
	for (float &v : h) v = (int)(lcg(seed) % 1000) / 8.0f - 60;
	float *a, *b;
	CHECK(cudaMalloc(&a, n * 4));
	CHECK(cudaMalloc(&b, n * 4));
	CHECK(cudaMemcpy(a, h.data(), n * 4, cudaMemcpyHostToDevice));
	for (int run = 1; run < n; run *= 2) {
		merge<<<(n + 127) / 128, 128>>>(a, b, run, n);
		std::swap(a, b);
	}
	CHECK(cudaMemcpy(got.data(), a, n * 4, cudaMemcpyDeviceToHost));
	std::sort(h.begin(), h.end());
	return verdict(got == h);
}
