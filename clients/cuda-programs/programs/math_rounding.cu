// Arithmetic with a given rounding: up is not below down, and both surround the exact value.
#include "check.h"

__global__ void run(const double *a, const double *b, double *d, float *f, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	double x = a[i], y = b[i];
	float u = (float)x, v = (float)y;
	double *p = d + i * 12;
	p[0] = __dadd_rd(x, y); p[1] = __dadd_ru(x, y);
	p[2] = __dmul_rd(x, y); p[3] = __dmul_ru(x, y);
	p[4] = __ddiv_rd(x, y); p[5] = __ddiv_ru(x, y);
	p[6] = __dsqrt_rd(x); p[7] = __dsqrt_ru(x);
	p[8] = __fma_rd(x, y, 1.0); p[9] = __fma_ru(x, y, 1.0);
	p[10] = __drcp_rd(x); p[11] = __drcp_ru(x);
	float *q = f + i * 12;
	q[0] = __fadd_rd(u, v); q[1] = __fadd_ru(u, v);
	q[2] = __fmul_rd(u, v); q[3] = __fmul_ru(u, v);
	q[4] = __fdiv_rd(u, v); q[5] = __fdiv_ru(u, v);
	q[6] = __fsqrt_rd(u); q[7] = __fsqrt_ru(u);
	q[8] = __fmaf_rd(u, v, 1.0f); q[9] = __fmaf_ru(u, v, 1.0f);
	q[10] = __double2float_rd(x); q[11] = __double2float_ru(x);
}

int main() {
	const int n = 60;
	double a[n], b[n], *da, *db, *dd, d[n][12];
	float *df, f[n][12];
	for (int i = 0; i < n; i++) {
		a[i] = 1.0 / (i + 3) + i;
		b[i] = (i - 30.1) / 7;
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dd, sizeof d));
	CHECK(cudaMalloc(&df, sizeof f));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	run<<<1, 64>>>(da, db, dd, df, n);
	CHECK(cudaMemcpy(d, dd, sizeof d, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		long double x = a[i], y = b[i], u = (float)a[i], v = (float)b[i];
		const long double want[12] = {x + y, x + y, x * y, x * y, x / y, x / y, sqrtl(x), sqrtl(x), x * y + 1, x * y + 1, 1 / x, 1 / x};
		const long double fwant[12] = {u + v, u + v, u * v, u * v, u / v, u / v, sqrtl(u), sqrtl(u), u * v + 1, u * v + 1, x, x};
		for (int k = 0; k < 12; k += 2) {
			ok &= d[i][k + 1] == d[i][k] || d[i][k + 1] == nextafter(d[i][k], INFINITY);
			ok &= f[i][k + 1] == f[i][k] || f[i][k + 1] == nextafterf(f[i][k], INFINITY);
			long double slack = fabsl(want[k]) * 1e-18L; // of the host's own 64 bits
			ok &= d[i][k] <= want[k] + slack && want[k] - slack <= d[i][k + 1];
			ok &= f[i][k] <= fwant[k] && fwant[k] <= f[i][k + 1];
		}
	}
	return verdict(ok);
}
