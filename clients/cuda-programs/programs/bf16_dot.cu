// Dot products of bfloat16 vectors with float sums; conversions that round to nearest even.
#include "check.h"
#include <cuda_bf16.h>
#include <cstring>

__global__ void dot(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *out, int n) {
	const __nv_bfloat162 *a2 = (const __nv_bfloat162 *)(a + blockIdx.x * n), *b2 = (const __nv_bfloat162 *)(b + blockIdx.x * n);
	float sum = 0;
	for (int i = threadIdx.x; i < n / 2; i += 32) {
		float2 p = __bfloat1622float2(a2[i]), q = __bfloat1622float2(b2[i]);
		sum += p.x * q.x + p.y * q.y;
	}
	for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, d);
	if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
__global__ void convert(const float *in, __nv_bfloat16 *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = __float2bfloat16(in[i]);
}

int main() {
	const int rows = 12, n = 128;
	std::vector<float> f(rows * n);
	std::vector<__nv_bfloat16> a(rows * n), b(rows * n), c(rows * n);
	unsigned seed = 4;
	for (int i = 0; i < rows * n; i++) {
		f[i] = (int)(lcg(seed) % 4001 - 2000) / 64.0f;
		a[i] = __float2bfloat16((float)(i % 16 - 8));
		b[i] = __float2bfloat16((float)(i % 7) * 0.5f);
	}
	__nv_bfloat16 *da, *db;
	float *df, *dout, out[rows];
	CHECK(cudaMalloc(&da, rows * n * 2));
	CHECK(cudaMalloc(&db, rows * n * 2));
	CHECK(cudaMalloc(&df, rows * n * 4));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(da, a.data(), rows * n * 2, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), rows * n * 2, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(df, f.data(), rows * n * 4, cudaMemcpyHostToDevice));
	dot<<<rows, 32>>>(da, db, dout, n);
	convert<<<rows, n>>>(df, da, rows * n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(c.data(), da, rows * n * 2, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int r = 0; r < rows; r++) {
		float want = 0; // all steps are exact
		for (int i = r * n; i < r * n + n; i++) want += (i % 16 - 8) * (i % 7) * 0.5f;
		ok &= out[r] == want;
	}
	for (int i = 0; i < rows * n; i++) {
		unsigned bits, got = 0;
		memcpy(&bits, &f[i], 4);
		memcpy(&got, &c[i], 2);
		ok &= got == (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
	}
	return verdict(ok);
}
