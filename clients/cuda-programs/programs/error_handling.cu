// Codes, names and texts of errors; which ones stay for cudaGetLastError and which do not.
#include "check.h"
#include <cstring>

__global__ void nothing(int *p) { if (p) *p = 4; }

int main() {
	bool ok = cudaGetLastError() == cudaSuccess && cudaPeekAtLastError() == cudaSuccess;
	EXPECT(!strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") && cudaErrorMemoryAllocation == 2);
	EXPECT(!strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") && !strcmp(cudaGetErrorString(cudaSuccess), "no error"));
	EXPECT(!strcmp(cudaGetErrorString((cudaError_t)12345), "unrecognized error code"));

	nothing<<<1, 2000>>>(nullptr);
	printf("2000 threads in a block: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
	EXPECT(cudaPeekAtLastError() == cudaErrorInvalidValue);
	EXPECT(cudaDeviceSynchronize() == cudaSuccess);
	ok &= cudaPeekAtLastError() == cudaErrorInvalidValue; // success does not clear it
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaSuccess);

	void *p;
	EXPECT(cudaMalloc(&p, size_t(1) << 52) == cudaErrorMemoryAllocation);
	EXPECT(cudaGetLastError() == cudaErrorMemoryAllocation);
	int local;
	EXPECT(cudaFree(&local) == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	EXPECT(cudaFree(nullptr) == cudaSuccess);
	EXPECT(cudaSetDevice(1000) == cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);
	EXPECT(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice) == cudaSuccess);
	EXPECT(cudaMemcpy(nullptr, &local, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	cudaStream_t s;
	cudaEvent_t e;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaEventCreate(&e));
	EXPECT(cudaEventQuery(e) == cudaSuccess);
	EXPECT(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 30) == cudaErrorInvalidValue);
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);

	int *d, h = 0;
	CHECK(cudaMalloc(&d, 4));
	nothing<<<1, 1, 0, s>>>(d);
	CHECK(cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost));
	return verdict(ok && h == 4 && cudaGetLastError() == cudaSuccess);
}
