/* Random numbers in kernels: cuRAND's documentation, "Device API Overview". Generators: XORWOW (Marsaglia, "Xorshift
   RNGs", 2003), MRG32k3a (L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number
   Generators", 1999), Philox4x32-10 (Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3", 2011), Sobol'
   sequences in Gray code order (Antonov and Saleev, 1979), as they are and with digits scrambled by a constant. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)

#include "gocuda/curand_jumps.h"

#define __GOCUDA_RAND static __device__ __forceinline__
#define __GOCUDA_RAND_CALL static __device__ __attribute__((noinline, unused))

typedef unsigned curandDirectionVectors32_t[32];
typedef unsigned long long curandDirectionVectors64_t[64];

/* What normal numbers made in pairs leave for the next call. */
struct __gocuda_rand_spare {
	int has, has_double;
	float value;
	double value_double;
};
struct curandStateXORWOW {
	unsigned d, v[5];
	__gocuda_rand_spare spare;
};
struct curandStateMRG32k3a {
	unsigned s1[3], s2[3];
	__gocuda_rand_spare spare;
};
struct curandStatePhilox4_32_10 {
	uint4 ctr, output;
	uint2 key;
	unsigned STATE; /* how many words of output are used */
	__gocuda_rand_spare spare;
};
struct curandStateSobol32 {
	unsigned i, x, c;
	unsigned direction_vectors[32];
};
struct curandStateScrambledSobol32 {
	unsigned i, x, c;
	unsigned direction_vectors[32];
};
struct curandStateSobol64 {
	unsigned long long i, x, c;
	unsigned long long direction_vectors[64];
};
struct curandStateScrambledSobol64 {
	unsigned long long i, x, c;
	unsigned long long direction_vectors[64];
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStateMRG32k3a curandStateMRG32k3a_t;
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;
typedef struct curandStateSobol32 curandStateSobol32_t;
typedef struct curandStateScrambledSobol32 curandStateScrambledSobol32_t;
typedef struct curandStateSobol64 curandStateSobol64_t;
typedef struct curandStateScrambledSobol64 curandStateScrambledSobol64_t;

/* XORWOW. */

__GOCUDA_RAND void __gocuda_xorwow_step(unsigned *v) {
	unsigned t = v[0] ^ v[0] >> 2;
	v[0] = v[1], v[1] = v[2], v[2] = v[3], v[3] = v[4];
	v[4] ^= v[4] << 4 ^ t ^ t << 1;
}
/* The state after n times 2^from steps: the sum of the states whose power of x the polynomial of the skip has. */
__GOCUDA_RAND_CALL void __gocuda_xorwow_skip(unsigned *v, unsigned long long n, int from) {
	unsigned s0 = v[0], s1 = v[1], s2 = v[2], s3 = v[3], s4 = v[4];
	for (; n; n >>= 1, from++) {
		if (!(n & 1)) continue;
		unsigned r0 = 0, r1 = 0, r2 = 0, r3 = 0, r4 = 0;
#pragma unroll 1
		for (int w = 0; w < 5; w++) {
			unsigned p = __gocuda_xorwow_jump[from][w];
#pragma unroll 8
			for (int k = 0; k < 32; k++, p >>= 1) {
				unsigned m = -(p & 1), t = s0 ^ s0 >> 2;
				r0 ^= s0 & m, r1 ^= s1 & m, r2 ^= s2 & m, r3 ^= s3 & m, r4 ^= s4 & m;
				s0 = s1, s1 = s2, s2 = s3, s3 = s4;
				s4 ^= s4 << 4 ^ t ^ t << 1;
			}
		}
		s0 = r0, s1 = r1, s2 = r2, s3 = r3, s4 = r4;
	}
	v[0] = s0, v[1] = s1, v[2] = s2, v[3] = s3, v[4] = s4;
}
__GOCUDA_RAND void skipahead(unsigned long long n, curandStateXORWOW_t *state) {
	__gocuda_xorwow_skip(state->v, n, 0);
	state->d += 362437u * (unsigned)n;
}
/* Subsequences are 2^67 numbers apart. */
__GOCUDA_RAND void skipahead_sequence(unsigned long long n, curandStateXORWOW_t *state) {
	__gocuda_xorwow_skip(state->v, n, 67);
}
/* The seed changes Marsaglia's first state; the constants are those of the numbers that cuRAND gives. */
__GOCUDA_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
							   curandStateXORWOW_t *state) {
	unsigned t = 1099087573u * ((unsigned)seed ^ 0xaad26b49u), u = 2591861531u * ((unsigned)(seed >> 32) ^ 0xf7dcefddu);
	state->v[0] = 123456789u + t;
	state->v[1] = 362436069u ^ t;
	state->v[2] = 521288629u + u;
	state->v[3] = 88675123u ^ u;
	state->v[4] = 5783321u + t;
	state->d = 6615241u + t + u;
	state->spare.has = state->spare.has_double = 0;
	skipahead_sequence(subsequence, state);
	skipahead(offset, state);
}
__GOCUDA_RAND unsigned curand(curandStateXORWOW_t *state) {
	__gocuda_xorwow_step(state->v);
	state->d += 362437;
	return state->v[4] + state->d;
}

