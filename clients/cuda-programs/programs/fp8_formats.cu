// The two fp8 formats: every code to float, and floats to the nearest code with saturation.
#include "check.h"
#include <cuda_fp8.h>

__global__ void decode(float *e4, float *e5) {
	int i = threadIdx.x;
	__nv_fp8_e4m3 a;
	__nv_fp8_e5m2 b;
	a.__x = (__nv_fp8_storage_t)i;
	b.__x = (__nv_fp8_storage_t)i;
	e4[i] = float(a);
	e5[i] = float(b);
}
__global__ void encode(const float *in, unsigned char *e4, unsigned char *e5, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	e4[i] = __nv_fp8_e4m3(in[i]).__x;
	e5[i] = __nv_cvt_float_to_fp8(in[i], __NV_SATFINITE, __NV_E5M2);
}

static float value(int code, int ebits) {
	int mbits = 7 - ebits, bias = (1 << (ebits - 1)) - 1, e = (code & 127) >> mbits, m = code & ((1 << mbits) - 1);
	float v = e ? ldexpf((1 << mbits) + m, e - bias - mbits) : ldexpf(m, 1 - bias - mbits);
	if (ebits == 4 && (code & 127) == 127) v = NAN;
	if (ebits == 5 && e == 31) v = m ? NAN : INFINITY;
	return code & 128 ? -v : v;
}

// the nearest finite code; of two as near, the even one
static int nearest(float f, int ebits) {
	int best = -1;
	double distance = 1e30;
	for (int c = 0; c < 128; c++) {
		float v = value(c, ebits);
		if (!std::isfinite(v)) continue;
		double d = fabs((double)v - fabs((double)f));
		if (d < distance || (d == distance && c % 2 == 0)) {
			distance = d;
			best = c;
		}
	}
	return best | (std::signbit(f) ? 128 : 0);
}

int main() {
	const int n = 600;
	float *d4, *d5, *din, h4[256], h5[256], in[n];
	unsigned char *c4, *c5, g4[n], g5[n];
	CHECK(cudaMalloc(&d4, sizeof h4));
	CHECK(cudaMalloc(&d5, sizeof h5));
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&c4, n));
	CHECK(cudaMalloc(&c5, n));
	for (int i = 0; i < n; i++) in[i] = ldexpf((i * 37 % 512 - 256) / 16.0f, i % 17 - 12);
	in[0] = 1e9f;
	in[1] = -1e9f;
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	decode<<<1, 256>>>(d4, d5);
	encode<<<5, 128>>>(din, c4, c5, n);
	CHECK(cudaMemcpy(h4, d4, sizeof h4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(h5, d5, sizeof h5, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(g4, c4, n, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(g5, c5, n, cudaMemcpyDeviceToHost));
	int wrong = 0;
	for (int i = 0; i < 256; i++) {
		float a = value(i, 4), b = value(i, 5);
		wrong += std::isnan(a) ? !std::isnan(h4[i]) : h4[i] != a;
		wrong += std::isnan(b) ? !std::isnan(h5[i]) : h5[i] != b;
	}
	for (int i = 0; i < n; i++) wrong += g4[i] != nearest(in[i], 4) || g5[i] != nearest(in[i], 5);
	printf("%d wrong\n", wrong);
	return verdict(wrong == 0);
}
