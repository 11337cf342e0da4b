// cuda::std in kernels: array, tuple, optional, pair, limits, algorithms, complex, bit operations.
#include "check.h"
#include <complex>
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/complex>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>

using Result = cuda::std::tuple<int, float, cuda::std::array<short, 3>>;

__host__ __device__ cuda::std::optional<int> divide(int a, int b) {
	if (b == 0) return cuda::std::nullopt;
	return a / b;
}
__host__ __device__ Result compute(int i) {
	cuda::std::array<short, 3> a{(short)i, (short)(i * i), (short)-i};
	auto q = divide(100, i % 5);
	auto p = cuda::std::make_pair(q.value_or(-1), cuda::std::popcount((unsigned)i));
	cuda::std::complex<float> z(i, 1);
	z = z * z - cuda::std::conj(z);
	if (i == 3) p.first = cuda::std::numeric_limits<int>::max();
	cuda::std::swap(a[0], a[2]);
	return {p.first + p.second % 7, z.real() + 2 * z.imag(), a};
}
__global__ void run(Result *out, int n) {
	int i = threadIdx.x;
	if (i < n) out[i] = compute(i);
}

int main() {
	const int n = 40;
	Result *d, h[n];
	CHECK(cudaMalloc(&d, sizeof h));
	run<<<1, 64>>>(d, n);
	CHECK(cudaMemcpy((void *)h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int q = i % 5 ? 100 / (i % 5) : -1;
		if (i == 3) q = 2147483647;
		std::complex<float> z(i, 1);
		z = z * z - std::conj(z);
		ok &= cuda::std::get<0>(h[i]) == (int)((unsigned)q + __builtin_popcount(i) % 7) && cuda::std::get<1>(h[i]) == z.real() + 2 * z.imag();
		auto a = cuda::std::get<2>(h[i]);
		ok &= a[0] == -i && a[1] == i * i && a[2] == i;
	}
	return verdict(ok);
}
