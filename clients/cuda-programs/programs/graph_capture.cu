// A stream's work is captured into a graph and launched several times.
#include "check.h"

__global__ void axpb(int *p, int n, int a, int b) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = p[i] * a + b;
}

int main() {
	const int n = 700, launches = 5;
	int *p;
	std::vector<int> host(n);
	CHECK(cudaMalloc(&p, n * sizeof(int)));
	CHECK(cudaMemset(p, 0, n * sizeof(int)));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	cudaStreamCaptureStatus status;
	CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	axpb<<<(n + 63) / 64, 64, 0, s>>>(p, n, 3, 1);
	axpb<<<(n + 63) / 64, 64, 0, s>>>(p, n, -1, 2);
	axpb<<<(n + 63) / 64, 64, 0, s>>>(p, n, 2, 5);
	CHECK(cudaStreamIsCapturing(s, &status));
	bool ok = status == cudaStreamCaptureStatusActive;
	cudaGraph_t graph;
	CHECK(cudaStreamEndCapture(s, &graph));
	CHECK(cudaMemcpy(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
	ok &= host[5] == 0; // nothing ran yet
	size_t nodes = 0;
	CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
	ok &= nodes == 3;
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	int want = 0;
	for (int k = 0; k < launches; k++) {
		CHECK(cudaGraphLaunch(exec, s));
		want = ((want * 3 + 1) * -1 + 2) * 2 + 5;
	}
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(host.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost));
	for (int v : host) ok &= v == want;
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaStreamDestroy(s));
	cudaFree(p);
	return verdict(ok);
}
