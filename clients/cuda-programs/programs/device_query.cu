// Properties and attributes of the device agree with each other, and with what kernels see.
#include "check.h"
#include <cstring>

__device__ int arch() {
#ifdef __CUDA_ARCH__
	return __CUDA_ARCH__;
#else
	return -1;
#endif
}
__global__ void seen(int *out) { out[0] = warpSize; out[1] = arch(); }

int main() {
	int count = 0, device = -1, v;
	CHECK(cudaGetDeviceCount(&count));
	CHECK(cudaGetDevice(&device));
	bool ok = count >= 1 && device == 0;
	cudaDeviceProp p;
	CHECK(cudaGetDeviceProperties(&p, 0));
	printf("%s, compute capability %d.%d, %d multiprocessors, %zu MiB\n", p.name, p.major, p.minor, p.multiProcessorCount, p.totalGlobalMem >> 20);
	auto same = [&](long long property, cudaDeviceAttr a, const char *name) {
		CHECK(cudaDeviceGetAttribute(&v, a, 0));
		if (v != property) {
			printf("%s: %lld in the properties, attribute %d\n", name, property, v);
			ok = false;
		}
	};
	same(p.multiProcessorCount, cudaDevAttrMultiProcessorCount, "multiProcessorCount");
	same(p.major, cudaDevAttrComputeCapabilityMajor, "major");
	same(p.minor, cudaDevAttrComputeCapabilityMinor, "minor");
	same(p.warpSize, cudaDevAttrWarpSize, "warpSize");
	same(p.maxThreadsPerBlock, cudaDevAttrMaxThreadsPerBlock, "maxThreadsPerBlock");
	same(p.maxThreadsDim[0], cudaDevAttrMaxBlockDimX, "maxThreadsDim");
	same(p.maxThreadsDim[2], cudaDevAttrMaxBlockDimZ, "maxThreadsDim");
	same(p.maxGridSize[0], cudaDevAttrMaxGridDimX, "maxGridSize");
	same(p.maxGridSize[1], cudaDevAttrMaxGridDimY, "maxGridSize");
	same(p.sharedMemPerBlock, cudaDevAttrMaxSharedMemoryPerBlock, "sharedMemPerBlock");
	same(p.regsPerBlock, cudaDevAttrMaxRegistersPerBlock, "regsPerBlock");
	same(p.totalConstMem, cudaDevAttrTotalConstantMemory, "totalConstMem");
	same(p.l2CacheSize, cudaDevAttrL2CacheSize, "l2CacheSize");
	same(p.maxThreadsPerMultiProcessor, cudaDevAttrMaxThreadsPerMultiProcessor, "maxThreadsPerMultiProcessor");
	same(p.concurrentKernels, cudaDevAttrConcurrentKernels, "concurrentKernels");
	same(p.unifiedAddressing, cudaDevAttrUnifiedAddressing, "unifiedAddressing");
	same(p.managedMemory, cudaDevAttrManagedMemory, "managedMemory");
	same(p.memoryBusWidth, cudaDevAttrGlobalMemoryBusWidth, "memoryBusWidth");
	same(p.pciBusID, cudaDevAttrPciBusId, "pciBusID");
	same(p.sharedMemPerBlockOptin, cudaDevAttrMaxSharedMemoryPerBlockOptin, "sharedMemPerBlockOptin");
	same(p.cooperativeLaunch, cudaDevAttrCooperativeLaunch, "cooperativeLaunch");
	size_t free, total;
	CHECK(cudaMemGetInfo(&free, &total));
	EXPECT(free <= total);
	EXPECT(total == p.totalGlobalMem);
	int driver, runtime, *d, h[2];
	CHECK(cudaDriverGetVersion(&driver));
	CHECK(cudaRuntimeGetVersion(&runtime));
	EXPECT(driver >= 12000);
	EXPECT(runtime >= 12000);
	EXPECT(runtime <= driver);
	CHECK(cudaMalloc(&d, sizeof h));
	seen<<<1, 1>>>(d);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	EXPECT(h[0] == p.warpSize);
	EXPECT(h[1] >= 700);
	EXPECT(h[1] <= p.major * 100 + p.minor * 10);
	char bus[32];
	int again = -1;
	CHECK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
	CHECK(cudaDeviceGetByPCIBusId(&again, bus));
	EXPECT(again == 0);
	EXPECT(strlen(bus) >= 12);
	return verdict(ok);
}
