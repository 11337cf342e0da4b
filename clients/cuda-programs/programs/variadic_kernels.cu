// Parameter packs: a kernel with any number of arrays, and one with any number of functors.
#include "check.h"

template <class... T> __device__ double total(int i, const T *...arrays) { return (0.0 + ... + double(arrays[i])); }

template <class... T> __global__ void sum_all(double *out, int n, const T *...arrays) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = total(i, arrays...) + 1000 * sizeof...(T);
}

struct Scale { double by; __device__ double operator()(double x) const { return x * by; } };
struct Shift { double by; __device__ double operator()(double x) const { return x + by; } };

template <class... F> __global__ void pipeline(double *p, int n, F... steps) {
	int i = threadIdx.x;
	if (i >= n) return;
	double v = p[i];
	((v = steps(v)), ...);
	p[i] = v;
}

template <class T> T *upload(int n, int factor) {
	std::vector<T> h(n);
	for (int i = 0; i < n; i++) h[i] = T(i % 10 * factor);
	T *d;
	CHECK(cudaMalloc(&d, n * sizeof(T)));
	CHECK(cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice));
	return d;
}

int main() {
	const int n = 60;
	double *out, host[n];
	CHECK(cudaMalloc(&out, sizeof host));
	auto *a = upload<int>(n, 3);
	auto *b = upload<float>(n, -2);
	auto *c = upload<char>(n, 5);
	auto *d = upload<long long>(n, 100);
	bool ok = true;
	auto check = [&](int factor, int arrays, double mul, double plus) {
		CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++) ok &= host[i] == (i % 10 * factor + 1000 * arrays) * mul + plus;
	};
	sum_all<<<1, 64>>>(out, n, a);
	check(3, 1, 1, 0);
	sum_all<<<1, 64>>>(out, n, a, b, c);
	check(6, 3, 1, 0);
	sum_all<<<1, 64>>>(out, n, d, c, b, a, a);
	check(109, 5, 1, 0);
	pipeline<<<1, 64>>>(out, n, Scale{2}, Shift{-5}, Scale{0.5}, Shift{1});
	check(109, 5, 1, -1.5);
	return verdict(ok);
}
