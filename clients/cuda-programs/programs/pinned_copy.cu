// Page-locked host memory: asynchronous copies to and fro around a kernel.
#include "check.h"

__global__ void square(int *data, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) data[i] *= data[i];
}

int main() {
	const int n = 10000;
	int *host, *dev;
	CHECK(cudaMallocHost(&host, n * sizeof *host));
	CHECK(cudaMalloc(&dev, n * sizeof *dev));
	cudaStream_t stream;
	CHECK(cudaStreamCreate(&stream));
	for (int i = 0; i < n; i++) host[i] = i - 5000;
	CHECK(cudaMemcpyAsync(dev, host, n * sizeof *host, cudaMemcpyHostToDevice, stream));
	square<<<(n + 127) / 128, 128, 0, stream>>>(dev, n);
	CHECK(cudaMemcpyAsync(host, dev, n * sizeof *host, cudaMemcpyDeviceToHost, stream));
	CHECK(cudaStreamSynchronize(stream));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= host[i] == (i - 5000) * (i - 5000);
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(dev));
	CHECK(cudaFreeHost(host));
	return verdict(ok);
}
