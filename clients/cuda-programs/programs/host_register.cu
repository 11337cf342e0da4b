// Memory of malloc is registered, used by a kernel through its device pointer, and unregistered.
#include "check.h"

__global__ void increment(unsigned char *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] += i % 7;
}

int main() {
	const int n = 8192;
	unsigned char *host = (unsigned char *)aligned_alloc(4096, n);
	for (int i = 0; i < n; i++) host[i] = i;
	CHECK(cudaHostRegister(host, n, cudaHostRegisterMapped));
	unsigned char *dev;
	CHECK(cudaHostGetDevicePointer((void **)&dev, host, 0));
	increment<<<n / 256, 256>>>(dev, n);
	CHECK(cudaDeviceSynchronize());
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= host[i] == (unsigned char)(i + i % 7);
	ok &= cudaHostRegister(host, n, cudaHostRegisterMapped) == cudaErrorHostMemoryAlreadyRegistered;
	cudaGetLastError();
	CHECK(cudaHostUnregister(host));
	ok &= cudaHostUnregister(host) == cudaErrorHostMemoryNotRegistered;
	free(host);
	return verdict(ok);
}
