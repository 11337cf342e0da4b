// Every atomic of 32-bit and 64-bit integers, in global and in shared memory.
#include "check.h"

template <class T> __device__ void all(T *p, T v) {
	atomicAdd(p + 0, v);
	atomicMin(p + 1, v);
	atomicMax(p + 2, v);
	atomicAnd(p + 3, ~(T(1) << v % 31));
	atomicOr(p + 4, T(1) << v % 31);
	atomicXor(p + 5, v);
	T old = p[6], seen;
	do {
		seen = old;
		old = atomicCAS(p + 6, seen, seen + 2 * v);
	} while (old != seen);
}

template <class T> __global__ void global(T *p) { all<T>(p, T(threadIdx.x + blockIdx.x * blockDim.x)); }
template <class T> __global__ void shared(T *p) {
	__shared__ T s[7];
	if (threadIdx.x < 7) s[threadIdx.x] = p[threadIdx.x];
	__syncthreads();
	all<T>(s, T(threadIdx.x));
	__syncthreads();
	if (threadIdx.x < 7) p[threadIdx.x] = s[threadIdx.x];
}
__global__ void special(unsigned *u, int *i, unsigned long long *taken) {
	atomicInc(u, 9);
	atomicDec(u + 1, 6);
	atomicSub(u + 2, 3u);
	atomicSub(i, (int)threadIdx.x);
	unsigned long long mine = threadIdx.x + 1;
	unsigned long long before = atomicExch(taken, mine); // a chain: each value is taken out once
	atomicAdd(taken + 1, before);
}

template <class T> bool test() {
	T start[7] = {5, 1000, 0, T(-1), 0, 0, 100}, got[7], *d;
	const int n = 128;
	bool ok = true;
	CHECK(cudaMalloc(&d, sizeof start));
	for (int kind = 0; kind < 2; kind++) {
		CHECK(cudaMemcpy(d, start, sizeof start, cudaMemcpyHostToDevice));
		if (kind) shared<T><<<1, n>>>(d);
		else global<T><<<4, n / 4>>>(d);
		CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
		T want[7];
		for (int k = 0; k < 7; k++) want[k] = start[k];
		for (T v = 0; v < T(n); v++) {
			want[0] += v;
			want[1] = want[1] < v ? want[1] : v;
			want[2] = want[2] > v ? want[2] : v;
			want[3] &= ~(T(1) << v % 31);
			want[4] |= T(1) << v % 31;
			want[5] ^= v;
			want[6] += 2 * v;
		}
		for (int k = 0; k < 7; k++) ok &= got[k] == want[k];
	}
	return ok;
}

int main() {
	bool ok = test<int>();
	ok &= test<unsigned>();
	ok &= test<unsigned long long>();
	unsigned *u, hu[3] = {4, 2, 1000};
	int *i, hi = 0;
	unsigned long long *t, ht[2] = {0, 0};
	CHECK(cudaMalloc(&u, sizeof hu));
	CHECK(cudaMalloc(&i, sizeof hi));
	CHECK(cudaMalloc(&t, sizeof ht));
	CHECK(cudaMemcpy(u, hu, sizeof hu, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(i, 0, 4));
	CHECK(cudaMemset(t, 0, 16));
	special<<<1, 64>>>(u, i, t);
	CHECK(cudaMemcpy(hu, u, sizeof hu, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&hi, i, sizeof hi, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(ht, t, sizeof ht, cudaMemcpyDeviceToHost));
	unsigned inc = 4, dec = 2;
	for (int k = 0; k < 64; k++) {
		inc = inc >= 9 ? 0 : inc + 1;
		dec = dec == 0 || dec > 6 ? 6 : dec - 1;
	}
	ok &= hu[0] == inc && hu[1] == dec && hu[2] == 1000 - 192 && hi == -2016 && ht[0] + ht[1] == 2080;
	return verdict(ok);
}
