// cub for the whole device: sums, minima, scans, with the two calls for temporary memory.
#include "check.h"
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

template <class F> static void twice(F f) {
	void *temp = nullptr;
	size_t size = 0;
	CHECK(f(temp, size));
	CHECK(cudaMalloc(&temp, size));
	CHECK(f(temp, size));
	CHECK(cudaFree(temp));
}

int main() {
	const int n = 10000;
	std::vector<int> h(n), got(n);
	unsigned seed = 47;
	long long sum = 0;
	int least = 1 << 30, at = -1;
	for (int i = 0; i < n; i++) {
		h[i] = (int)(lcg(seed) % 3000) - 1000;
		sum += h[i];
		if (h[i] < least) {
			least = h[i];
			at = i;
		}
	}
	int *in, *out;
	long long *total, t;
	cub::KeyValuePair<int, int> *pair, kv;
	CHECK(cudaMalloc(&in, n * 4));
	CHECK(cudaMalloc(&out, n * 4));
	CHECK(cudaMalloc(&total, 8));
	CHECK(cudaMalloc(&pair, sizeof kv));
	CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
	twice([&](void *p, size_t &s) { return cub::DeviceReduce::Reduce(p, s, in, total, n, [] __host__ __device__(long long a, long long b) { return a + b; }, 0LL); });
	twice([&](void *p, size_t &s) { return cub::DeviceReduce::ArgMin(p, s, in, pair, n); });
	twice([&](void *p, size_t &s) { return cub::DeviceScan::InclusiveSum(p, s, in, out, n); });
	CHECK(cudaMemcpy(&t, total, 8, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&kv, pair, sizeof kv, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost));
	bool ok = t == sum && kv.key == at && kv.value == least;
	int running = 0;
	for (int i = 0; i < n; i++) ok &= got[i] == (running += h[i]);
	return verdict(ok);
}
