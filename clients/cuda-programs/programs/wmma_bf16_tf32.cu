// Tensor cores with bfloat16 and with tf32 inputs.
#include "check.h"
#include <cuda_bf16.h>
#include <mma.h>

using namespace nvcuda;

__global__ void bf16(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c) {
	wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
	wmma::fill_fragment(fc, 1.0f);
	wmma::load_matrix_sync(fa, a, 16);
	wmma::load_matrix_sync(fb, b, 16);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
__global__ void tf32(const float *a, const float *b, float *c) {
	wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fa;
	wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> fb;
	wmma::fragment<wmma::accumulator, 16, 16, 8, float> fc;
	wmma::fill_fragment(fc, -2.0f);
	wmma::load_matrix_sync(fa, a, 8);
	wmma::load_matrix_sync(fb, b, 16);
	for (int i = 0; i < fa.num_elements; i++) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
	for (int i = 0; i < fb.num_elements; i++) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
	wmma::mma_sync(fc, fa, fb, fc);
	wmma::store_matrix_sync(c, fc, 16, wmma::mem_col_major);
}

int main() {
	__nv_bfloat16 a[16][16], b[16][16], *dev;
	float x[16][8], y[8][16], *fdev, *c, r[2][16][16];
	for (int i = 0; i < 256; i++) {
		a[i / 16][i % 16] = __float2bfloat16((float)(i % 9 - 4));
		b[i / 16][i % 16] = __float2bfloat16((float)(i % 5) * 0.25f);
	}
	for (int i = 0; i < 128; i++) {
		x[i / 8][i % 8] = i - 64;
		y[i / 16][i % 16] = i % 7 * 0.125f;
	}
	CHECK(cudaMalloc(&dev, 1024));
	CHECK(cudaMalloc(&fdev, 1024));
	CHECK(cudaMalloc(&c, sizeof r));
	CHECK(cudaMemcpy(dev, a, 512, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dev + 256, b, 512, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(fdev, x, 512, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(fdev + 128, y, 512, cudaMemcpyHostToDevice));
	bf16<<<1, 32>>>(dev, dev + 256, c);
	tf32<<<1, 32>>>(fdev, fdev + 128, c + 256);
	CHECK(cudaMemcpy(r, c, sizeof r, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 16; i++)
		for (int j = 0; j < 16; j++) {
			float want = 1, other = -2;
			for (int k = 0; k < 16; k++) want += ((i * 16 + k) % 9 - 4) * ((k * 16 + j) % 5) * 0.25f;
			for (int k = 0; k < 8; k++) other += x[i][k] * y[k][j];
			ok &= r[0][i][j] == want && r[1][j][i] == other;
		}
	return verdict(ok);
}
