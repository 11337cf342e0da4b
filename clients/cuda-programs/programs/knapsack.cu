// The knapsack problem, a row of the table per launch, with the choice of items traced back.
#include "check.h"

__global__ void item(const int *last, int *now, unsigned char *taken, int weight, int value, int capacity) {
	int c = blockIdx.x * blockDim.x + threadIdx.x;
	if (c > capacity) return;
	int without = last[c], with = c >= weight ? last[c - weight] + value : -1;
	now[c] = max(without, with);
	taken[c] = with > without;
}

int main() {
	const int n = 30, capacity = 500;
	int weight[n], value[n];
	unsigned seed = 15;
	for (int i = 0; i < n; i++) {
		weight[i] = 5 + lcg(seed) % 60;
		value[i] = 10 + lcg(seed) % 100;
	}
	int *a, *b;
	unsigned char *taken;
	std::vector<unsigned char> t(n * (capacity + 1));
	std::vector<int> want(capacity + 1), got(capacity + 1);
	CHECK(cudaMalloc(&a, (capacity + 1) * 4));
	CHECK(cudaMalloc(&b, (capacity + 1) * 4));
	CHECK(cudaMalloc(&taken, t.size()));
	CHECK(cudaMemset(a, 0, (capacity + 1) * 4));
	for (int i = 0; i < n; i++) {
		item<<<(capacity + 128) / 128, 128>>>(a, b, taken + i * (capacity + 1), weight[i], value[i], capacity);
		std::swap(a, b);
		for (int c = capacity; c >= weight[i]; c--) want[c] = std::max(want[c], want[c - weight[i]] + value[i]);
	}
	CHECK(cudaMemcpy(got.data(), a, got.size() * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(t.data(), taken, t.size(), cudaMemcpyDeviceToHost));
	bool ok = got == want;
	int c = capacity, v = 0, w = 0;
	for (int i = n - 1; i >= 0; i--)
		if (t[i * (capacity + 1) + c]) {
			c -= weight[i];
			w += weight[i];
			v += value[i];
		}
	return verdict(ok && v == want[capacity] && w <= capacity);
}
