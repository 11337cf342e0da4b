// Kernels that are templates over types, sizes and operations.
#include "check.h"
#include <cstdint>

template <typename T> struct Add { static __device__ T apply(T a, T b) { return a + b; } static __host__ __device__ constexpr T start() { return T(0); } };
template <typename T> struct Max { static __device__ T apply(T a, T b) { return a > b ? a : b; } static __host__ __device__ constexpr T start() { return T(-100); } };

template <typename T, template <typename> class Op, int Threads>
__global__ void reduce(const T *in, T *out, int n) {
	__shared__ T part[Threads];
	T v = Op<T>::start();
	for (int i = threadIdx.x; i < n; i += Threads) v = Op<T>::apply(v, in[i]);
	part[threadIdx.x] = v;
	__syncthreads();
#pragma unroll
	for (int d = Threads / 2; d > 0; d /= 2) {
		if (threadIdx.x < d) part[threadIdx.x] = Op<T>::apply(part[threadIdx.x], part[threadIdx.x + d]);
		__syncthreads();
	}
	if (threadIdx.x == 0) *out = part[0];
}

template <typename T> bool test() {
	const int n = 777;
	T in[n], sum = 0, most = -100, got[2], *d;
	for (int i = 0; i < n; i++) {
		in[i] = (T)((i * 31 % 97) / 4 - 12);
		sum += in[i];
		most = in[i] > most ? in[i] : most;
	}
	CHECK(cudaMalloc(&d, sizeof in + sizeof got));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	reduce<T, Add, 64><<<1, 64>>>(d, d + n, n);
	reduce<T, Max, 256><<<1, 256>>>(d, d + n + 1, n);
	CHECK(cudaMemcpy(got, d + n, sizeof got, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(d));
	return got[0] == sum && got[1] == most;
}

int main() {
	bool ok = test<int>();
	ok &= test<float>();
	ok &= test<double>();
	ok &= test<int64_t>();
	ok &= test<int16_t>();
	return verdict(ok);
}
