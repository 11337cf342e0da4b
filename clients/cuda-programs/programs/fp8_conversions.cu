// Conversions to and from the fp8 formats, every argument of 16 bits and many of 32 and 64: the hashes of both sides are
// equal, and, but for those of double, what an H200 gave with NVIDIA's headers.
#include <cstdio>
#include <cstring>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>

typedef unsigned long long u64;
typedef __nv_saturation_t Sat;
typedef __nv_fp8_interpretation_t Format;
__host__ __device__ inline u64 mix(u64 h) {
	h ^= h >> 30;
	h *= 0xbf58476d1ce4e5b9ull;
	h ^= h >> 27;
	h *= 0x94d049bb133111ebull;
	return h ^ h >> 31;
}
__host__ __device__ inline double wide(u64 n) {
	u64 h = mix(n + 1);
	if (h & 1) h = (h & 0x800fffffffffffffull) | (1023 - 20 + (h >> 52) % 40) << 52; // within the formats' range
	if (h & 2) h &= ~((1ull << 46) - 1);                                           // near ties
	if (h & 4) h &= ~((1ull << 30) - 1);
	double d;
	memcpy(&d, &h, 8);
	return d;
}
__host__ __device__ inline float narrow(u64 n) {
	u64 h = mix(n + 1);
	unsigned v = (unsigned)h;
	if (h >> 32 & 1) v = (v & 0x807fffff) | (127 - 20 + (unsigned)(h >> 40) % 40) << 23;
	if (h >> 33 & 1) v &= 0xfff80000;
	float f;
	memcpy(&f, &v, 4);
	return f;
}
// one thread's part of sum[k]: k is of the source, the format and the saturation
template <class F> __host__ __device__ u64 all(u64 n, F f) {
	u64 s = 0;
	for (int k = 0; k < 4; k++)
		s += mix(n * 4 + k + 1) * (f(k & 1 ? __NV_SATFINITE : __NV_NOSAT, k & 2 ? __NV_E4M3 : __NV_E5M2) + 1ull);
	return s;
}
__host__ __device__ inline void item(u64 n, u64 *sum) {
	__half_raw h;
	h.x = (unsigned short)n;
	__nv_bfloat16_raw b;
	b.x = (unsigned short)n;
	sum[0] = sum[1] = sum[4] = sum[5] = sum[6] = sum[7] = 0;
	if (n < 65536) {
		sum[0] = all(n, [&](Sat s, Format f) { return __nv_cvt_halfraw_to_fp8(h, s, f); });
		sum[1] = all(n, [&](Sat s, Format f) { return __nv_cvt_bfloat16raw_to_fp8(b, s, f); });
		__half2_raw h2;
		h2.x = (unsigned short)n, h2.y = (unsigned short)mix(n);
		sum[4] = all(n, [&](Sat s, Format f) { return __nv_cvt_halfraw2_to_fp8x2(h2, s, f); });
		for (int k = 0; k < 2; k++) {
			__half2_raw r = __nv_cvt_fp8x2_to_halfraw2((__nv_fp8x2_storage_t)n, k ? __NV_E4M3 : __NV_E5M2);
			sum[5] += mix(2 * n + k) * (r.x * 65536ull + r.y + 1);
		}
	}
	if (n < 256)
		for (int k = 0; k < 2; k++) {
			__half_raw r = __nv_cvt_fp8_to_halfraw((__nv_fp8_storage_t)n, k ? __NV_E4M3 : __NV_E5M2);
			sum[6] += mix(2 * n + k) * (r.x + 1ull);
		}
	float f = narrow(n);
	double d = wide(n);
	sum[2] = all(n, [&](Sat s, Format t) { return __nv_cvt_float_to_fp8(f, s, t); });
	sum[3] = all(n, [&](Sat s, Format t) { return __nv_cvt_double_to_fp8(d, s, t); });
	float2 f2 = {f, narrow(n + 1)};
	double2 d2 = {d, wide(n + 1)};
	sum[7] = all(n, [&](Sat s, Format t) {
		return __nv_cvt_float2_to_fp8x2(f2, s, t) + __nv_cvt_double2_to_fp8x2(d2, s, t);
	});
}
const int count = 1 << 18;
__global__ void run(u64 *sum) {
	u64 n = blockIdx.x * (u64)blockDim.x + threadIdx.x, s[8];
	item(n, s);
	for (int i = 0; i < 8; i++) atomicAdd(&sum[i], s[i]);
}
int main() {
	u64 *d, h[8], mine[8] = {}, s[8];
	bool ok = !cudaMalloc(&d, sizeof h) && !cudaMemset(d, 0, sizeof h);
	run<<<count / 256, 256>>>(d);
	ok &= !cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
	for (int n = 0; n < count; n++) {
		item(n, s);
		for (int i = 0; i < 8; i++) mine[i] += s[i];
	}
	static const char *names[8] = {"half", "bfloat16", "float", "double", "half2", "to half2", "to half", "pairs"};
	static const u64 recorded[8] = {0x52d1ceb043b2b745, 0xa971937e0d878ee9, 0x6c9c218ea8f17453, 0,
	    0xcd91b80f38689145, 0x0697d06e149238c8, 0x277283f4655961f0, 0};
	for (int i = 0; i < 8; i++) {
		printf("%s: device %016llx host %016llx\n", names[i], h[i], mine[i]);
		ok &= h[i] == mine[i] && (!recorded[i] || h[i] == recorded[i]);
	}
	puts(ok ? "PASSED" : "FAILED");
	return !ok;
}
