// SIMD in a word: bytes and half words added, compared, averaged, saturated.
#include "check.h"
#include <cstdint>

const int results = 21;

__global__ void run(const uint32_t *a, const uint32_t *b, uint32_t *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	uint32_t x = a[i], y = b[i], *o = out + i * results;
	o[0] = __vadd4(x, y);
	o[1] = __vsub4(x, y);
	o[2] = __vaddus4(x, y);
	o[3] = __vsubus4(x, y);
	o[4] = __vaddss4(x, y);
	o[5] = __vabsdiffu4(x, y);
	o[6] = __vmaxu4(x, y);
	o[7] = __vmins4(x, y);
	o[8] = __vcmpeq4(x, y);
	o[9] = __vcmpgtu4(x, y);
	o[10] = __vsetles4(x, y);
	o[11] = __vavgu4(x, y);
	o[12] = __vsadu4(x, y);
	o[13] = __vadd2(x, y);
	o[14] = __vmaxs2(x, y);
	o[15] = __vneg2(x);
	bool hi, lo;
	o[16] = __vibmax_s16x2(x, y, &hi, &lo);
	unsigned which = hi | lo << 1;
	o[17] = __vibmin_u16x2(x, y, &hi, &lo);
	which |= hi << 2 | lo << 3;
	o[18] = __vibmax_u16x2(x, y, &hi, &lo);
	which |= hi << 4 | lo << 5;
	o[19] = __vibmin_s16x2(x, y, &hi, &lo);
	o[20] = which | hi << 6 | lo << 7;
}

template <class F> uint32_t bytes(uint32_t x, uint32_t y, F f) {
	uint32_t r = 0;
	for (int k = 0; k < 32; k += 8) r |= ((uint32_t)f(x >> k & 255, y >> k & 255) & 255) << k;
	return r;
}
template <class F> uint32_t halves(uint32_t x, uint32_t y, F f) {
	return ((uint32_t)f(x & 65535, y & 65535) & 65535) | (uint32_t)f(x >> 16, y >> 16) << 16;
}
// Which half of x was taken: by the signed maximum, the unsigned minimum, the unsigned maximum and the signed minimum.
uint32_t flags(uint32_t x, uint32_t y) {
	uint32_t xh = x >> 16, xl = x & 65535, yh = y >> 16, yl = y & 65535;
	return ((int16_t)xh >= (int16_t)yh) | ((int16_t)xl >= (int16_t)yl) << 1 | (xh <= yh) << 2 | (xl <= yl) << 3 | (xh >= yh) << 4 |
		   (xl >= yl) << 5 | ((int16_t)xh <= (int16_t)yh) << 6 | ((int16_t)xl <= (int16_t)yl) << 7;
}

int main() {
	const int n = 64;
	uint32_t a[n], b[n], h[n][results], *da, *db, *o;
	unsigned seed = 31;
	for (int i = 0; i < n; i++) {
		a[i] = lcg(seed) << 16 | lcg(seed);
		b[i] = i % 4 ? lcg(seed) << 16 | lcg(seed) : (a[i] & 0xff00ff00) | i;
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&o, sizeof h));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	run<<<1, n>>>(da, db, o, n);
	CHECK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		uint32_t x = a[i], y = b[i], sad = 0;
		for (int k = 0; k < 32; k += 8) sad += abs((int)(x >> k & 255) - (int)(y >> k & 255));
		auto clamp = [](int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; };
		const uint32_t want[results] = {bytes(x, y, [](int p, int q) { return p + q; }), bytes(x, y, [](int p, int q) { return p - q; }),
			bytes(x, y, [&](int p, int q) { return clamp(p + q, 0, 255); }), bytes(x, y, [&](int p, int q) { return clamp(p - q, 0, 255); }),
			bytes(x, y, [&](int p, int q) { return clamp((int8_t)p + (int8_t)q, -128, 127); }), bytes(x, y, [](int p, int q) { return abs(p - q); }),
			bytes(x, y, [](int p, int q) { return p > q ? p : q; }), bytes(x, y, [](int p, int q) { return (int8_t)p < (int8_t)q ? p : q; }),
			bytes(x, y, [](int p, int q) { return p == q ? 255 : 0; }), bytes(x, y, [](int p, int q) { return p > q ? 255 : 0; }),
			bytes(x, y, [](int p, int q) { return (int8_t)p <= (int8_t)q; }), bytes(x, y, [](int p, int q) { return (p + q + 1) / 2; }), sad,
			halves(x, y, [](int p, int q) { return p + q; }), halves(x, y, [](int p, int q) { return (int16_t)p > (int16_t)q ? p : q; }),
			halves(x, y, [](int p, int) { return -p; }),
			halves(x, y, [](int p, int q) { return (int16_t)p > (int16_t)q ? p : q; }), halves(x, y, [](int p, int q) { return p < q ? p : q; }),
			halves(x, y, [](int p, int q) { return p > q ? p : q; }), halves(x, y, [](int p, int q) { return (int16_t)p < (int16_t)q ? p : q; }),
			flags(x, y)};
		for (int k = 0; k < results; k++)
			if (h[i][k] != want[k]) {
				printf("%d of %08x %08x: %08x, not %08x\n", k, x, y, h[i][k], want[k]);
				ok = false;
			}
	}
	return verdict(ok);
}
