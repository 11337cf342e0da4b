// thrust: sorting of values, by a comparison, of keys with values, stable.
#include "check.h"
#include <algorithm>
#include <thrust/copy.h>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/host_vector.h>
#include <thrust/sequence.h>
#include <thrust/sort.h>

struct Item { int key; float weight; };
struct ByWeight {
	__host__ __device__ bool operator()(const Item &a, const Item &b) const { return a.weight > b.weight || (a.weight == b.weight && a.key < b.key); }
};

int main() {
	const int n = 3000;
	unsigned seed = 7;
	thrust::host_vector<int> h(n);
	for (int i = 0; i < n; i++) h[i] = (int)(lcg(seed) % 1000) - 500;
	thrust::device_vector<int> d = h, order(n);
	thrust::sort(d.begin(), d.end());
	std::vector<int> want(h.begin(), h.end()), got(n);
	std::sort(want.begin(), want.end());
	thrust::copy(d.begin(), d.end(), got.begin());
	bool ok = got == want;
	thrust::sort(d.begin(), d.end(), thrust::greater<int>());
	thrust::copy(d.begin(), d.end(), got.begin());
	std::reverse(want.begin(), want.end());
	ok &= got == want;
	d = h;
	thrust::sequence(order.begin(), order.end());
	thrust::stable_sort_by_key(d.begin(), d.end(), order.begin());
	std::vector<int> index(n);
	for (int i = 0; i < n; i++) index[i] = i;
	std::stable_sort(index.begin(), index.end(), [&](int a, int b) { return h[a] < h[b]; });
	thrust::copy(order.begin(), order.end(), got.begin());
	ok &= got == index;
	std::vector<Item> items(500);
	for (auto &i : items) i = {(int)lcg(seed), (lcg(seed) % 64) / 8.0f};
	thrust::device_vector<Item> di(items.begin(), items.end());
	thrust::sort(di.begin(), di.end(), ByWeight());
	std::sort(items.begin(), items.end(), ByWeight());
	std::vector<Item> gi(items.size());
	thrust::copy(di.begin(), di.end(), gi.begin());
	for (size_t i = 0; i < items.size(); i++) ok &= gi[i].key == items[i].key && gi[i].weight == items[i].weight;
	return verdict(ok && thrust::is_sorted(di.begin(), di.end(), ByWeight()));
}
