// Integer intrinsics: counts of bits, reversal, permutation of bytes, high products, averages, funnel shifts.
#include "check.h"
#include <cstdint>

const int results = 20;

__global__ void run(const uint32_t *a, const uint32_t *b, int64_t *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	uint32_t x = a[i], y = b[i];
	uint64_t w = (uint64_t)x << 32 | y;
	int64_t *o = out + i * results;
	o[0] = __popc(x);
	o[1] = __clz(x);
	o[2] = __ffs(x);
	o[3] = __brev(x);
	o[4] = __popcll(w);
	o[5] = __clzll(w);
	o[6] = __ffsll(w);
	o[7] = (int64_t)__brevll(w);
	o[8] = __byte_perm(x, y, 0x5140);
	o[9] = __umulhi(x, y);
	o[10] = __mulhi((int)x, (int)y);
	o[11] = (int64_t)__umul64hi(w, w ^ 0x123456789abcdefull);
	o[12] = __mul64hi((long long)w, -12345678901234ll);
	o[13] = __hadd((int)x, (int)y);
	o[14] = __urhadd(x, y);
	o[15] = __usad(x, y, 17u) + (int64_t)__sad((int)x >> 2, (int)y >> 2, 3u);
	o[16] = __funnelshift_l(x, y, i);
	o[17] = __funnelshift_r(x, y, i + 5);
	o[18] = __mul24((int)x, (int)y);
	o[19] = __umul24(x, y);
}

int main() {
	const int n = 64;
	uint32_t a[n], b[n];
	unsigned seed = 77;
	for (int i = 0; i < n; i++) {
		a[i] = lcg(seed) << 16 | lcg(seed);
		b[i] = (lcg(seed) << 16 | lcg(seed)) >> i % 32;
	}
	a[0] = 0;
	b[0] = 0;
	a[1] = 0x80000000;
	uint32_t *da, *db;
	int64_t *o, h[n][results];
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&o, sizeof h));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	run<<<1, n>>>(da, db, o, n);
	CHECK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		uint32_t x = a[i], y = b[i], rev = 0;
		uint64_t w = (uint64_t)x << 32 | y, wrev = 0;
		for (int k = 0; k < 32; k++) rev |= (x >> k & 1) << (31 - k);
		for (int k = 0; k < 64; k++) wrev |= (w >> k & 1) << (63 - k);
		int32_t s = x, t = y;
		auto sext24 = [](uint32_t v) { return (int32_t)(v << 8) >> 8; };
		auto absdiff = [](int64_t p, int64_t q) { return p > q ? p - q : q - p; };
		int l = i % 32, r = (i + 5) % 32;
		const int64_t want[results] = {__builtin_popcount(x), x ? __builtin_clz(x) : 32, x ? __builtin_ctz(x) + 1 : 0, rev, __builtin_popcountll(w),
			w ? __builtin_clzll(w) : 64, w ? __builtin_ctzll(w) + 1 : 0, (int64_t)wrev, // the bytes are taken by selectors 0, 4, 1, 5
			(x & 255) | (y & 255) << 8 | (int64_t)(x >> 8 & 255) << 16 | (int64_t)(y >> 8 & 255) << 24, (int64_t)((uint64_t)x * y >> 32),
			(int64_t)s * t >> 32, (int64_t)((unsigned __int128)w * (w ^ 0x123456789abcdefull) >> 64), (int64_t)((__int128)(int64_t)w * -12345678901234ll >> 64),
			((int64_t)s + t) >> 1, (int64_t)(((uint64_t)x + y + 1) >> 1), (int64_t)(uint32_t)(absdiff(x, y) + 17) + (int64_t)(uint32_t)(absdiff(s >> 2, t >> 2) + 3),
			(int64_t)(uint32_t)(l ? y << l | x >> (32 - l) : y), (int64_t)(uint32_t)(r ? y << (32 - r) | x >> r : x),
			(int32_t)((uint32_t)sext24(x) * (uint32_t)sext24(y)), (uint32_t)((x & 0xffffff) * (uint64_t)(y & 0xffffff))};
		for (int k = 0; k < results; k++)
			if (h[i][k] != want[k]) {
				printf("%d of %08x %08x: %llx, not %llx\n", k, x, y, (long long)h[i][k], (long long)want[k]);
				ok = false;
			}
	}
	return verdict(ok);
}
