// A graph built node by node: memset, copies, a kernel, a host function.
#include "check.h"

__global__ void combine(const int *in, int *out, int n, int weight) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] += in[i] * weight;
}

static void CUDART_CB finish(void *data) {
	int *p = (int *)data;
	p[0] += 1000000;
}

int main() {
	const int n = 300;
	static int in[n], out[n];
	int *din, *dout;
	for (int i = 0; i < n; i++) in[i] = i * i;
	CHECK(cudaMalloc(&din, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	cudaGraph_t g;
	CHECK(cudaGraphCreate(&g, 0));
	cudaGraphNode_t copy_in, clear, kernel, copy_out, host;
	CHECK(cudaGraphAddMemcpyNode1D(&copy_in, g, nullptr, 0, din, in, sizeof in, cudaMemcpyHostToDevice));
	cudaMemsetParams m = {};
	m.dst = dout;
	m.value = 3;
	m.elementSize = 4;
	m.width = n;
	m.height = 1;
	CHECK(cudaGraphAddMemsetNode(&clear, g, nullptr, 0, &m));
	int count = n, weight = 2;
	void *args[] = {&din, &dout, &count, &weight};
	cudaKernelNodeParams k = {};
	k.func = (void *)combine;
	k.gridDim = dim3(3);
	k.blockDim = dim3(128);
	k.kernelParams = args;
	cudaGraphNode_t before[] = {copy_in, clear};
	CHECK(cudaGraphAddKernelNode(&kernel, g, before, 2, &k));
	CHECK(cudaGraphAddMemcpyNode1D(&copy_out, g, &kernel, 1, out, dout, sizeof out, cudaMemcpyDeviceToHost));
	cudaHostNodeParams h = {};
	h.fn = finish;
	h.userData = out;
	CHECK(cudaGraphAddHostNode(&host, g, &copy_out, 1, &h));
	cudaGraphNodeType type;
	CHECK(cudaGraphNodeGetType(kernel, &type));
	bool ok = type == cudaGraphNodeTypeKernel;
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	for (int round = 1; round <= 3; round++) {
		CHECK(cudaGraphLaunch(exec, s));
		CHECK(cudaStreamSynchronize(s));
		ok &= out[0] == 1000003;
		for (int i = 1; i < n; i++) ok &= out[i] == 3 + 2 * in[i];
		for (int i = 0; i < n; i++) in[i] = i * (round + 1);
		in[0] = 0;
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(g));
	return verdict(ok);
}
