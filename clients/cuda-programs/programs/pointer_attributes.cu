// What cudaPointerGetAttributes tells of each kind of memory.
#include "check.h"

__global__ void set(int *p) { *p = 41; }

int main() {
	int *dev, *host, *managed, plain = 0;
	CHECK(cudaMalloc(&dev, 64));
	CHECK(cudaMallocHost(&host, 64));
	CHECK(cudaMallocManaged(&managed, 64));
	cudaPointerAttributes a;
	bool ok = true;
	CHECK(cudaPointerGetAttributes(&a, dev));
	ok &= a.type == cudaMemoryTypeDevice && a.devicePointer == dev && a.hostPointer == nullptr && a.device == 0;
	CHECK(cudaPointerGetAttributes(&a, dev + 3));
	ok &= a.type == cudaMemoryTypeDevice && a.devicePointer == dev + 3;
	CHECK(cudaPointerGetAttributes(&a, host));
	ok &= a.type == cudaMemoryTypeHost && a.hostPointer == host;
	set<<<1, 1>>>((int *)a.devicePointer);
	CHECK(cudaDeviceSynchronize());
	ok &= *host == 41;
	CHECK(cudaPointerGetAttributes(&a, managed));
	ok &= a.type == cudaMemoryTypeManaged && a.devicePointer == managed && a.hostPointer == managed;
	set<<<1, 1>>>(managed);
	CHECK(cudaDeviceSynchronize());
	ok &= *managed == 41;
	CHECK(cudaPointerGetAttributes(&a, &plain));
	ok &= a.type == cudaMemoryTypeUnregistered;
	cudaFree(dev);
	cudaFreeHost(host);
	cudaFree(managed);
	return verdict(ok);
}
