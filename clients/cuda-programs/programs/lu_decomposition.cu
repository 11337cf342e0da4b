// LU decomposition with partial pivoting and the solution of a system, one small kernel per step.
#include "check.h"

__global__ void pivot(double *a, int *perm, int n, int k) { // one warp finds the row with the largest element and swaps
	int best = k;
	double most = -1;
	for (int i = k + threadIdx.x; i < n; i += 32)
		if (fabs(a[i * n + k]) > most) {
			most = fabs(a[i * n + k]);
			best = i;
		}
	for (int d = 16; d; d /= 2) {
		double m = __shfl_xor_sync(~0u, most, d);
		int b = __shfl_xor_sync(~0u, best, d);
		if (m > most || (m == most && b < best)) {
			most = m;
			best = b;
		}
	}
	if (best != k)
		for (int j = threadIdx.x; j < n; j += 32) {
			double t = a[k * n + j];
			a[k * n + j] = a[best * n + j];
			a[best * n + j] = t;
		}
	if (threadIdx.x == 0) {
		int t = perm[k];
		perm[k] = perm[best];
		perm[best] = t;
	}
}
__global__ void scale(double *a, int n, int k) {
	int i = k + 1 + blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) a[i * n + k] /= a[k * n + k];
}
__global__ void eliminate(double *a, int n, int k) {
	int j = k + 1 + blockIdx.x * blockDim.x + threadIdx.x, i = k + 1 + blockIdx.y * blockDim.y + threadIdx.y;
	if (i < n && j < n) a[i * n + j] -= a[i * n + k] * a[k * n + j];
}

int main() {
	const int n = 48;
	std::vector<double> a(n * n), lu(n * n), x(n), b(n), y(n);
	std::vector<int> perm(n);
	unsigned seed = 19;
	for (double &v : a) v = (int)(lcg(seed) % 2001 - 1000) / 100.0;
	for (int i = 0; i < n; i++) {
		x[i] = i - 20;
		perm[i] = i;
	}
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) b[i] += a[i * n + j] * x[j];
	double *d;
	int *p;
	CHECK(cudaMalloc(&d, n * n * 8));
	CHECK(cudaMalloc(&p, n * 4));
	CHECK(cudaMemcpy(d, a.data(), n * n * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(p, perm.data(), n * 4, cudaMemcpyHostToDevice));
	for (int k = 0; k < n; k++) {
		pivot<<<1, 32>>>(d, p, n, k);
		scale<<<1, 64>>>(d, n, k);
		eliminate<<<dim3((n + 15) / 16, (n + 7) / 8), dim3(16, 8)>>>(d, n, k);
	}
	CHECK(cudaMemcpy(lu.data(), d, n * n * 8, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(perm.data(), p, n * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) { // P A = L U
			double s = 0;
			for (int k = 0; k <= std::min(i, j); k++) s += (k == i ? 1 : lu[i * n + k]) * lu[k * n + j];
			ok &= near(s, a[perm[i] * n + j], 1e-11);
			if (j < i) ok &= fabs(lu[i * n + j]) <= 1;
		}
	for (int i = 0; i < n; i++) {
		y[i] = b[perm[i]];
		for (int k = 0; k < i; k++) y[i] -= lu[i * n + k] * y[k];
	}
	for (int i = n - 1; i >= 0; i--) {
		for (int k = i + 1; k < n; k++) y[i] -= lu[i * n + k] * y[k];
		y[i] /= lu[i * n + i];
		ok &= near(y[i], x[i], 1e-8);
	}
	return verdict(ok);
}
