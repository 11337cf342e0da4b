// Addresses and sizes of __device__ variables, and copies through them.
#include "check.h"

__device__ int table[3][5];
__device__ float factor = 1.5f;
__constant__ char letters[8] = "gocuda";

__global__ void scale(float *out) {
	int i = threadIdx.x;
	out[i] = table[i / 5][i % 5] * factor + letters[i % 6];
}

int main() {
	void *p;
	size_t size;
	bool ok = true;
	CHECK(cudaGetSymbolSize(&size, table));
	ok &= size == 60;
	CHECK(cudaGetSymbolSize(&size, letters));
	ok &= size == 8;
	CHECK(cudaGetSymbolAddress(&p, table));
	int host[15];
	for (int i = 0; i < 15; i++) host[i] = i * i - 20;
	CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
	float f;
	CHECK(cudaMemcpyFromSymbol(&f, factor, sizeof f));
	ok &= f == 1.5f;
	f = 0.25f;
	CHECK(cudaMemcpyToSymbolAsync(factor, &f, sizeof f, 0, cudaMemcpyHostToDevice, 0));
	float *out, r[15];
	CHECK(cudaMalloc(&out, sizeof r));
	scale<<<1, 15>>>(out);
	CHECK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 15; i++) ok &= r[i] == host[i] * 0.25f + "gocuda"[i % 6];
	cudaFree(out);
	return verdict(ok);
}