/* MRG32k3a. */

#define __GOCUDA_M1 4294967087ull
#define __GOCUDA_M2 4294944443ull

__GOCUDA_RAND void __gocuda_mrg_times(const unsigned *m, unsigned *s, unsigned long long modulus) {
	unsigned r[3];
	for (int i = 0; i < 3; i++) {
		unsigned long long sum = (unsigned long long)m[3 * i] * s[0] % modulus;
		sum += (unsigned long long)m[3 * i + 1] * s[1] % modulus;
		sum += (unsigned long long)m[3 * i + 2] * s[2] % modulus;
		r[i] = (unsigned)(sum % modulus);
	}
	s[0] = r[0], s[1] = r[1], s[2] = r[2];
}
__GOCUDA_RAND_CALL void __gocuda_mrg_skip(unsigned *s1, unsigned *s2, unsigned long long n, int from) {
	for (; n; n >>= 1, from++)
		if (n & 1) {
			__gocuda_mrg_times(__gocuda_mrg_jump[from], s1, __GOCUDA_M1);
			__gocuda_mrg_times(__gocuda_mrg_jump[from] + 9, s2, __GOCUDA_M2);
		}
}
__GOCUDA_RAND void skipahead(unsigned long long n, curandStateMRG32k3a_t *state) {
	__gocuda_mrg_skip(state->s1, state->s2, n, 0);
}
/* Subsequences are 2^76 numbers apart, sequences 2^127. */
__GOCUDA_RAND void skipahead_subsequence(unsigned long long n, curandStateMRG32k3a_t *state) {
	__gocuda_mrg_skip(state->s1, state->s2, n, 76);
}
__GOCUDA_RAND void skipahead_sequence(unsigned long long n, curandStateMRG32k3a_t *state) {
	__gocuda_mrg_skip(state->s1, state->s2, n, 127);
}
__GOCUDA_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
							   curandStateMRG32k3a_t *state) {
	for (int i = 0; i < 3; i++) state->s1[i] = state->s2[i] = 12345;
	if (seed) {
		unsigned long long x = (unsigned)seed ^ 0x55555555u, y = (unsigned)(seed >> 32) ^ 0xaaaaaaaau;
		state->s1[0] = (unsigned)(x * 12345 % __GOCUDA_M1);
		state->s1[1] = (unsigned)(y * 12345 % __GOCUDA_M1);
		state->s1[2] = (unsigned)(x * 12345 % __GOCUDA_M1);
		state->s2[0] = (unsigned)(y * 12345 % __GOCUDA_M2);
		state->s2[1] = (unsigned)(x * 12345 % __GOCUDA_M2);
		state->s2[2] = (unsigned)(y * 12345 % __GOCUDA_M2);
	}
	state->spare.has = state->spare.has_double = 0;
	skipahead_subsequence(subsequence, state);
	skipahead(offset, state);
}
/* 1 to the first modulus. */
__GOCUDA_RAND double curand_MRG32k3a(curandStateMRG32k3a_t *state) {
	unsigned *s = state->s1, *t = state->s2;
	unsigned a = (unsigned)((1403580ull * s[1] + 810728ull * (__GOCUDA_M1 - s[0])) % __GOCUDA_M1);
	unsigned b = (unsigned)((527612ull * t[2] + 1370589ull * (__GOCUDA_M2 - t[0])) % __GOCUDA_M2);
	s[0] = s[1], s[1] = s[2], s[2] = a;
	t[0] = t[1], t[1] = t[2], t[2] = b;
	return (double)(a > b ? (unsigned long long)a - b : a + __GOCUDA_M1 - b);
}
/* The numbers are stretched to 32 bits. */
__GOCUDA_RAND unsigned curand(curandStateMRG32k3a_t *state) {
	return (unsigned)(curand_MRG32k3a(state) * 1.000000048662);
}

/* Philox4x32-10: the subsequence is the upper half of the counter. */

