// thrust: transforms with functors, fancy iterators, zip, gather, scatter, in place and by predicate.
#include "check.h"
#include <thrust/device_vector.h>
#include <thrust/fill.h>
#include <thrust/for_each.h>
#include <thrust/gather.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/replace.h>
#include <thrust/scatter.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>

struct Saxpy {
	float a;
	__host__ __device__ float operator()(float x, float y) const { return a * x + y; }
};
struct Half { __host__ __device__ int operator()(int v) const { return v / 2; } };
struct Negative { __host__ __device__ bool operator()(float v) const { return v < 0; } };
struct Combine {
	template <class T> __host__ __device__ void operator()(T t) { thrust::get<2>(t) = thrust::get<0>(t) * 10 + thrust::get<1>(t); }
};

int main() {
	const int n = 2000;
	thrust::device_vector<float> x(n), y(n, 1.5f), z(n);
	thrust::sequence(x.begin(), x.end(), -1000.0f);
	thrust::transform(x.begin(), x.end(), y.begin(), z.begin(), Saxpy{2});
	thrust::replace_if(z.begin(), z.end(), Negative(), 0.0f);
	std::vector<float> got(n);
	thrust::copy(z.begin(), z.end(), got.begin());
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= got[i] == std::max(0.0f, 2.0f * (i - 1000) + 1.5f);
	auto count = thrust::make_counting_iterator(0);
	ok &= thrust::reduce(thrust::make_transform_iterator(count, Half()), thrust::make_transform_iterator(count + n, Half())) == (n / 2 - 1) * (n / 2);
	thrust::device_vector<int> map(n), out(n), a(n), b(n, 3);
	std::vector<int> m(n), o(n);
	for (int i = 0; i < n; i++) m[i] = i * 7 % n == i ? i : (i * 7) % n;
	thrust::copy(m.begin(), m.end(), map.begin());
	thrust::sequence(a.begin(), a.end());
	thrust::gather(map.begin(), map.end(), a.begin(), out.begin());
	thrust::copy(out.begin(), out.end(), o.begin());
	ok &= o == m;
	for (int i = 0; i < n; i++) m[i] = n - 1 - i;
	thrust::copy(m.begin(), m.end(), map.begin());
	thrust::scatter(a.begin(), a.end(), map.begin(), out.begin());
	thrust::copy(out.begin(), out.end(), o.begin());
	ok &= o == m;
	thrust::for_each(thrust::make_zip_iterator(thrust::make_tuple(a.begin(), b.begin(), out.begin())), thrust::make_zip_iterator(thrust::make_tuple(a.end(), b.end(), out.end())), Combine());
	ok &= thrust::reduce(out.begin(), out.end(), 0LL) == 10LL * n * (n - 1) / 2 + 3LL * n;
	auto p = thrust::make_permutation_iterator(a.begin(), map.begin());
	ok &= p[0] == n - 1 && thrust::reduce(thrust::make_constant_iterator(4), thrust::make_constant_iterator(4) + 25) == 100;
	return verdict(ok);
}
