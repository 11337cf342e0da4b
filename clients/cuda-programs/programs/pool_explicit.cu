// A memory pool of one's own: attributes, release threshold, use counts, trimming.
#include "check.h"
#include <cstdint>

__global__ void touch(char *p, size_t n, char v) {
	for (size_t i = threadIdx.x; i < n; i += blockDim.x) p[i] = v + (char)(i & 15);
}

int main() {
	cudaMemPoolProps props = {};
	props.allocType = cudaMemAllocationTypePinned;
	props.handleTypes = cudaMemHandleTypeNone;
	props.location.type = cudaMemLocationTypeDevice;
	props.location.id = 0;
	cudaMemPool_t pool;
	CHECK(cudaMemPoolCreate(&pool, &props));
	uint64_t keep = UINT64_MAX, value = 0;
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
	bool ok = value == keep;
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	const size_t n = 100000;
	char *p;
	CHECK(cudaMallocFromPoolAsync(&p, n, pool, s));
	touch<<<1, 256, 0, s>>>(p, n, 'A');
	std::vector<char> host(n);
	CHECK(cudaMemcpyAsync(host.data(), p, n, cudaMemcpyDeviceToHost, s));
	CHECK(cudaStreamSynchronize(s));
	for (size_t i = 0; i < n; i++) ok &= host[i] == 'A' + (char)(i & 15);
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
	ok &= value >= n;
	CHECK(cudaFreeAsync(p, s));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &value));
	ok &= value == 0;
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value));
	ok &= value >= n;
	CHECK(cudaMemPoolTrimTo(pool, 0));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &value));
	ok &= value == 0;
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &value));
	ok &= value >= n;
	CHECK(cudaStreamDestroy(s));
	CHECK(cudaMemPoolDestroy(pool));
	return verdict(ok);
}
