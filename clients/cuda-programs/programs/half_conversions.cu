// All 65,536 half values: to float and back, roundings of floats to half, classes, comparisons.
#include "check.h"
#include <cuda_fp16.h>
#include <cstring>

__global__ void round_trip(float *f, unsigned short *back, unsigned short *next, unsigned char *flags) {
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	__half h = __ushort_as_half((unsigned short)i);
	f[i] = __half2float(h);
	back[i] = __half_as_ushort(__float2half_rn(__half2float(h)));
	float between = __half2float(h) * 1.00025f; // a quarter of a unit in the last place or so
	next[i] = __half_as_ushort(__float2half_rz(between)) + __half_as_ushort(__float2half_ru(between)) * 3 + __half_as_ushort(__float2half_rd(between)) * 5;
	flags[i] = __hisnan(h) | (__hisinf(h) != 0) << 1 | __hlt(h, __float2half(1.0f)) << 2 | __hge(h, __float2half(-2.0f)) << 3 | __heq(h, h) << 4;
}

static float value(unsigned h) {
	int e = h >> 10 & 31, m = h & 1023;
	float v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpf(1024 + m, e - 25) : ldexpf(m, -24);
	return h >> 15 ? -v : v;
}

int main() {
	const int n = 65536;
	float *f;
	unsigned short *b, *x;
	unsigned char *g;
	CHECK(cudaMallocManaged(&f, n * 4));
	CHECK(cudaMallocManaged(&b, n * 2));
	CHECK(cudaMallocManaged(&x, n * 2));
	CHECK(cudaMallocManaged(&g, n));
	round_trip<<<256, 256>>>(f, b, x, g);
	CHECK(cudaDeviceSynchronize());
	int wrong = 0;
	for (int i = 0; i < n; i++) {
		float v = value(i);
		if (std::isnan(v)) {
			wrong += !std::isnan(f[i]) || g[i] != 1;
			continue;
		}
		bool inf = std::isinf(v);
		wrong += f[i] != v || std::signbit(f[i]) != std::signbit(v) || b[i] != i;
		wrong += g[i] != (inf << 1 | (v < 1) << 2 | (v >= -2) << 3 | 1 << 4);
		if (inf || v == 0 || fabsf(v) < 1e-4f || fabsf(v) > 65000) continue;
		// between this value and the next one away from zero
		unsigned near0 = i, far0 = i + 1, up = v > 0 ? far0 : near0, down = v > 0 ? near0 : far0;
		wrong += x[i] != (unsigned short)(near0 + up * 3 + down * 5);
	}
	printf("%d wrong\n", wrong);
	return verdict(wrong == 0);
}
