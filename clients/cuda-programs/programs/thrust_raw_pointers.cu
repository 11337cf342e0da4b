// thrust with memory of cudaMalloc, with a stream, and with kernels between its algorithms.
#include "check.h"
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/fill.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>

__global__ void triangle(int *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] += i;
}

int main() {
	const int n = 1234;
	int *raw;
	cudaStream_t s;
	CHECK(cudaMalloc(&raw, n * sizeof(int)));
	CHECK(cudaStreamCreate(&s));
	thrust::device_ptr<int> p(raw);
	thrust::fill(thrust::cuda::par.on(s), p, p + n, 5);
	triangle<<<(n + 127) / 128, 128, 0, s>>>(raw, n);
	int sum = thrust::reduce(thrust::cuda::par.on(s), p, p + n);
	bool ok = sum == 5 * n + n * (n - 1) / 2;
	thrust::exclusive_scan(thrust::device, raw, raw + n, raw);
	std::vector<int> h(n);
	CHECK(cudaMemcpy(h.data(), raw, n * sizeof(int), cudaMemcpyDeviceToHost));
	int running = 0;
	for (int i = 0; i < n; i++) {
		ok &= h[i] == running;
		running += 5 + i;
	}
	thrust::device_vector<int> v(10, 4);
	triangle<<<1, 32, 0, s>>>(thrust::raw_pointer_cast(v.data()), 10);
	CHECK(cudaStreamSynchronize(s));
	v[3] = 100;
	ok &= thrust::reduce(v.begin(), v.end()) == 40 + 45 - 7 + 100;
	CHECK(cudaFree(raw));
	CHECK(cudaStreamDestroy(s));
	return verdict(ok);
}
