// Conditional nodes: a while loop whose condition the device sets, and an if that is taken or not.
#include "check.h"

__global__ void collatz(unsigned long long *p, cudaGraphConditionalHandle h) {
	unsigned long long v = p[0];
	v = v % 2 ? 3 * v + 1 : v / 2;
	p[0] = v;
	p[1]++;
	cudaGraphSetConditional(h, v != 1);
}
__global__ void decide(const unsigned long long *p, cudaGraphConditionalHandle h) { cudaGraphSetConditional(h, p[1] > 50); }
__global__ void mark(unsigned long long *p) { p[2] = 77; }

static cudaGraphNode_t add_kernel(cudaGraph_t g, cudaGraphNode_t after, void *f, void **args) {
	cudaKernelNodeParams k = {};
	k.func = f;
	k.gridDim = dim3(1);
	k.blockDim = dim3(1);
	k.kernelParams = args;
	cudaGraphNode_t n;
	CHECK(cudaGraphAddKernelNode(&n, g, after ? &after : nullptr, after ? 1 : 0, &k));
	return n;
}

static cudaGraphNode_t conditional(cudaGraph_t g, cudaGraphNode_t after, cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, cudaGraph_t *body) {
	cudaGraphNodeParams p = {};
	p.type = cudaGraphNodeTypeConditional;
	p.conditional.handle = h;
	p.conditional.type = type;
	p.conditional.size = 1;
	cudaGraphNode_t n;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&n, g, after ? &after : nullptr, nullptr, after ? 1 : 0, &p));
#else
	CHECK(cudaGraphAddNode(&n, g, after ? &after : nullptr, after ? 1 : 0, &p));
#endif
	*body = p.conditional.phGraph_out[0];
	return n;
}

int main() {
	unsigned long long *p, host[3];
	CHECK(cudaMalloc(&p, sizeof host));
	cudaGraph_t g, loop, then;
	CHECK(cudaGraphCreate(&g, 0));
	cudaGraphConditionalHandle go, taken;
	CHECK(cudaGraphConditionalHandleCreate(&go, g, 1, cudaGraphCondAssignDefault));
	CHECK(cudaGraphConditionalHandleCreate(&taken, g, 0, 0));
	cudaGraphNode_t w = conditional(g, nullptr, go, cudaGraphCondTypeWhile, &loop);
	void *loop_args[] = {&p, &go}, *if_args[] = {&p, &taken}, *mark_args[] = {&p};
	add_kernel(loop, nullptr, (void *)collatz, loop_args);
	cudaGraphNode_t d = add_kernel(g, w, (void *)decide, if_args);
	conditional(g, d, taken, cudaGraphCondTypeIf, &then);
	add_kernel(then, nullptr, (void *)mark, mark_args);
	cudaGraphExec_t exec;
	CHECK(cudaGraphInstantiate(&exec, g, 0));
	bool ok = true;
	for (unsigned long long start : {6ull, 27ull, 97ull, 2ull}) {
		unsigned long long v = start, steps = 0;
		do {
			v = v % 2 ? 3 * v + 1 : v / 2;
			steps++;
		} while (v != 1);
		host[0] = start;
		host[1] = host[2] = 0;
		CHECK(cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice));
		CHECK(cudaGraphLaunch(exec, 0));
		CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
		printf("%llu: %llu steps, mark %llu\n", start, host[1], host[2]);
		ok &= host[0] == 1 && host[1] == steps && host[2] == (steps > 50 ? 77 : 0);
	}
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(g));
	return verdict(ok);
}
