// Tensor cores: C = A*B + C with half inputs and float sums, 16x16x16 fragments.
#include "check.h"
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

const int M = 32, N = 48, K = 64;

__global__ void gemm(const half *a, const half *b, float *c) {
	int tile_m = blockIdx.x, tile_n = blockIdx.y;
	wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc, fc;
	wmma::fill_fragment(acc, 0.0f);
	for (int k = 0; k < K; k += 16) {
		wmma::load_matrix_sync(fa, a + tile_m * 16 * K + k, K);
		wmma::load_matrix_sync(fb, b + tile_n * 16 * K + k, K);
		wmma::mma_sync(acc, fa, fb, acc);
	}
	float *at = c + tile_m * 16 * N + tile_n * 16;
	wmma::load_matrix_sync(fc, at, N, wmma::mem_row_major);
	for (int i = 0; i < fc.num_elements; i++) fc.x[i] = 2 * acc.x[i] - fc.x[i];
	wmma::store_matrix_sync(at, fc, N, wmma::mem_row_major);
}

int main() {
	std::vector<half> a(M * K), b(N * K);
	std::vector<float> c(M * N), got(M * N);
	for (int i = 0; i < M * K; i++) a[i] = __float2half((float)(i * 7 % 13 - 6));
	for (int i = 0; i < N * K; i++) b[i] = __float2half((float)(i * 5 % 11 - 5) * 0.5f);
	for (int i = 0; i < M * N; i++) c[i] = i % 100;
	half *da, *db;
	float *dc;
	CHECK(cudaMalloc(&da, a.size() * 2));
	CHECK(cudaMalloc(&db, b.size() * 2));
	CHECK(cudaMalloc(&dc, c.size() * 4));
	CHECK(cudaMemcpy(da, a.data(), a.size() * 2, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), b.size() * 2, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dc, c.data(), c.size() * 4, cudaMemcpyHostToDevice));
	gemm<<<dim3(M / 16, N / 16), 32>>>(da, db, dc);
	CHECK(cudaMemcpy(got.data(), dc, c.size() * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < M; i++)
		for (int j = 0; j < N; j++) {
			float sum = 0;
			for (int k = 0; k < K; k++) sum += ((i * K + k) * 7 % 13 - 6) * ((j * K + k) * 5 % 11 - 5) * 0.5f;
			ok &= got[i * N + j] == 2 * sum - c[i * N + j];
		}
	return verdict(ok);
}
