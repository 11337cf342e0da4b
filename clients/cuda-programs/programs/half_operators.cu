// Operators, literals and functions of __half and __half2 in ordinary C++.
#include "check.h"
#include <cuda_fp16.h>

__device__ __half horner(__half x) {
	__half r = __float2half(0.5f);
	r = r * x + __float2half(-1.0f);
	r = r * x + __half(2.0f);
	return r;
}

__global__ void compute(const __half *in, __half *out, __half2 *pairs, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	__half x = in[i];
	__half y = horner(x);
	if (y > __half(4)) y -= __half(1);
	else y += __half(1);
	out[i] = -y / __half(2);
	__half2 p = __halves2half2(x, y);
	p = p * __float2half2_rn(2.0f) - __half2{x, x};
	pairs[i] = __lowhigh2highlow(p);
	pairs[n + i] = __hmax2(p, __half2half2(hsqrt(__habs(x))));
}

int main() {
	const int n = 33;
	__half in[n], out[n], *din, *dout;
	__half2 pairs[2 * n], *dp;
	for (int i = 0; i < n; i++) in[i] = __float2half((i - 16) * 0.25f);
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMalloc(&dp, sizeof pairs));
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	compute<<<1, 64>>>(din, dout, dp, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(pairs, dp, sizeof pairs, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float x = (i - 16) * 0.25f, y = (0.5f * x - 1) * x + 2; // fits in half
		y = y > 4 ? y - 1 : y + 1;
		ok &= near(__half2float(out[i]), -y / 2, 2e-3);
		ok &= near(__high2float(pairs[i]), x, 2e-3) && near(__low2float(pairs[i]), 2 * y - x, 4e-3);
		ok &= near(__low2float(pairs[n + i]), fmaxf(x, sqrtf(fabsf(x))), 2e-3);
	}
	return verdict(ok);
}
