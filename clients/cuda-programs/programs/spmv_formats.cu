// Sparse matrix times vector: compressed rows by thread and by warp, ELL, and coordinates with atomics.
#include "check.h"

__global__ void csr_thread(const int *start, const int *col, const double *val, const double *x, double *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	double s = 0;
	for (int e = start[i]; e < start[i + 1]; e++) s += val[e] * x[col[e]];
	y[i] = s;
}
__global__ void csr_warp(const int *start, const int *col, const double *val, const double *x, double *y, int n) {
	int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (row >= n) return;
	double s = 0;
	for (int e = start[row] + lane; e < start[row + 1]; e += 32) s += val[e] * x[col[e]];
	for (int d = 16; d; d /= 2) s += __shfl_down_sync(~0u, s, d);
	if (lane == 0) y[row] = s;
}
__global__ void ell(const int *col, const double *val, const double *x, double *y, int n, int width) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	double s = 0;
	for (int k = 0; k < width; k++) {
		int c = col[k * n + i];
		if (c >= 0) s += val[k * n + i] * x[c];
	}
	y[i] = s;
}
__global__ void coo(const int *row, const int *col, const double *val, const double *x, double *y, int nnz) {
	int e = blockIdx.x * blockDim.x + threadIdx.x;
	if (e < nnz) atomicAdd(&y[row[e]], val[e] * x[col[e]]);
}

template <class T> static T *upload(const std::vector<T> &v) {
	T *d;
	CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
	CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
	return d;
}

int main() {
	const int n = 300, width = 12;
	std::vector<int> start(n + 1), col, row, ecol(n * width, -1);
	std::vector<double> val, x(n), want(n), got(n), eval(n * width);
	unsigned seed = 29;
	for (int i = 0; i < n; i++) {
		x[i] = i % 9 - 4;
		start[i] = val.size();
		int count = i == 7 ? 0 : 1 + lcg(seed) % width;
		for (int k = 0; k < count; k++) {
			col.push_back(lcg(seed) % n);
			row.push_back(i);
			val.push_back((int)(lcg(seed) % 33) - 16);
			ecol[k * n + i] = col.back();
			eval[k * n + i] = val.back();
		}
	}
	int nnz = start[n] = val.size();
	for (int e = 0; e < nnz; e++) want[row[e]] += val[e] * x[col[e]];
	int *ds = upload(start), *dc = upload(col), *dr = upload(row), *de = upload(ecol);
	double *dv = upload(val), *dx = upload(x), *dev = upload(eval), *y = upload(got);
	bool ok = true;
	for (int kind = 0; kind < 4; kind++) {
		CHECK(cudaMemset(y, kind == 3 ? 0 : 0xff, n * 8));
		if (kind == 0) csr_thread<<<(n + 63) / 64, 64>>>(ds, dc, dv, dx, y, n);
		if (kind == 1) csr_warp<<<(n + 3) / 4, 128>>>(ds, dc, dv, dx, y, n);
		if (kind == 2) ell<<<(n + 63) / 64, 64>>>(de, dev, dx, y, n, width);
		if (kind == 3) coo<<<(nnz + 63) / 64, 64>>>(dr, dc, dv, dx, y, nnz);
		CHECK(cudaMemcpy(got.data(), y, n * 8, cudaMemcpyDeviceToHost));
		ok &= got == want;
	}
	return verdict(ok);
}
