// Many tridiagonal systems at once by parallel cyclic reduction in shared memory.
#include "check.h"

const int n = 64;

__global__ void solve(const double *A, const double *B, const double *C, const double *D, double *X) {
	__shared__ double a[n], b[n], c[n], d[n];
	int i = threadIdx.x, g = blockIdx.x * n + i;
	a[i] = i ? A[g] : 0;
	b[i] = B[g];
	c[i] = i < n - 1 ? C[g] : 0;
	d[i] = D[g];
	__syncthreads();
	for (int s = 1; s < n; s *= 2) {
		double na = 0, nb = b[i], nc = 0, nd = d[i];
		if (i - s >= 0) {
			double k = a[i] / b[i - s];
			na = -a[i - s] * k;
			nb -= c[i - s] * k;
			nd -= d[i - s] * k;
		}
		if (i + s < n) {
			double k = c[i] / b[i + s];
			nc = -c[i + s] * k;
			nb -= a[i + s] * k;
			nd -= d[i + s] * k;
		}
		__syncthreads();
		a[i] = na;
		b[i] = nb;
		c[i] = nc;
		d[i] = nd;
		__syncthreads();
	}
	X[g] = d[i] / b[i];
}

int main() {
	const int systems = 10, total = systems * n;
	std::vector<double> A(total), B(total), C(total), D(total), X(total), got(total);
	for (int i = 0; i < total; i++) {
		A[i] = -1 - i % 3 * 0.1;
		B[i] = 4 + i % 5;
		C[i] = 1.5 - i % 2;
		X[i] = (i * 7 % 23) - 11;
	}
	for (int i = 0; i < total; i++) D[i] = B[i] * X[i] + (i % n ? A[i] * X[i - 1] : 0) + (i % n < n - 1 ? C[i] * X[i + 1] : 0);
	double *d[5];
	for (double *&p : d) CHECK(cudaMalloc(&p, total * 8));
	int k = 0;
	for (auto *v : {&A, &B, &C, &D}) CHECK(cudaMemcpy(d[k++], v->data(), total * 8, cudaMemcpyHostToDevice));
	solve<<<systems, n>>>(d[0], d[1], d[2], d[3], d[4]);
	CHECK(cudaMemcpy(got.data(), d[4], total * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < total; i++) ok &= near(got[i], X[i], 1e-11);
	return verdict(ok);
}
