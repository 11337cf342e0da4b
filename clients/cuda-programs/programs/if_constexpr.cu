// One kernel body for several types and modes, chosen with if constexpr.
#include "check.h"
#include <type_traits>

enum class Mode { copy, square, bits };

template <Mode mode, class T> __global__ void transform(const T *in, double *out, int n) {
	int i = threadIdx.x + blockIdx.x * blockDim.x;
	if (i >= n) return;
	if constexpr (mode == Mode::copy) {
		out[i] = in[i];
	} else if constexpr (mode == Mode::square) {
		if constexpr (std::is_integral_v<T>) out[i] = (double)((long long)in[i] * in[i]);
		else out[i] = in[i] * in[i];
	} else {
		static_assert(std::is_integral<T>::value, "bits of integers only");
		if constexpr (sizeof(T) == 8) out[i] = __popcll(in[i]);
		else out[i] = __popc((std::make_unsigned_t<T>)in[i]);
	}
}

template <Mode mode, class T, class F> bool test(F want) {
	const int n = 90;
	T in[n], *di;
	double out[n], *dout;
	for (int i = 0; i < n; i++) in[i] = (T)((i - 45) * 3);
	CHECK(cudaMalloc(&di, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
	transform<mode><<<3, 32>>>(di, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= out[i] == want(in[i]);
	return ok;
}

int main() {
	bool ok = test<Mode::copy, float>([](float v) { return (double)v; });
	ok &= test<Mode::copy, short>([](short v) { return (double)v; });
	ok &= test<Mode::square, int>([](int v) { return (double)v * v; });
	ok &= test<Mode::square, double>([](double v) { return v * v; });
	ok &= test<Mode::bits, int>([](int v) { return (double)__builtin_popcount(v); });
	ok &= test<Mode::bits, long long>([](long long v) { return (double)__builtin_popcountll(v); });
	ok &= test<Mode::bits, unsigned char>([](unsigned char v) { return (double)__builtin_popcount(v); });
	return verdict(ok);
}
