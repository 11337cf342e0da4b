// A graph within a graph, and a clone of both.
#include "check.h"

__global__ void step(unsigned *p, unsigned a) { p[threadIdx.x] = p[threadIdx.x] * 31 + a; }

static cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t after, unsigned *p, unsigned a) {
	void *args[] = {&p, &a};
	cudaKernelNodeParams k = {};
	k.func = (void *)step;
	k.gridDim = dim3(1);
	k.blockDim = dim3(32);
	k.kernelParams = args;
	cudaGraphNode_t n;
	CHECK(cudaGraphAddKernelNode(&n, g, after ? &after : nullptr, after ? 1 : 0, &k));
	return n;
}

int main() {
	unsigned *p, host[32];
	CHECK(cudaMalloc(&p, sizeof host));
	CHECK(cudaMemset(p, 0, sizeof host));
	cudaGraph_t inner, outer, copy;
	CHECK(cudaGraphCreate(&inner, 0));
	CHECK(cudaGraphCreate(&outer, 0));
	kernel(inner, kernel(inner, nullptr, p, 2), p, 3);
	cudaGraphNode_t first = kernel(outer, nullptr, p, 1), child, found;
	CHECK(cudaGraphAddChildGraphNode(&child, outer, &first, 1, inner));
	kernel(outer, child, p, 4);
	CHECK(cudaGraphClone(&copy, outer));
	CHECK(cudaGraphNodeFindInClone(&found, child, copy));
	cudaGraphNodeType type;
	CHECK(cudaGraphNodeGetType(found, &type));
	bool ok = type == cudaGraphNodeTypeGraph;
	cudaGraph_t inside;
	size_t n = 0;
	CHECK(cudaGraphChildGraphNodeGetGraph(found, &inside));
	CHECK(cudaGraphGetNodes(inside, nullptr, &n));
	ok &= n == 2;
	cudaGraphExec_t a, b;
	CHECK(cudaGraphInstantiate(&a, outer, 0));
	CHECK(cudaGraphInstantiate(&b, copy, 0));
	CHECK(cudaGraphDestroy(outer));
	CHECK(cudaGraphLaunch(a, 0));
	CHECK(cudaGraphLaunch(b, 0));
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	unsigned want = 0;
	for (int r = 0; r < 2; r++)
		for (unsigned x = 1; x <= 4; x++) want = want * 31 + x;
	for (unsigned v : host) ok &= v == want;
	CHECK(cudaGraphExecDestroy(a));
	CHECK(cudaGraphExecDestroy(b));
	CHECK(cudaGraphDestroy(copy));
	CHECK(cudaGraphDestroy(inner));
	return verdict(ok);
}
