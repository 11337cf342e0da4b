// Prefetch and advice for managed memory, in the form of CUDA 13 and in that of CUDA 12.
#include "check.h"

__global__ void half_of(int *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] /= 2;
}

static cudaError_t prefetch(void *p, size_t n, int device, cudaStream_t s) {
#if CUDART_VERSION >= 13000
	cudaMemLocation where = {};
	where.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	where.id = device < 0 ? 0 : device;
	return cudaMemPrefetchAsync(p, n, where, 0, s);
#else
	return cudaMemPrefetchAsync(p, n, device, s);
#endif
}

int main() {
	const int n = 3 * 4096;
	int device, *p;
	CHECK(cudaGetDevice(&device));
	CHECK(cudaMallocManaged(&p, n * sizeof(int)));
	for (int i = 0; i < n; i++) p[i] = 6 * i;
#if CUDART_VERSION >= 13000
	cudaMemLocation here = {};
	here.type = cudaMemLocationTypeDevice;
	here.id = device;
	CHECK(cudaMemAdvise(p, n * sizeof(int), cudaMemAdviseSetPreferredLocation, here));
#else
	CHECK(cudaMemAdvise(p, n * sizeof(int), cudaMemAdviseSetPreferredLocation, device));
#endif
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	CHECK(prefetch(p, n * sizeof(int), device, s));
	half_of<<<n / 256, 256, 0, s>>>(p, n);
	CHECK(prefetch(p, n * sizeof(int), -1, s));
	CHECK(cudaStreamSynchronize(s));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= p[i] == 3 * i;
	int location = 99;
	CHECK(cudaMemRangeGetAttribute(&location, sizeof location, cudaMemRangeAttributePreferredLocation, p, n * sizeof(int)));
	ok &= location == device;
	cudaStreamDestroy(s);
	cudaFree(p);
	return verdict(ok);
}
