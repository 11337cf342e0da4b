// cub for the whole device: radix sorts of pairs, of floats downwards, of segments.
#include "check.h"
#include <algorithm>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>
#include <numeric>

template <class F> static void twice(F f) {
	void *temp = nullptr;
	size_t size = 0;
	CHECK(f(temp, size));
	CHECK(cudaMalloc(&temp, size));
	CHECK(f(temp, size));
	CHECK(cudaFree(temp));
}
template <class T> static T *upload(const std::vector<T> &v) {
	T *d;
	CHECK(cudaMalloc(&d, v.size() * sizeof(T)));
	CHECK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
	return d;
}
template <class T> static std::vector<T> download(const T *d, size_t n) {
	std::vector<T> v(n);
	CHECK(cudaMemcpy(v.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost));
	return v;
}

int main() {
	const int n = 4000;
	std::vector<unsigned> key(n);
	std::vector<int> value(n), offsets = {0, 100, 100, 1500, 1501, n};
	std::vector<float> f(n);
	unsigned seed = 57;
	for (unsigned &k : key) k = lcg(seed) << 12 | lcg(seed) % 16;
	for (float &v : f) v = ((int)(lcg(seed) % 4001) - 2000) / 16.0f;
	std::iota(value.begin(), value.end(), 0);
	unsigned *k = upload(key), *k2 = upload(key);
	int *v = upload(value), *v2 = upload(value), *o = upload(offsets);
	float *a = upload(f), *b = upload(f);
	twice([&](void *p, size_t &s) { return cub::DeviceRadixSort::SortPairs(p, s, k, k2, v, v2, n); });
	twice([&](void *p, size_t &s) { return cub::DeviceRadixSort::SortKeysDescending(p, s, a, b, n); });
	std::stable_sort(value.begin(), value.end(), [&](int x, int y) { return key[x] < key[y]; });
	bool ok = download(v2, n) == value;
	std::sort(key.begin(), key.end());
	ok &= download(k2, n) == key;
	std::vector<float> down = f;
	std::sort(down.begin(), down.end(), [](float x, float y) { return x > y; });
	ok &= download(b, n) == down;
	twice([&](void *p, size_t &s) { return cub::DeviceSegmentedSort::SortKeys(p, s, a, b, n, 5, o, o + 1); });
	for (int i = 0; i < 5; i++) std::sort(f.begin() + offsets[i], f.begin() + offsets[i + 1]);
	ok &= download(b, n) == f;
	return verdict(ok);
}
