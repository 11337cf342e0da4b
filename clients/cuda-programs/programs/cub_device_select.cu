// cub for the whole device: selection, unique, run lengths, histograms.
#include "check.h"
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_run_length_encode.cuh>
#include <cub/device/device_select.cuh>

template <class F> static void twice(F f) {
	void *temp = nullptr;
	size_t size = 0;
	CHECK(f(temp, size));
	CHECK(cudaMalloc(&temp, size));
	CHECK(f(temp, size));
	CHECK(cudaFree(temp));
}
struct Above {
	int limit;
	__host__ __device__ bool operator()(int v) const { return v > limit; }
};

int main() {
	const int n = 6000;
	std::vector<int> h(n), picked, unique, length;
	std::vector<int> bins(10);
	unsigned seed = 67;
	for (int i = 0; i < n; i++) {
		h[i] = i && lcg(seed) % 3 ? h[i - 1] : (int)(lcg(seed) % 100);
		if (h[i] > 70) picked.push_back(h[i]);
		if (i && h[i] == h[i - 1]) length.back()++;
		else {
			unique.push_back(h[i]);
			length.push_back(1);
		}
		bins[h[i] / 10]++;
	}
	int *in, *out, *lengths, *count, *hist, c;
	CHECK(cudaMalloc(&in, n * 4));
	CHECK(cudaMalloc(&out, n * 4));
	CHECK(cudaMalloc(&lengths, n * 4));
	CHECK(cudaMalloc(&count, 4));
	CHECK(cudaMalloc(&hist, 40));
	CHECK(cudaMemcpy(in, h.data(), n * 4, cudaMemcpyHostToDevice));
	auto result = [&](const int *d) {
		CHECK(cudaMemcpy(&c, count, 4, cudaMemcpyDeviceToHost));
		std::vector<int> v(c);
		CHECK(cudaMemcpy(v.data(), d, c * 4, cudaMemcpyDeviceToHost));
		return v;
	};
	twice([&](void *p, size_t &s) { return cub::DeviceSelect::If(p, s, in, out, count, n, Above{70}); });
	bool ok = result(out) == picked;
	twice([&](void *p, size_t &s) { return cub::DeviceSelect::Unique(p, s, in, out, count, n); });
	ok &= result(out) == unique;
	twice([&](void *p, size_t &s) { return cub::DeviceRunLengthEncode::Encode(p, s, in, out, lengths, count, n); });
	ok &= result(out) == unique && result(lengths) == length;
	twice([&](void *p, size_t &s) { return cub::DeviceHistogram::HistogramEven(p, s, in, hist, 11, 0, 100, n); });
	std::vector<int> got(10);
	CHECK(cudaMemcpy(got.data(), hist, 40, cudaMemcpyDeviceToHost));
	return verdict(ok && got == bins);
}
