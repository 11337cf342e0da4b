// A product of matrices of double: each thread computes four by four elements in registers.
#include "check.h"

template <int BM, int BN, int BK, int T> __global__ void dgemm(const double *A, const double *B, double *C, int n, double alpha, double beta) {
	__shared__ double a[BK][BM], b[BK][BN];
	const int tx = threadIdx.x % (BN / T), ty = threadIdx.x / (BN / T), threads = BM / T * (BN / T);
	double acc[T][T] = {};
	for (int k0 = 0; k0 < n; k0 += BK) {
		for (int i = threadIdx.x; i < BM * BK; i += threads) a[i % BK][i / BK] = A[(blockIdx.y * BM + i / BK) * n + k0 + i % BK];
		for (int i = threadIdx.x; i < BN * BK; i += threads) b[i / BN][i % BN] = B[(k0 + i / BN) * n + blockIdx.x * BN + i % BN];
		__syncthreads();
#pragma unroll
		for (int k = 0; k < BK; k++)
#pragma unroll
			for (int i = 0; i < T; i++)
#pragma unroll
				for (int j = 0; j < T; j++) acc[i][j] += a[k][ty * T + i] * b[k][tx * T + j];
		__syncthreads();
	}
	for (int i = 0; i < T; i++)
		for (int j = 0; j < T; j++) {
			double *c = &C[(blockIdx.y * BM + ty * T + i) * n + blockIdx.x * BN + tx * T + j];
			*c = alpha * acc[i][j] + beta * *c;
		}
}

int main() {
	const int n = 96;
	std::vector<double> A(n * n), B(n * n), C(n * n), got(n * n);
	for (int i = 0; i < n * n; i++) {
		A[i] = (i % 17 - 8) * 0.5;
		B[i] = i % 13 - 6;
		C[i] = i % 7;
	}
	double *a, *b, *c;
	CHECK(cudaMalloc(&a, n * n * 8));
	CHECK(cudaMalloc(&b, n * n * 8));
	CHECK(cudaMalloc(&c, n * n * 8));
	CHECK(cudaMemcpy(a, A.data(), n * n * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(b, B.data(), n * n * 8, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(c, C.data(), n * n * 8, cudaMemcpyHostToDevice));
	dgemm<32, 32, 8, 4><<<dim3(n / 32, n / 32), 64>>>(a, b, c, n, 2.0, -1.0);
	CHECK(cudaMemcpy(got.data(), c, n * n * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			double want = 0;
			for (int k = 0; k < n; k++) want += A[i * n + k] * B[k * n + j];
			ok &= got[i * n + j] == 2 * want - C[i * n + j];
		}
	return verdict(ok);
}
