// __launch_bounds__ limits the block; a larger one is refused. What cudaFuncGetAttributes says.
#include "check.h"

__global__ void __launch_bounds__(128, 4) limited(int *p) {
	__shared__ int s[128];
	s[threadIdx.x] = threadIdx.x * 3;
	__syncthreads();
	p[blockIdx.x * blockDim.x + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
__global__ void __launch_bounds__(1024) wide(int *p) { p[threadIdx.x] = -1; }

int main() {
	int *p, h[256];
	CHECK(cudaMalloc(&p, 4096));
	limited<<<2, 128>>>(p);
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 256; i++) ok &= h[i] == (127 - i % 128) * 3;
	limited<<<1, 256>>>(p);
	cudaError_t refused = cudaGetLastError();
	printf("a larger block: %s\n", cudaGetErrorName(refused));
	EXPECT(refused == cudaErrorInvalidValue);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	ok &= h[0] == 127 * 3 && h[255] == 0; // it did not run
	wide<<<1, 1025>>>(p);
	EXPECT(cudaGetLastError() != cudaSuccess);
	cudaFuncAttributes a;
	CHECK(cudaFuncGetAttributes(&a, limited));
	EXPECT(a.maxThreadsPerBlock == 128);
	EXPECT(a.sharedSizeBytes == 512);
	EXPECT(a.numRegs > 0);
	EXPECT(a.ptxVersion >= 50);
	CHECK(cudaFuncGetAttributes(&a, wide));
	EXPECT(a.maxThreadsPerBlock == 1024);
	EXPECT(a.sharedSizeBytes == 0);
	return verdict(ok);
}
