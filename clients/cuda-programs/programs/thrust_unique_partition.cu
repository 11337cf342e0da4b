// thrust: unique, remove, partition, set operations, binary searches.
#include "check.h"
#include <algorithm>
#include <thrust/binary_search.h>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/merge.h>
#include <thrust/partition.h>
#include <thrust/remove.h>
#include <thrust/set_operations.h>
#include <thrust/sort.h>
#include <thrust/unique.h>

struct Even { __host__ __device__ bool operator()(int v) const { return v % 2 == 0; } };

static std::vector<int> host(const thrust::device_vector<int> &d, size_t n) {
	std::vector<int> h(n);
	thrust::copy(d.begin(), d.begin() + n, h.begin());
	return h;
}

int main() {
	const int n = 2500;
	std::vector<int> h(n), k(n / 2);
	unsigned seed = 27;
	for (int &v : h) v = lcg(seed) % 400;
	for (int &v : k) v = lcg(seed) % 400;
	thrust::device_vector<int> d(h.begin(), h.end()), e(k.begin(), k.end()), out(2 * n);
	auto end = thrust::stable_partition(d.begin(), d.end(), Even());
	std::vector<int> w = h;
	auto wend = std::stable_partition(w.begin(), w.end(), Even());
	bool ok = end - d.begin() == wend - w.begin() && host(d, n) == w;
	d.assign(h.begin(), h.end());
	end = thrust::remove_if(d.begin(), d.end(), Even());
	w = h;
	w.erase(std::remove_if(w.begin(), w.end(), Even()), w.end());
	ok &= end - d.begin() == (long)w.size() && host(d, w.size()) == w;
	d.assign(h.begin(), h.end());
	auto last = thrust::copy_if(d.begin(), d.end(), out.begin(), Even());
	ok &= last - out.begin() == n - (long)w.size();
	thrust::sort(d.begin(), d.end());
	thrust::sort(e.begin(), e.end());
	std::sort(h.begin(), h.end());
	std::sort(k.begin(), k.end());
	last = thrust::merge(d.begin(), d.end(), e.begin(), e.end(), out.begin());
	w.resize(h.size() + k.size());
	std::merge(h.begin(), h.end(), k.begin(), k.end(), w.begin());
	ok &= host(out, w.size()) == w;
	d.erase(thrust::unique(d.begin(), d.end()), d.end());
	e.erase(thrust::unique(e.begin(), e.end()), e.end());
	h.erase(std::unique(h.begin(), h.end()), h.end());
	k.erase(std::unique(k.begin(), k.end()), k.end());
	ok &= host(d, d.size()) == h && host(e, e.size()) == k;
	w.clear();
	std::set_intersection(h.begin(), h.end(), k.begin(), k.end(), std::back_inserter(w));
	last = thrust::set_intersection(d.begin(), d.end(), e.begin(), e.end(), out.begin());
	ok &= last - out.begin() == (long)w.size() && host(out, w.size()) == w;
	thrust::device_vector<int> places(100), values(100);
	for (int i = 0; i < 100; i++) values[i] = i * 5 - 20;
	thrust::lower_bound(d.begin(), d.end(), values.begin(), values.end(), places.begin());
	std::vector<int> p = host(places, 100);
	for (int i = 0; i < 100; i++) ok &= p[i] == std::lower_bound(h.begin(), h.end(), i * 5 - 20) - h.begin();
	return verdict(ok);
}
