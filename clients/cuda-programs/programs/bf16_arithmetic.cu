// Arithmetic, comparisons and pairs of bfloat16.
#include "check.h"
#include <cuda_bf16.h>

__global__ void work(const float *in, float *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	__nv_bfloat16 x = __float2bfloat16(in[i]), two = __float2bfloat16(2.0f);
	__nv_bfloat16 y = __hfma(x, two, __float2bfloat16(1.0f));
	__nv_bfloat162 p = __floats2bfloat162_rn(in[i], -in[i]);
	p = __hadd2(p, __bfloat162bfloat162(two));
	out[i * 5 + 0] = __bfloat162float(y);
	out[i * 5 + 1] = __low2float(p);
	out[i * 5 + 2] = __high2float(p);
	out[i * 5 + 3] = __hgt(x, two) ? 1 : 0;
	out[i * 5 + 4] = __bfloat162float(__hmax(x, y) - __hmin(x, y));
}

int main() {
	const int n = 40;
	float in[n], out[n][5], *din, *dout;
	for (int i = 0; i < n; i++) in[i] = (i - 20) * 0.5f;
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	work<<<1, 64>>>(din, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float x = in[i], y = 2 * x + 1;
		ok &= out[i][0] == y && out[i][1] == x + 2 && out[i][2] == 2 - x && out[i][3] == (x > 2) && out[i][4] == fabsf(x - y);
	}
	return verdict(ok);
}
