// Dynamic shared memory: split among arrays by hand, and more than 48 KiB after opting in.
#include "check.h"

extern __shared__ __align__(16) unsigned char raw[];

__global__ void split(const int *in, double *out, int n) {
	double *d = (double *)raw;
	int *i = (int *)(d + n);
	char *c = (char *)(i + n);
	int t = threadIdx.x;
	i[t] = in[t];
	c[t] = (char)(t % 5);
	__syncthreads();
	d[t] = i[n - 1 - t] * 0.5 + c[(t + 1) % n];
	__syncthreads();
	out[t] = d[(t * 3) % n];
}

__global__ void big(int *out, int words) {
	int *w = (int *)raw;
	for (int i = threadIdx.x; i < words; i += blockDim.x) w[i] = i ^ 0x55;
	__syncthreads();
	int sum = 0;
	for (int i = threadIdx.x; i < words; i += blockDim.x) sum += w[words - 1 - i];
	atomicAdd(out, sum);
}

int main() {
	const int n = 100;
	int in[n], *din, *sum;
	double out[n], *dout;
	for (int i = 0; i < n; i++) in[i] = 3 * i - 7;
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMalloc(&sum, sizeof(int)));
	CHECK(cudaMemset(sum, 0, sizeof(int)));
	CHECK(cudaMemcpy(din, in, sizeof in, cudaMemcpyHostToDevice));
	split<<<1, n, n * 13>>>(din, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int t = 0; t < n; t++) {
		int s = t * 3 % n;
		ok &= out[t] == in[n - 1 - s] * 0.5 + (s + 1) % n % 5;
	}
	const int words = 25000; // 100,000 bytes
	big<<<1, 256, words * 4>>>(sum, words);
	ok &= cudaGetLastError() == cudaErrorInvalidValue; // more than may be had without asking
	CHECK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, words * 4));
	big<<<1, 256, words * 4>>>(sum, words);
	CHECK(cudaGetLastError());
	int got, want = 0;
	CHECK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
	for (int i = 0; i < words; i++) want += i ^ 0x55;
	ok &= got == want;
	return verdict(ok);
}
