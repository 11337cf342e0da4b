// Atomic additions of float, double, half, half2 and bfloat16; maxima of floats by compare and swap.
#include "check.h"
#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ float atomic_max(float *p, float v) {
	int *i = (int *)p, old = *i, seen;
	do {
		seen = old;
		if (__int_as_float(seen) >= v) break;
		old = atomicCAS(i, seen, __float_as_int(v));
	} while (old != seen);
	return __int_as_float(old);
}

struct Sums { float f; double d; __half h; __nv_bfloat16 b; __half2 h2; float max; float exch; };

__global__ void add(Sums *s, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	atomicAdd(&s->f, i * 0.5f);
	atomicAdd(&s->d, i * 0.125);
	atomicAdd(&s->h, __float2half(1.0f));
	atomicAdd(&s->b, __float2bfloat16(0.5f));
	atomicAdd(&s->h2, __floats2half2_rn(2.0f, -1.0f));
	atomic_max(&s->max, (float)(i * 37 % n) + 0.25f);
	float old = atomicExch(&s->exch, 3.0f);
	if (old != 1.0f && old != 3.0f) atomicAdd(&s->f, 1e6f);
}

int main() {
	const int n = 200;
	Sums s = {}, *d;
	s.max = -1e30f;
	s.exch = 1;
	CHECK(cudaMalloc(&d, sizeof s));
	CHECK(cudaMemcpy(d, &s, sizeof s, cudaMemcpyHostToDevice));
	add<<<7, 32>>>(d, n);
	CHECK(cudaMemcpy(&s, d, sizeof s, cudaMemcpyDeviceToHost));
	printf("%g %g %g %g %g %g %g %g\n", s.f, s.d, __half2float(s.h), __bfloat162float(s.b), __low2float(s.h2), __high2float(s.h2), s.max, s.exch);
	bool ok = s.f == n * (n - 1) / 4.0f && s.d == n * (n - 1) / 16.0 && __half2float(s.h) == n && __bfloat162float(s.b) == n / 2;
	ok &= __low2float(s.h2) == 2 * n && __high2float(s.h2) == -n && s.max == n - 1 + 0.25f && s.exch == 3;
	return verdict(ok);
}
