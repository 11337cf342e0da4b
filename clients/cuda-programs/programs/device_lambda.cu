// Lambdas of the host that run on the device, with captures by value.
#include "check.h"

template <class F> __global__ void for_each(int n, F f) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) f(i);
}
template <class F> void parallel(int n, F f) {
	for_each<<<(n + 127) / 128, 128>>>(n, f);
	CHECK(cudaGetLastError());
}

int main() {
	const int n = 1000;
	float *x, *y;
	CHECK(cudaMallocManaged(&x, n * sizeof(float)));
	CHECK(cudaMallocManaged(&y, n * sizeof(float)));
	parallel(n, [=] __device__(int i) { x[i] = i * 0.5f; });
	float a = 3;
	int offset = 7;
	parallel(n, [=] __device__(int i) { y[i] = a * x[(i + offset) % n] - 1; });
	a = 1000; // captured by value: no effect
	parallel(n, [x, y] __device__(int i) {
		if (i % 2) {
			float t = x[i];
			x[i] = y[i];
			y[i] = t;
		}
	});
	CHECK(cudaDeviceSynchronize());
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float u = i * 0.5f, v = 3 * ((i + 7) % n * 0.5f) - 1;
		ok &= x[i] == (i % 2 ? v : u) && y[i] == (i % 2 ? u : v);
	}
	return verdict(ok);
}
