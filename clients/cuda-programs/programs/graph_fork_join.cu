// Capture across two streams: the fork by an event, the join by another.
#include "check.h"

__global__ void fill(float *p, float v) { p[threadIdx.x] = v + threadIdx.x; }
__global__ void sub(const float *a, const float *b, float *c) { c[threadIdx.x] = a[threadIdx.x] - 2 * b[threadIdx.x]; }

int main() {
	float *a, *b, *c, host[64];
	CHECK(cudaMalloc(&a, sizeof host));
	CHECK(cudaMalloc(&b, sizeof host));
	CHECK(cudaMalloc(&c, sizeof host));
	cudaStream_t s, t;
	cudaEvent_t fork, join;
	CHECK(cudaStreamCreate(&s));
	CHECK(cudaStreamCreate(&t));
	CHECK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	CHECK(cudaEventRecord(fork, s));
	CHECK(cudaStreamWaitEvent(t, fork, 0));
	fill<<<1, 64, 0, s>>>(a, 100);
	fill<<<1, 64, 0, t>>>(b, 7);
	CHECK(cudaEventRecord(join, t));
	CHECK(cudaStreamWaitEvent(s, join, 0));
	sub<<<1, 64, 0, s>>>(a, b, c);
	cudaGraph_t graph;
	CHECK(cudaStreamEndCapture(s, &graph));
	size_t roots = 0, nodes = 0;
	CHECK(cudaGraphGetRootNodes(graph, nullptr, &roots));
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	bool ok = roots == 2 && nodes == 3;
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaMemset(c, 0, sizeof host));
	CHECK(cudaGraphLaunch(exec, 0));
	CHECK(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++) ok &= host[i] == 100 + i - 2 * (7 + i);
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	return verdict(ok);
}