__GOCUDA_RAND uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
#pragma unroll
	for (int round = 0; round < 10; round++) {
		unsigned a = 0xd2511f53u * c.x, b = 0xcd9e8d57u * c.z;
		uint4 n;
		n.x = __umulhi(0xcd9e8d57u, c.z) ^ c.y ^ k.x, n.y = b;
		n.z = __umulhi(0xd2511f53u, c.x) ^ c.w ^ k.y, n.w = a;
		c = n;
		k.x += 0x9e3779b9u, k.y += 0xbb67ae85u;
	}
	return c;
}
__GOCUDA_RAND void __gocuda_philox_add(unsigned long long n, unsigned long long high,
									   curandStatePhilox4_32_10_t *state) {
	unsigned long long low = (unsigned long long)state->ctr.y << 32 | state->ctr.x, sum = low + n;
	high += ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + (sum < low);
	state->ctr.x = (unsigned)sum, state->ctr.y = (unsigned)(sum >> 32);
	state->ctr.z = (unsigned)high, state->ctr.w = (unsigned)(high >> 32);
	state->output = curand_Philox4x32_10(state->ctr, state->key);
}
__GOCUDA_RAND void skipahead(unsigned long long n, curandStatePhilox4_32_10_t *state) {
	state->STATE += (unsigned)n & 3;
	unsigned carry = state->STATE >> 2;
	state->STATE &= 3;
	__gocuda_philox_add((n >> 2) + carry, 0, state);
}
__GOCUDA_RAND void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t *state) {
	__gocuda_philox_add(0, n, state);
}
__GOCUDA_RAND void curand_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
							   curandStatePhilox4_32_10_t *state) {
	state->ctr.x = state->ctr.y = state->ctr.z = state->ctr.w = 0;
	state->key.x = (unsigned)seed, state->key.y = (unsigned)(seed >> 32);
	state->STATE = 0;
	state->spare.has = state->spare.has_double = 0;
	skipahead_sequence(subsequence, state);
	skipahead(offset, state);
}
__GOCUDA_RAND unsigned curand(curandStatePhilox4_32_10_t *state) {
	unsigned r = state->STATE == 0 ? state->output.x : state->STATE == 1 ? state->output.y
		: state->STATE == 2 ? state->output.z : state->output.w;
	if (++state->STATE == 4) {
		state->STATE = 0;
		__gocuda_philox_add(1, 0, state);
	}
	return r;
}
/* The next four words, wherever the state stands. */
__GOCUDA_RAND uint4 curand4(curandStatePhilox4_32_10_t *state) {
	uint4 a = state->output, r;
	__gocuda_philox_add(1, 0, state);
	uint4 b = state->output;
	switch (state->STATE) {
	case 0: return a;
	case 1: r.x = a.y, r.y = a.z, r.z = a.w, r.w = b.x; return r;
	case 2: r.x = a.z, r.y = a.w, r.z = b.x, r.w = b.y; return r;
	}
	r.x = a.w, r.y = b.x, r.z = b.y, r.w = b.z;
	return r;
}

/* Sobol' sequences. The state is that of number i; each call changes the digit at the lowest zero bit of i. */

#define __GOCUDA_SOBOL(S, W, bits, lowest)                                                                            \
	__GOCUDA_RAND void __gocuda_sobol_to(W n, S *state) {                                                             \
		W gray = n ^ n >> 1;                                                                                          \
		state->i = n, state->x = state->c;                                                                            \
		for (int k = 0; gray; k++, gray >>= 1)                                                                        \
			if (gray & 1) state->x ^= state->direction_vectors[k];                                                    \
	}                                                                                                                 \
	__GOCUDA_RAND void __gocuda_sobol_init(const W *vectors, W c, W offset, S *state) {                               \
		for (int k = 0; k < bits; k++) state->direction_vectors[k] = vectors[k];                                      \
		state->c = c;                                                                                                 \
		__gocuda_sobol_to(offset, state);                                                                             \
	}                                                                                                                 \
	__GOCUDA_RAND void skipahead(W n, S *state) { __gocuda_sobol_to(state->i + n, state); }                           \
	__GOCUDA_RAND W curand(S *state) {                                                                                \
		W r = state->x;                                                                                               \
		int k = lowest(~state->i) - 1;                                                                                \
		state->x ^= state->direction_vectors[k < 0 ? bits - 1 : k];                                                   \
		state->i++;                                                                                                   \
		return r;                                                                                                     \
	}
__GOCUDA_SOBOL(curandStateSobol32_t, unsigned, 32, __ffs)
__GOCUDA_SOBOL(curandStateScrambledSobol32_t, unsigned, 32, __ffs)
__GOCUDA_SOBOL(curandStateSobol64_t, unsigned long long, 64, __ffsll)
__GOCUDA_SOBOL(curandStateScrambledSobol64_t, unsigned long long, 64, __ffsll)
#undef __GOCUDA_SOBOL

__GOCUDA_RAND void curand_init(const curandDirectionVectors32_t vectors, unsigned offset, curandStateSobol32_t *state) {
	__gocuda_sobol_init(vectors, 0u, offset, state);
}
__GOCUDA_RAND void curand_init(const curandDirectionVectors32_t vectors, unsigned c, unsigned offset,
							   curandStateScrambledSobol32_t *state) {
	__gocuda_sobol_init(vectors, c, offset, state);
}
__GOCUDA_RAND void curand_init(const curandDirectionVectors64_t vectors, unsigned long long offset,
							   curandStateSobol64_t *state) {
	__gocuda_sobol_init(vectors, 0ull, offset, state);
}
__GOCUDA_RAND void curand_init(const curandDirectionVectors64_t vectors, unsigned long long c,
							   unsigned long long offset, curandStateScrambledSobol64_t *state) {
	__gocuda_sobol_init(vectors, c, offset, state);
}

#include "gocuda/curand_distributions.h"

#undef __GOCUDA_RAND
#undef __GOCUDA_RAND_CALL
#undef __GOCUDA_M1
#undef __GOCUDA_M2

#endif
#endif
