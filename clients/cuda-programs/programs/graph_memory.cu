// Memory that a graph allocates and frees itself: captured cudaMallocAsync, and memory nodes by hand.
#include "check.h"

__global__ void fill(int *p, int n) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] = i * 5;
}
__global__ void backwards(const int *p, int *out, int n) {
	for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = p[n - 1 - i] + out[i];
}

int main() {
	const int n = 1000;
	int *out, host[n];
	CHECK(cudaMalloc(&out, sizeof host));
	CHECK(cudaMemset(out, 0, sizeof host));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	int *tmp;
	CHECK(cudaMallocAsync(&tmp, sizeof host, s));
	fill<<<1, 128, 0, s>>>(tmp, n);
	backwards<<<1, 128, 0, s>>>(tmp, out, n);
	CHECK(cudaFreeAsync(tmp, s));
	cudaGraph_t captured;
	CHECK(cudaStreamEndCapture(s, &captured));

	cudaGraph_t manual;
	CHECK(cudaGraphCreate(&manual, 0));
	cudaMemAllocNodeParams alloc = {};
	alloc.poolProps.allocType = cudaMemAllocationTypePinned;
	alloc.poolProps.location.type = cudaMemLocationTypeDevice;
	alloc.bytesize = sizeof host;
	cudaGraphNode_t a, f, b, release;
	CHECK(cudaGraphAddMemAllocNode(&a, manual, nullptr, 0, &alloc));
	int *mem = (int *)alloc.dptr, count = n;
	void *fill_args[] = {&mem, &count}, *back_args[] = {&mem, &out, &count};
	cudaKernelNodeParams k = {};
	k.func = (void *)fill;
	k.gridDim = 1;
	k.blockDim = 64;
	k.kernelParams = fill_args;
	CHECK(cudaGraphAddKernelNode(&f, manual, &a, 1, &k));
	k.func = (void *)backwards;
	k.kernelParams = back_args;
	CHECK(cudaGraphAddKernelNode(&b, manual, &f, 1, &k));
	CHECK(cudaGraphAddMemFreeNode(&release, manual, &b, 1, mem));

	bool ok = mem != nullptr;
	for (cudaGraph_t g : {captured, manual}) {
		cudaGraphExec_t exec;
		CHECK(cudaGraphInstantiate(&exec, g, 0));
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
		CHECK(cudaGraphExecDestroy(exec));
		CHECK(cudaGraphDestroy(g));
	}
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) ok &= host[i] == 4 * 5 * (n - 1 - i);
	CHECK(cudaDeviceGraphMemTrim(0));
	return verdict(ok);
}
