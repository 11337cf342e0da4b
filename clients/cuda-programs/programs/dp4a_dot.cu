// Products of packed bytes: __dp4a and __dp2a in an integer matrix product.
#include "check.h"
#include <cstdint>

__global__ void gemm8(const int *a, const int *b, int *c, unsigned *u, int n, int k4) {
	int i = threadIdx.y, j = threadIdx.x, sum = 0;
	unsigned usum = 0;
	for (int k = 0; k < k4; k++) {
		sum = __dp4a(a[i * k4 + k], b[j * k4 + k], sum);
		usum = __dp4a((unsigned)a[i * k4 + k], (unsigned)b[j * k4 + k], usum);
	}
	c[i * n + j] = sum + __dp2a_lo(a[i * k4], b[j * k4], 1) - __dp2a_hi(a[i * k4], b[j * k4], 2);
	u[i * n + j] = usum;
}

int main() {
	const int n = 12, k = 32;
	int8_t a[n][k], b[n][k];
	int c[n][n], *da, *db, *dc;
	unsigned u[n][n], *du;
	for (int i = 0; i < n * k; i++) {
		a[i / k][i % k] = i * 73;
		b[i / k][i % k] = i * 151 + 9;
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dc, sizeof c));
	CHECK(cudaMalloc(&du, sizeof u));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	gemm8<<<1, dim3(n, n)>>>(da, db, dc, du, n, k / 4);
	CHECK(cudaMemcpy(c, dc, sizeof c, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(u, du, sizeof u, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++)
		for (int j = 0; j < n; j++) {
			int sum = 0;
			unsigned us = 0;
			for (int x = 0; x < k; x++) {
				sum += a[i][x] * b[j][x];
				us += (uint8_t)a[i][x] * (uint8_t)b[j][x];
			}
			int16_t lo = (int16_t)((uint8_t)a[i][0] | a[i][1] << 8), hi = (int16_t)((uint8_t)a[i][2] | a[i][3] << 8);
			sum += 1 + lo * b[j][0] + hi * b[j][1] - (2 + lo * b[j][2] + hi * b[j][3]);
			ok &= c[i][j] == sum && u[i][j] == us;
		}
	return verdict(ok);
}
