// thrust: reductions, transformed reductions, scans, inner products, extremes.
#include "check.h"
#include <thrust/count.h>
#include <thrust/device_vector.h>
#include <thrust/extrema.h>
#include <thrust/inner_product.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform_reduce.h>

struct Square { __host__ __device__ long long operator()(int v) const { return (long long)v * v; } };
struct Odd { __host__ __device__ bool operator()(int v) const { return v % 2 != 0; } };

int main() {
	const int n = 5000;
	std::vector<int> h(n), got(n);
	unsigned seed = 9;
	long long sum = 0, squares = 0, product = 0;
	int odd = 0, least = 0, most = 0;
	for (int i = 0; i < n; i++) {
		h[i] = (int)(lcg(seed) % 2001) - 1000;
		sum += h[i];
		squares += (long long)h[i] * h[i];
		odd += h[i] % 2 != 0;
		if (h[i] < h[least]) least = i;
		if (h[i] > h[most]) most = i;
	}
	for (int i = 0; i < n; i++) product += (long long)h[i] * h[n - 1 - i];
	thrust::device_vector<int> d(h.begin(), h.end()), r(h.rbegin(), h.rend()), s(n);
	bool ok = thrust::reduce(d.begin(), d.end(), 0LL) == sum;
	ok &= thrust::transform_reduce(d.begin(), d.end(), Square(), 0LL, thrust::plus<long long>()) == squares;
	ok &= thrust::inner_product(d.begin(), d.end(), r.begin(), 0LL) == product;
	ok &= thrust::count_if(d.begin(), d.end(), Odd()) == odd;
	ok &= thrust::min_element(d.begin(), d.end()) - d.begin() == least && thrust::max_element(d.begin(), d.end()) - d.begin() == most;
	ok &= thrust::reduce(d.begin(), d.end(), -5000, thrust::maximum<int>()) == h[most];
	thrust::inclusive_scan(d.begin(), d.end(), s.begin());
	thrust::copy(s.begin(), s.end(), got.begin());
	int running = 0;
	for (int i = 0; i < n; i++) ok &= got[i] == (running += h[i]);
	thrust::exclusive_scan(d.begin(), d.end(), s.begin(), 7, thrust::maximum<int>());
	thrust::copy(s.begin(), s.end(), got.begin());
	running = 7;
	for (int i = 0; i < n; i++) {
		ok &= got[i] == running;
		running = std::max(running, h[i]);
	}
	return verdict(ok);
}
