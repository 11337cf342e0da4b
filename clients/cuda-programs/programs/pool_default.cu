// The device's default pool serves cudaMallocAsync; a set pool takes its place.
#include "check.h"
#include <cstdint>

__global__ void ramp(long long *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = (long long)i * i * i;
}

int main() {
	cudaMemPool_t pool, current, own;
	CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
	CHECK(cudaDeviceGetMemPool(&current, 0));
	bool ok = pool == current;
	cudaMemPoolProps props = {};
	props.allocType = cudaMemAllocationTypePinned;
	props.location = {cudaMemLocationTypeDevice, 0};
	CHECK(cudaMemPoolCreate(&own, &props));
	CHECK(cudaDeviceSetMemPool(0, own));
	CHECK(cudaDeviceGetMemPool(&current, 0));
	ok &= current == own;
	long long *p;
	const int n = 1000;
	CHECK(cudaMallocAsync(&p, n * sizeof *p, 0));
	uint64_t used = 0;
	CHECK(cudaMemPoolGetAttribute(own, cudaMemPoolAttrUsedMemCurrent, &used));
	ok &= used >= n * sizeof *p;
	ramp<<<8, 128>>>(p, n);
	long long host[n];
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	for (long long i = 0; i < n; i++) ok &= host[i] == i * i * i;
	CHECK(cudaFreeAsync(p, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaDeviceSetMemPool(0, pool));
	CHECK(cudaMemPoolDestroy(own));
	return verdict(ok);
}
