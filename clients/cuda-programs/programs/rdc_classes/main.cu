// Separate compilation: a class hierarchy over three files, and a kernel in each of two.
#include "../check.h"
#include "animal.cuh"

__global__ void breed(Animal **zoo, int n) {
	for (int i = 0; i < n; i++) zoo[i] = i % 2 ? make_bird(i) : make_fish(i);
}

int main() {
	const int n = 20;
	Animal **zoo;
	int *out, host[n];
	CHECK(cudaMalloc(&zoo, n * sizeof *zoo));
	CHECK(cudaMalloc(&out, sizeof host));
	breed<<<1, 1>>>(zoo, n);
	count_legs(zoo, out, n);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= host[i] == (i % 2 ? 2 * i : -i);
	return verdict(ok);
}
