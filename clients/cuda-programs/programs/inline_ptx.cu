// Inline PTX: arithmetic with carry, bit fields, predicates, permutation, loads and stores, memory clobbers.
#include "check.h"
#include <cstdint>

__device__ __forceinline__ uint4 add128(uint4 a, uint4 b) {
	uint4 r;
	asm("add.cc.u32 %0, %4, %8;\n\taddc.cc.u32 %1, %5, %9;\n\taddc.cc.u32 %2, %6, %10;\n\taddc.u32 %3, %7, %11;"
		: "=r"(r.x), "=r"(r.y), "=r"(r.z), "=r"(r.w)
		: "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y), "r"(b.z), "r"(b.w));
	return r;
}
__device__ unsigned bfe(unsigned v, unsigned at, unsigned n) {
	unsigned r;
	asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(v), "r"(at), "r"(n));
	return r;
}
__device__ int clamp(int v, int lo, int hi) {
	int r;
	asm("{\n\t.reg .pred p, q;\n\t"
		"setp.lt.s32 p, %1, %2;\n\t"
		"setp.gt.s32 q, %1, %3;\n\t"
		"mov.s32 %0, %1;\n\t"
		"@p mov.s32 %0, %2;\n\t"
		"@q mov.s32 %0, %3;\n\t}"
		: "=&r"(r) : "r"(v), "r"(lo), "r"(hi));
	return r;
}

__global__ void run(const uint4 *a, const uint4 *b, uint4 *sum, unsigned *out, float *f, int n) {
	unsigned i = threadIdx.x;
	if (i >= n) return;
	sum[i] = add128(a[i], b[i]);
	unsigned v, w, lop, prmt;
	asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(&a[i].x) : "memory");
	asm("bfi.b32 %0, %1, %2, 8, 12;" : "=r"(w) : "r"(i), "r"(v));
	asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(lop) : "r"(v), "r"(w), "r"(i));
	asm("prmt.b32 %0, %1, %2, 0x6240;" : "=r"(prmt) : "r"(v), "r"(w));
	asm volatile("st.global.u32 [%0], %1;" ::"l"(out + i * 6), "r"(bfe(v, i % 20, 7)) : "memory");
	out[i * 6 + 1] = w;
	out[i * 6 + 2] = lop;
	out[i * 6 + 3] = prmt;
	out[i * 6 + 4] = clamp((int)v, -1000, 100000);
	unsigned long long wide;
	asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(v), "r"(i), "l"(5ull));
	out[i * 6 + 5] = (unsigned)(wide >> 32) + (unsigned)wide;
	float x = i * 0.5f, y;
	double d;
	asm("fma.rn.f32 %0, %1, %2, 0f3F800000;" : "=f"(y) : "f"(x), "f"(x));
	asm("cvt.f64.f32 %0, %1;" : "=d"(d) : "f"(y));
	f[i] = (float)(d * 2);
}

int main() {
	const int n = 32;
	uint4 a[n], b[n], s[n], *da, *db, *ds;
	unsigned out[n][6], *dout, seed = 21;
	float f[n], *df;
	for (int i = 0; i < n; i++) {
		auto r = [&] { return lcg(seed) << 16 | lcg(seed); };
		a[i] = make_uint4(r(), r(), r(), r());
		b[i] = i % 3 ? make_uint4(r(), r(), r(), r()) : make_uint4(~a[i].x, ~a[i].y + (i % 2), ~a[i].z, ~0u);
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof a));
	CHECK(cudaMalloc(&ds, sizeof a));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMalloc(&df, sizeof f));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	run<<<1, n>>>(da, db, ds, dout, df, n);
	CHECK(cudaMemcpy(s, ds, sizeof s, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(f, df, sizeof f, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (unsigned i = 0; i < n; i++) {
		auto wide = [](uint4 v) { return (unsigned __int128)v.w << 96 | (unsigned __int128)v.z << 64 | (uint64_t)v.y << 32 | v.x; };
		ok &= wide(s[i]) == wide(a[i]) + wide(b[i]);
		unsigned v = a[i].x, w = (v & ~0xfff00u) | i << 8, *o = out[i];
		unsigned bytes[8];
		for (int k = 0; k < 4; k++) bytes[k] = v >> 8 * k & 255, bytes[4 + k] = w >> 8 * k & 255;
		uint64_t product = (uint64_t)v * i + 5;
		ok &= o[0] == (v >> i % 20 & 127) && o[1] == w && o[2] == (v ^ w ^ i) && o[3] == (bytes[0] | bytes[4] << 8 | bytes[2] << 16 | bytes[6] << 24);
		ok &= (int)o[4] == ((int)v < -1000 ? -1000 : (int)v > 100000 ? 100000 : (int)v) && o[5] == (unsigned)(product >> 32) + (unsigned)product;
		ok &= f[i] == 2 * (0.25f * i * i + 1);
	}
	return verdict(ok);
}
