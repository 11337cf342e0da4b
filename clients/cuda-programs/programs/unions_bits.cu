// Unions, bit fields, enums and bit casts in device code: floats are taken apart and put together.
#include "check.h"
#include <cstdint>
#include <cstring>

union Bits {
	float f;
	uint32_t u;
	struct { uint32_t mantissa : 23, exponent : 8, sign : 1; } part;
};
enum Kind : unsigned char { zero, subnormal, normal, infinite, nan_ };
struct Packed { unsigned a : 3; int b : 5; unsigned long long c : 40; bool d : 1; };

__global__ void dissect(const float *in, Kind *kind, float *doubled, Packed *packed, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	Bits b;
	b.f = in[i];
	kind[i] = b.part.exponent == 0 ? (b.part.mantissa ? subnormal : zero) : b.part.exponent == 255 ? (b.part.mantissa ? nan_ : infinite) : normal;
	if (kind[i] == normal && b.part.exponent < 254) b.part.exponent++;
	b.part.sign ^= 1;
	doubled[i] = b.f;
	Packed p = {};
	p.a = i;
	p.b = -i;
	p.c = (unsigned long long)__float_as_uint(in[i]) << 8 | (__double_as_longlong((double)i) >> 52 & 255);
	p.d = i % 3 == 0;
	packed[i] = p;
}

int main() {
	float in[] = {0, -0.0f, 1, -1, 3.5f, 1e-40f, INFINITY, -INFINITY, NAN, 1e38f, -123.456f, 0.1f};
	const int n = sizeof in / sizeof *in;
	float *di, *dd, doubled[n];
	Kind *dk, kind[n];
	Packed *dp, packed[n];
	CHECK(cudaMalloc(&di, sizeof in));
	CHECK(cudaMalloc(&dd, sizeof in));
	CHECK(cudaMalloc(&dk, sizeof kind));
	CHECK(cudaMalloc(&dp, sizeof packed));
	CHECK(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
	dissect<<<1, 32>>>(di, dk, dd, dp, n);
	CHECK(cudaMemcpy(doubled, dd, sizeof doubled, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(kind, dk, sizeof kind, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(packed, dp, sizeof packed, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int c = std::fpclassify(in[i]);
		Kind want = c == FP_ZERO ? zero : c == FP_SUBNORMAL ? subnormal : c == FP_INFINITE ? infinite : c == FP_NAN ? nan_ : normal;
		ok &= kind[i] == want && std::signbit(doubled[i]) != std::signbit(in[i]);
		if (want == normal) ok &= doubled[i] == -2 * in[i];
		uint32_t bits;
		uint64_t wide;
		double d = i;
		memcpy(&bits, &in[i], 4);
		memcpy(&wide, &d, 8);
		ok &= packed[i].a == (i & 7u) && packed[i].b == (-i << 27) >> 27 && packed[i].d == (i % 3 == 0);
		ok &= packed[i].c == ((uint64_t)bits << 8 | (wide >> 52 & 255));
	}
	return verdict(ok);
}
