// Recursive device functions: Ackermann, quicksort, and n queens.
#include "check.h"
#include <algorithm>

__device__ int ackermann(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1)); }

__device__ void quicksort(int *a, int lo, int hi) {
	if (lo >= hi) return;
	int pivot = a[(lo + hi) / 2], i = lo, j = hi;
	while (i <= j) {
		while (a[i] < pivot) i++;
		while (a[j] > pivot) j--;
		if (i <= j) {
			int t = a[i];
			a[i++] = a[j];
			a[j--] = t;
		}
	}
	quicksort(a, lo, j);
	quicksort(a, i, hi);
}

__device__ int queens(int n, unsigned cols, unsigned left, unsigned right) {
	unsigned all = (1u << n) - 1, open = all & ~(cols | left | right);
	if (cols == all) return 1;
	int count = 0;
	while (open) {
		unsigned bit = open & -open;
		open ^= bit;
		count += queens(n, cols | bit, (left | bit) << 1, (right | bit) >> 1);
	}
	return count;
}

__global__ void run(int *ack, int *rows, int n, int *q) {
	int t = threadIdx.x;
	if (t < 3) ack[t] = ackermann(2, t + 1);
	quicksort(rows + t * n, 0, n - 1);
	if (t < 6) q[t] = queens(t + 1, 0, 0, 0);
}

int main() {
	const int threads = 16, n = 40;
	static int host[3 + threads * n + 6], got[3 + threads * n + 6];
	unsigned seed = 8;
	for (int &v : host) v = lcg(seed) % 500;
	int *d;
	CHECK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
	CHECK(cudaMalloc(&d, sizeof host));
	CHECK(cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice));
	run<<<1, threads>>>(d, d + 3, n, d + 3 + threads * n);
	CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
	bool ok = got[0] == 5 && got[1] == 7 && got[2] == 9;
	for (int t = 0; t < threads; t++) {
		std::sort(host + 3 + t * n, host + 3 + t * n + n);
		ok &= std::equal(host + 3 + t * n, host + 3 + t * n + n, got + 3 + t * n);
	}
	const int solutions[] = {1, 0, 0, 2, 10, 4};
	ok &= std::equal(solutions, solutions + 6, got + 3 + threads * n);
	return verdict(ok);
}
