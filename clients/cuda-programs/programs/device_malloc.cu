// malloc and free in kernels: a list for each thread, kept across launches; the heap's size is set.
#include "check.h"

struct Cell { int value; Cell *next; };

__global__ void build(Cell **heads, int n) {
	int t = blockIdx.x * blockDim.x + threadIdx.x;
	Cell *head = nullptr;
	for (int i = 0; i <= t % n; i++) {
		Cell *c = (Cell *)malloc(sizeof(Cell));
		if (!c) return;
		c->value = t * i;
		c->next = head;
		head = c;
	}
	heads[t] = head;
}
__global__ void fold(Cell **heads, int *sums) {
	int t = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
	for (Cell *c = heads[t]; c;) {
		Cell *next = c->next;
		sum += c->value;
		free(c);
		c = next;
	}
	sums[t] = sum;
}
__global__ void too_much(int *null) {
	void *volatile p = malloc((size_t)1 << 40); // volatile: compilers may leave out an allocation that nothing uses
	*null = p == nullptr;
	free(p);
}

int main() {
	CHECK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
	size_t limit = 0;
	CHECK(cudaDeviceGetLimit(&limit, cudaLimitMallocHeapSize));
	bool ok = limit >= 32 << 20;
	const int n = 128;
	Cell **heads;
	int *sums, host[n], null;
	CHECK(cudaMalloc(&heads, n * sizeof(Cell *)));
	CHECK(cudaMemset(heads, 0, n * sizeof(Cell *)));
	CHECK(cudaMalloc(&sums, sizeof host));
	for (int round = 0; round < 3; round++) {
		build<<<2, 64>>>(heads, 9);
		fold<<<4, 32>>>(heads, sums);
		CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
		for (int t = 0; t < n; t++) ok &= host[t] == t * ((t % 9) * (t % 9 + 1) / 2);
	}
	too_much<<<1, 1>>>(sums);
	CHECK(cudaMemcpy(&null, sums, sizeof null, cudaMemcpyDeviceToHost));
	ok &= null == 1;
	return verdict(ok);
}
