/* Distributions over the generators of curand_kernel.h, which includes this file: cuRAND's documentation,
   "Distributions". Uniform numbers lie in (0, 1]. Normal numbers are those of Box and Muller, in pairs, of pseudorandom
   generators, and the inverse distribution function of quasirandom ones. */
#ifndef __GOCUDA_CURAND_DISTRIBUTIONS_H__
#define __GOCUDA_CURAND_DISTRIBUTIONS_H__

/* Numbers of 32 and 53 bits in the middle of their intervals; as double, 32 bits at their end. */
__GOCUDA_RAND float __gocuda_unit(unsigned x) { return (float)x * 0x1p-32f + 0x1p-33f; }
__GOCUDA_RAND double __gocuda_unit_double(unsigned x, unsigned y) {
	return (double)((unsigned long long)x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}
__GOCUDA_RAND double __gocuda_unit_end(unsigned x) { return (double)x * 0x1p-32 + 0x1p-32; }
__GOCUDA_RAND double __gocuda_unit_double(unsigned long long x) { return (double)(x >> 11) * 0x1p-53 + 0x1p-54; }
__GOCUDA_RAND double __gocuda_unit_mrg(curandStateMRG32k3a_t *state) {
	return curand_MRG32k3a(state) * (1.0 / __GOCUDA_M1);
}

#define __GOCUDA_UNIFORM(S, f, d)                                  \
	__GOCUDA_RAND float curand_uniform(S *state) { return f; }     \
	__GOCUDA_RAND double curand_uniform_double(S *state) { return d; }
__GOCUDA_RAND double __gocuda_two_words(unsigned x, curandStateXORWOW_t *state) {
	return __gocuda_unit_double(x, curand(state));
}
__GOCUDA_UNIFORM(curandStateXORWOW_t, __gocuda_unit(curand(state)), __gocuda_two_words(curand(state), state))
__GOCUDA_UNIFORM(curandStatePhilox4_32_10_t, __gocuda_unit(curand(state)), __gocuda_unit_end(curand(state)))
__GOCUDA_UNIFORM(curandStateMRG32k3a_t, (float)__gocuda_unit_mrg(state), __gocuda_unit_mrg(state))
__GOCUDA_UNIFORM(curandStateSobol32_t, __gocuda_unit(curand(state)), __gocuda_unit_end(curand(state)))
__GOCUDA_UNIFORM(curandStateScrambledSobol32_t, __gocuda_unit(curand(state)), __gocuda_unit_end(curand(state)))
__GOCUDA_UNIFORM(curandStateSobol64_t, __gocuda_unit((unsigned)(curand(state) >> 32)),
				 __gocuda_unit_double(curand(state)))
__GOCUDA_UNIFORM(curandStateScrambledSobol64_t, __gocuda_unit((unsigned)(curand(state) >> 32)),
				 __gocuda_unit_double(curand(state)))
#undef __GOCUDA_UNIFORM
__GOCUDA_RAND float4 curand_uniform4(curandStatePhilox4_32_10_t *state) {
	uint4 x = curand4(state);
	return make_float4(__gocuda_unit(x.x), __gocuda_unit(x.y), __gocuda_unit(x.z), __gocuda_unit(x.w));
}
__GOCUDA_RAND double2 curand_uniform2_double(curandStatePhilox4_32_10_t *state) {
	uint4 x = curand4(state);
	return make_double2(__gocuda_unit_double(x.x, x.y), __gocuda_unit_double(x.z, x.w));
}
/* Four numbers of eight words: which words make which number has not been recorded. */
__GOCUDA_RAND double4 curand_uniform4_double(curandStatePhilox4_32_10_t *state) {
	double2 a = curand_uniform2_double(state), b = curand_uniform2_double(state);
	return make_double4(a.x, a.y, b.x, b.y);
}

/* Two normal numbers. The angle is of the second word, in units of pi in double. */
__GOCUDA_RAND float2 __gocuda_box_muller(unsigned x, unsigned y) {
	float u = __gocuda_unit(x), v = (float)y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
	float s = sqrtf(-2.0f * logf(u));
	float2 r;
	__sincosf(v, &r.x, &r.y);
	r.x *= s, r.y *= s;
	return r;
}
__GOCUDA_RAND double2 __gocuda_box_muller_double(double u, double v) {
	double s = sqrt(-2.0 * log(u));
	double2 r;
	sincospi(2 * v, &r.x, &r.y);
	r.x *= s, r.y *= s;
	return r;
}
template <class S> __GOCUDA_RAND float2 curand_normal2(S *state) {
	unsigned x = curand(state), y = curand(state);
	return __gocuda_box_muller(x, y);
}
template <class S> __GOCUDA_RAND double2 curand_normal2_double(S *state) {
	double u = curand_uniform_double(state), v = curand_uniform_double(state);
	return __gocuda_box_muller_double(u, v);
}
__GOCUDA_RAND float2 curand_normal2(curandStateMRG32k3a_t *state) {
	float u = curand_uniform(state), v = curand_uniform(state) * 6.2831855f, s = sqrtf(-2.0f * logf(u));
	float2 r;
	__sincosf(v, &r.x, &r.y);
	r.x *= s, r.y *= s;
	return r;
}
template <class S> __GOCUDA_RAND float curand_normal(S *state) {
	if (state->spare.has) {
		state->spare.has = 0;
		return state->spare.value;
	}
	float2 r = curand_normal2(state);
	state->spare.has = 1, state->spare.value = r.y;
	return r.x;
}
template <class S> __GOCUDA_RAND double curand_normal_double(S *state) {
	if (state->spare.has_double) {
		state->spare.has_double = 0;
		return state->spare.value_double;
	}
	double2 r = curand_normal2_double(state);
	state->spare.has_double = 1, state->spare.value_double = r.y;
	return r.x;
}
__GOCUDA_RAND float4 curand_normal4(curandStatePhilox4_32_10_t *state) {
	uint4 x = curand4(state);
	float2 a = __gocuda_box_muller(x.x, x.y), b = __gocuda_box_muller(x.z, x.w);
	return make_float4(a.x, a.y, b.x, b.y);
}
__GOCUDA_RAND double2 curand_normal2_double(curandStatePhilox4_32_10_t *state) {
	double2 u = curand_uniform2_double(state);
	return __gocuda_box_muller_double(u.x, u.y);
}
__GOCUDA_RAND double4 curand_normal4_double(curandStatePhilox4_32_10_t *state) {
	double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
	return make_double4(a.x, a.y, b.x, b.y);
}
#define __GOCUDA_SQRT2 1.4142135623730951
/* Of quasirandom numbers, from the nearer end, so that small differences to 1 count. */
__GOCUDA_RAND float __gocuda_normal_of(unsigned x) {
	return x > 0x80000000u ? 1.4142135f * erfcinvf(2 * __gocuda_unit(~x)) : -1.4142135f * erfcinvf(2 * __gocuda_unit(x));
}
__GOCUDA_RAND double __gocuda_normal_of_double(unsigned x) {
	bool upper = x > 0x80000000u;
	return (upper ? __GOCUDA_SQRT2 : -__GOCUDA_SQRT2) * erfcinv(2 * ((double)(upper ? ~x : x) * 0x1p-32 + 0x1p-33));
}
__GOCUDA_RAND double __gocuda_normal_of_double(unsigned long long x) {
	bool upper = x > 0x8000000000000000u;
	return (upper ? __GOCUDA_SQRT2 : -__GOCUDA_SQRT2) * erfcinv(2 * __gocuda_unit_double(upper ? ~x : x));
}
#define __GOCUDA_NORMAL(S, shift)                                                                                  \
	__GOCUDA_RAND float curand_normal(S *state) { return __gocuda_normal_of((unsigned)(curand(state) >> shift)); } \
	__GOCUDA_RAND double curand_normal_double(S *state) { return __gocuda_normal_of_double(curand(state)); }
__GOCUDA_NORMAL(curandStateSobol32_t, 0)
__GOCUDA_NORMAL(curandStateScrambledSobol32_t, 0)
__GOCUDA_NORMAL(curandStateSobol64_t, 32)
__GOCUDA_NORMAL(curandStateScrambledSobol64_t, 32)
#undef __GOCUDA_NORMAL
#undef __GOCUDA_SQRT2

template <class S> __GOCUDA_RAND float curand_log_normal(S *state, float mean, float deviation) {
	return expf(mean + deviation * curand_normal(state));
}
template <class S> __GOCUDA_RAND double curand_log_normal_double(S *state, double mean, double deviation) {
	return exp(mean + deviation * curand_normal_double(state));
}
template <class S> __GOCUDA_RAND float2 curand_log_normal2(S *state, float mean, float deviation) {
	float2 r = curand_normal2(state);
	return make_float2(expf(mean + deviation * r.x), expf(mean + deviation * r.y));
}
template <class S> __GOCUDA_RAND double2 curand_log_normal2_double(S *state, double mean, double deviation) {
	double2 r = curand_normal2_double(state);
	return make_double2(exp(mean + deviation * r.x), exp(mean + deviation * r.y));
}
__GOCUDA_RAND float4 curand_log_normal4(curandStatePhilox4_32_10_t *state, float mean, float deviation) {
	float4 r = curand_normal4(state);
	return make_float4(expf(mean + deviation * r.x), expf(mean + deviation * r.y), expf(mean + deviation * r.z),
					   expf(mean + deviation * r.w));
}

/* Poisson numbers. Small means: uniform numbers multiplied until exp(-mean) is passed (Knuth). Middle ones: rejection
   from a transformed uniform number (Hormann, "The transformed rejection method for generating Poisson random
   variables", 1993). Large ones: rounded normal numbers. */
template <class S> __GOCUDA_RAND unsigned __gocuda_poisson_knuth(S *state, float mean) {
	unsigned k = 0;
	float p = expf(mean);
	do {
		k++;
		p *= curand_uniform(state);
	} while (p > 1);
	return k - 1;
}
template <class S> __GOCUDA_RAND unsigned __gocuda_poisson_rejection(S *state, double mean) {
	double b = 0.931 + 2.53 * sqrt(mean), a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
	double v = 0.9277 - 3.6224 / (b - 2);
	for (;;) {
		double u = curand_uniform_double(state) - 0.5, w = curand_uniform_double(state), near = 0.5 - fabs(u);
		double k = floor((2 * a / near + b) * u + mean + 0.43);
		if (near >= 0.07 && w <= v) return (unsigned)k;
		if (k < 0 || (near < 0.013 && w > near)) continue;
		if (log(w) + log(inverse) - log(a / (near * near) + b) <= k * log(mean) - mean - lgamma(k + 1)) return (unsigned)k;
	}
}
__GOCUDA_RAND unsigned __gocuda_poisson_normal(double normal, double mean) {
	double v = sqrt(mean) * normal + mean + 0.5;
	return v > 0 ? (unsigned)v : 0;
}
template <class S> __GOCUDA_RAND unsigned curand_poisson(S *state, double mean) {
	if (mean < 64) return __gocuda_poisson_knuth(state, (float)mean);
	if (mean > 4000) return __gocuda_poisson_normal(curand_normal_double(state), mean);
	return __gocuda_poisson_rejection(state, mean);
}
__GOCUDA_RAND uint4 curand_poisson4(curandStatePhilox4_32_10_t *state, double mean) {
	uint4 r;
	if (mean > 4000) {
		double2 a = curand_normal2_double(state), b = curand_normal2_double(state);
		r.x = __gocuda_poisson_normal(a.x, mean), r.y = __gocuda_poisson_normal(a.y, mean);
		r.z = __gocuda_poisson_normal(b.x, mean), r.w = __gocuda_poisson_normal(b.y, mean);
		return r;
	}
	r.x = curand_poisson(state, mean), r.y = curand_poisson(state, mean);
	r.z = curand_poisson(state, mean), r.w = curand_poisson(state, mean);
	return r;
}
/* A quasirandom number gives one Poisson number: the least whose distribution function reaches it. */
__GOCUDA_RAND unsigned __gocuda_poisson_inverse(double u, double normal, double mean) {
	if (mean > 4000) return __gocuda_poisson_normal(normal, mean);
	double k = floor(mean + sqrt(mean) * normal), p, sum;
	if (k < 0) k = 0;
	/* the distribution function at k by its terms from k down, then single steps */
	p = exp(k * log(mean) - mean - lgamma(k + 1)), sum = p;
	double t = p;
	for (double j = k; j > 0 && t > sum * 1e-18; j--) sum += t *= j / mean;
	while (sum < u && p > 0) p *= mean / ++k, sum += p;
	while (k > 0 && sum - p >= u) sum -= p, p *= k-- / mean;
	return (unsigned)k;
}
__GOCUDA_RAND double __gocuda_middle(unsigned x) { return (double)x * 0x1p-32 + 0x1p-33; }
__GOCUDA_RAND double __gocuda_middle(unsigned long long x) { return __gocuda_unit_double(x); }
#define __GOCUDA_POISSON(S)                                                                        \
	__GOCUDA_RAND unsigned curand_poisson(S *state, double mean) {                                 \
		auto x = curand(state);                                                                    \
		return __gocuda_poisson_inverse(__gocuda_middle(x), __gocuda_normal_of_double(x), mean);   \
	}
__GOCUDA_POISSON(curandStateSobol32_t)
__GOCUDA_POISSON(curandStateScrambledSobol32_t)
__GOCUDA_POISSON(curandStateSobol64_t)
__GOCUDA_POISSON(curandStateScrambledSobol64_t)
#undef __GOCUDA_POISSON

#endif
