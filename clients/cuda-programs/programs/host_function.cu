// Functions of the host between kernels of a stream: cudaLaunchHostFunc and cudaStreamAddCallback.
#include "check.h"
#include <atomic>

struct Step {
	int *host;
	std::atomic<int> calls{0};
	cudaError_t status = cudaErrorUnknown;
};

static void negate(void *data) {
	Step *s = (Step *)data;
	for (int i = 0; i < 64; i++) s->host[i] = -s->host[i];
	s->calls++;
}

static void CUDART_CB note(cudaStream_t, cudaError_t status, void *data) {
	Step *s = (Step *)data;
	s->status = status;
	s->calls += 10;
}

__global__ void twice(int *p) { p[threadIdx.x] *= 2; }

int main() {
	int *host, *dev;
	CHECK(cudaMallocHost(&host, 64 * sizeof(int)));
	CHECK(cudaMalloc(&dev, 64 * sizeof(int)));
	for (int i = 0; i < 64; i++) host[i] = i + 1;
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	Step step;
	step.host = host;
	for (int round = 0; round < 3; round++) {
		CHECK(cudaMemcpyAsync(dev, host, 64 * sizeof(int), cudaMemcpyHostToDevice, s));
		twice<<<1, 64, 0, s>>>(dev);
		CHECK(cudaMemcpyAsync(host, dev, 64 * sizeof(int), cudaMemcpyDeviceToHost, s));
		CHECK(cudaLaunchHostFunc(s, negate, &step));
	}
	CHECK(cudaStreamAddCallback(s, note, &step, 0));
	CHECK(cudaStreamSynchronize(s));
	bool ok = step.calls == 13 && step.status == cudaSuccess;
	for (int i = 0; i < 64; i++) ok &= host[i] == -8 * (i + 1);
	CHECK(cudaStreamDestroy(s));
	cudaFree(dev);
	cudaFreeHost(host);
	return verdict(ok);
}
