// Driver functions by name through the runtime, without linking against the driver's library.
#include "check.h"
#include <cuda.h>

__global__ void put(int *p) { *p = 321; }

template <class F> static F entry(const char *name) {
	void *f = nullptr;
	cudaDriverEntryPointQueryResult found;
	CHECK(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found));
	if (found != cudaDriverEntryPointSuccess) {
		printf("%s was not found\nFAILED\n", name);
		exit(1);
	}
	return (F)f;
}

int main() {
	auto version = entry<CUresult (*)(int *)>("cuDriverGetVersion");
	auto get = entry<CUresult (*)(CUdeviceptr *, size_t *, CUdeviceptr)>("cuMemGetAddressRange");
	auto copy = entry<CUresult (*)(void *, CUdeviceptr, size_t)>("cuMemcpyDtoH");
	int v = 0, same, *p, h = 0;
	CHECK(cudaDriverGetVersion(&same));
	bool ok = version(&v) == CUDA_SUCCESS && v == same;
	CHECK(cudaMalloc(&p, 4000));
	put<<<1, 1>>>(p + 500);
	CUdeviceptr base;
	size_t size;
	EXPECT(get(&base, &size, (CUdeviceptr)(p + 500)) == CUDA_SUCCESS);
	EXPECT(base == (CUdeviceptr)p);
	EXPECT(size == 4000);
	EXPECT(copy(&h, (CUdeviceptr)(p + 500), 4) == CUDA_SUCCESS);
	EXPECT(h == 321);
	void *none = &v;
	cudaDriverEntryPointQueryResult found;
	cudaError_t e = cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &none, 12000, cudaEnableDefault, &found);
	EXPECT((e != cudaSuccess || none == nullptr) && found == cudaDriverEntryPointSymbolNotFound);
	return verdict(ok);
}
