// Pointers to device functions: from a device variable, chosen in a table, passed as a kernel's parameter.
#include "check.h"

typedef int (*Op)(int, int);

__device__ int plus(int a, int b) { return a + b; }
__device__ int minus(int a, int b) { return a - b; }
__device__ int times(int a, int b) { return a * b; }
__device__ int greatest(int a, int b) { return a > b ? a : b; }

__device__ Op table[4] = {plus, minus, times, greatest};
__device__ Op single = minus;

__global__ void by_table(const int *which, const int *a, const int *b, int *c, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) c[i] = table[which[i]](a[i], b[i]);
}
__global__ void fold(Op op, const int *a, int *out, int n) {
	int v = a[0];
	for (int i = 1; i < n; i++) v = op(v, a[i]);
	*out = v;
}

int main() {
	const int n = 256;
	int which[n], a[n], b[n], c[n];
	for (int i = 0; i < n; i++) {
		which[i] = i * 7 / 3 % 4;
		a[i] = i * 3 - 100;
		b[i] = 50 - i;
	}
	int *d;
	CHECK(cudaMalloc(&d, 4 * sizeof a));
	CHECK(cudaMemcpy(d, which, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d + n, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d + 2 * n, b, sizeof a, cudaMemcpyHostToDevice));
	by_table<<<2, 128>>>(d, d + n, d + 2 * n, d + 3 * n, n);
	CHECK(cudaMemcpy(c, d + 3 * n, sizeof c, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int want[] = {a[i] + b[i], a[i] - b[i], a[i] * b[i], a[i] > b[i] ? a[i] : b[i]};
		ok &= c[i] == want[which[i]];
	}
	Op op, ops[4];
	CHECK(cudaMemcpyFromSymbol(&op, single, sizeof op));
	CHECK(cudaMemcpyFromSymbol(ops, table, sizeof ops));
	ok &= op == ops[1];
	fold<<<1, 1>>>(op, d + n, d, 10);
	CHECK(cudaMemcpy(c, d, 4, cudaMemcpyDeviceToHost));
	int want = a[0];
	for (int i = 1; i < 10; i++) want -= a[i];
	ok &= c[0] == want;
	fold<<<1, 1>>>(ops[3], d + n, d, n);
	CHECK(cudaMemcpy(c, d, 4, cudaMemcpyDeviceToHost));
	ok &= c[0] == a[n - 1];
	return verdict(ok);
}
