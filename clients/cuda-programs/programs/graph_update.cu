// Parameters of nodes of an instantiated graph are changed, one at a time, and by a whole new graph.
#include "check.h"

__global__ void put(int *p, int v) { p[threadIdx.x] = v * (threadIdx.x + 1); }
__global__ void add(int *p, int v) { p[threadIdx.x] += v; }

static bool holds(int *dev, int mul, int plus) {
	int host[32];
	CHECK(cudaMemcpy(host, dev, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++)
		if (host[i] != mul * (i + 1) + plus) return false;
	return true;
}

static cudaGraph_t capture(cudaStream_t s, int *p, int a, int b) {
	cudaGraph_t g;
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	put<<<1, 32, 0, s>>>(p, a);
	add<<<1, 32, 0, s>>>(p, b);
	CHECK(cudaStreamEndCapture(s, &g));
	return g;
}

int main() {
	int *p;
	CHECK(cudaMalloc(&p, 128));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	cudaGraph_t g = capture(s, p, 3, 10);
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	bool ok = holds(p, 3, 10);

	cudaGraphNode_t root;
	size_t one = 1;
	CHECK(cudaGraphGetRootNodes(g, &root, &one));
	cudaKernelNodeParams k;
	CHECK(cudaGraphKernelNodeGetParams(root, &k));
	ok &= k.func == (void *)put && k.blockDim.x == 32;
	int v = -7;
	void *args[] = {&p, &v};
	k.kernelParams = args;
	CHECK(cudaGraphExecKernelNodeSetParams(exec, root, &k));
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	ok &= holds(p, -7, 10);

	cudaGraph_t h = capture(s, p, 4, 99);
	cudaGraphExecUpdateResultInfo info;
	CHECK(cudaGraphExecUpdate(exec, h, &info));
	ok &= info.result == cudaGraphExecUpdateSuccess;
	CHECK(cudaGraphLaunch(exec, s));
	CHECK(cudaStreamSynchronize(s));
	ok &= holds(p, 4, 99);

	// another topology is refused
	cudaGraph_t other;
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	put<<<1, 32, 0, s>>>(p, 1);
	CHECK(cudaStreamEndCapture(s, &other));
	ok &= cudaGraphExecUpdate(exec, other, &info) == cudaErrorGraphExecUpdateFailure;
	ok &= info.result == cudaGraphExecUpdateErrorTopologyChanged;
	cudaGetLastError();
	for (auto x : {g, h, other}) CHECK(cudaGraphDestroy(x));
	CHECK(cudaGraphExecDestroy(exec));
	return verdict(ok);
}
