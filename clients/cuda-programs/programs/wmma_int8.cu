// Tensor cores with 8-bit integers in the shape 32x8x16.
#include "check.h"
#include <mma.h>

using namespace nvcuda::wmma;

__global__ void multiply(const signed char *a, const signed char *b, int *c) {
	fragment<matrix_a, 32, 8, 16, signed char, row_major> fa;
	fragment<matrix_b, 32, 8, 16, signed char, row_major> fb;
	fragment<accumulator, 32, 8, 16, int> fc;
	fill_fragment(fc, 5);
	load_matrix_sync(fa, a, 16);
	load_matrix_sync(fb, b, 8);
	mma_sync(fc, fa, fb, fc);
	store_matrix_sync(c, fc, 8, mem_row_major);
}

int main() {
	signed char a[32][16], b[16][8], *da, *db;
	int c[32][8], *dc;
	for (int i = 0; i < 512; i++) a[i / 16][i % 16] = i * 89;
	for (int i = 0; i < 128; i++) b[i / 8][i % 8] = i * 57;
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dc, sizeof c));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	multiply<<<1, 32>>>(da, db, dc);
	CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 32; i++)
		for (int j = 0; j < 8; j++) {
			int want = 5;
			for (int k = 0; k < 16; k++) want += a[i][k] * b[k][j];
			ok &= c[i][j] == want;
		}
	return verdict(ok);
}
