// a*x+y in half precision, one at a time and two at a time, against exact sums that fit.
#include "check.h"
#include <cuda_fp16.h>

__global__ void axpy(__half a, const __half *x, __half *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = __hfma(a, x[i], y[i]);
}
__global__ void axpy2(__half2 a, const __half2 *x, __half2 *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = __hadd2(__hmul2(a, x[i]), y[i]);
}

int main() {
	const int n = 1024;
	std::vector<__half> x(n), y(n);
	for (int i = 0; i < n; i++) {
		x[i] = __float2half((i % 64) * 0.25f);
		y[i] = __float2half(-(float)(i % 100));
	}
	__half *dx, *dy;
	CHECK(cudaMalloc(&dx, n * sizeof(__half)));
	CHECK(cudaMalloc(&dy, n * sizeof(__half)));
	CHECK(cudaMemcpy(dx, x.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dy, y.data(), n * sizeof(__half), cudaMemcpyHostToDevice));
	axpy<<<8, 128>>>(__float2half(4.0f), dx, dy, n);
	axpy2<<<4, 128>>>(__floats2half2_rn(2.0f, -8.0f), (const __half2 *)dx, (__half2 *)dy, n / 2);
	CHECK(cudaMemcpy(y.data(), dy, n * sizeof(__half), cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float v = (i % 64) * 0.25f, want = -(float)(i % 100) + 4 * v + (i % 2 ? -8.0f : 2.0f) * v;
		ok &= __half2float(y[i]) == want;
	}
	return verdict(ok);
}
