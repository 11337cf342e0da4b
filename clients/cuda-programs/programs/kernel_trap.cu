// A kernel that traps fails the context; what was written before is not to be had any more.
#include <cstdio>

__global__ void fine(int *p) { p[threadIdx.x] = threadIdx.x + 5; }
__global__ void wrong(int *p) { if (p[threadIdx.x] == 20) __trap(); }

int main() {
	int *p, host[32];
	cudaMalloc(&p, sizeof host);
	fine<<<1, 32>>>(p);
	bool ok = cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess;
	for (int i = 0; i < 32; i++) ok = ok && host[i] == i + 5;
	wrong<<<1, 32>>>(p);
	ok = ok && cudaGetLastError() == cudaSuccess; // the launch itself
	cudaError_t err = cudaDeviceSynchronize();
	std::printf("%d %s\n", err, cudaGetErrorName(err));
	ok = ok && err == cudaErrorLaunchFailure;
	int *q;
	ok = ok && cudaMalloc(&q, 4) == cudaErrorLaunchFailure;
	fine<<<1, 32>>>(p);
	ok = ok && cudaGetLastError() == cudaErrorLaunchFailure;
	std::puts(ok ? "PASSED" : "FAILED");
	return ok ? 0 : 1;
}
