/* Graphs: capture, nodes by hand, instances, updates, a host node of C, user objects. */
#include "check.h"

static int ran;
static void host(void *p) { ran += *(int *)p; }
static int released;
static void release(void *p) { released += *(int *)p; }

int main(void)
{
	open_context();
	CUmodule m = open_module();
	CUfunction ramp = function(m, "ramp");
	CUdeviceptr p;
	unsigned int out[64], v = 3, n = 64;
	MUST(cuMemAlloc_v2(&p, sizeof out));
	void *args[] = {&p, &v, &n};
	CUstream s;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	CUgraph g;
	CUgraphExec x;
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CUstreamCaptureStatus st;
	OK(cuStreamIsCapturing(s, &st));
	EQ(st, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	OK(cuLaunchKernel(ramp, 1, 1, 1, 64, 1, 1, 0, s, args, NULL));
	OK(cuMemcpyDtoHAsync_v2(out, p, sizeof out, s));
	static int seven = 7;
	OK(cuLaunchHostFunc(s, host, &seven));
	OK(cuStreamEndCapture(s, &g));
	size_t count = 0;
	OK(cuGraphGetNodes(g, NULL, &count));
	EQ(count, 3);
	memset(out, 0, sizeof out);
	MUST(cuGraphInstantiateWithFlags(&x, g, 0));
	v = 1000; /* the graph holds the value of the capture */
	OK(cuGraphLaunch(x, s));
	OK(cuGraphLaunch(x, s));
	OK(cuStreamSynchronize(s));
	EQ(out[63], 66);
	EQ(ran, 14);

	/* By hand: fill, then kernel, with an update of the instance's parameters. */
	CUgraph h;
	CUgraphNode fill, kernel;
	CUcontext ctx;
	OK(cuCtxGetCurrent(&ctx));
	MUST(cuGraphCreate(&h, 0));
	CUDA_MEMSET_NODE_PARAMS ms = {.dst = p, .value = 0, .elementSize = 4, .width = 64, .height = 1};
	MUST(cuGraphAddMemsetNode(&fill, h, NULL, 0, &ms, ctx));
	n = 32;
	v = 100;
	CUDA_KERNEL_NODE_PARAMS kp = {.func = ramp, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 64, .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
	MUST(cuGraphAddKernelNode_v2(&kernel, h, &fill, 1, &kp));
	CUgraphNodeType type;
	OK(cuGraphNodeGetType(kernel, &type));
	EQ(type, CU_GRAPH_NODE_TYPE_KERNEL);
	CUgraphExec y;
	MUST(cuGraphInstantiateWithFlags(&y, h, 0));
	OK(cuGraphLaunch(y, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[31], 131);
	EQ(out[32], 0);
	v = 200;
	OK(cuGraphExecKernelNodeSetParams_v2(y, kernel, &kp));
	OK(cuGraphLaunch(y, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[31], 231);
	CUgraph clone;
	OK(cuGraphClone(&clone, h));
	OK(cuGraphGetNodes(clone, NULL, &count));
	EQ(count, 2);
	OK(cuGraphDestroy(clone));

	/* A user object lives as long as what retains it. */
	CUuserObject o;
	static int one = 1;
	OK(cuUserObjectCreate(&o, &one, release, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphRetainUserObject(h, o, 1, CU_GRAPH_USER_OBJECT_MOVE));
	EQ(released, 0);
	OK(cuGraphExecDestroy(y));
	OK(cuGraphDestroy(h));
	for (int i = 0; i < 1000 && !*(volatile int *)&released; i++) {
		struct { long s, ns; } t = {0, 1000000};
		extern int nanosleep(const void *, void *);
		nanosleep(&t, NULL);
	}
	EQ(released, 1);
	OK(cuGraphExecDestroy(x));
	OK(cuGraphDestroy(g));
	OK(cuStreamDestroy_v2(s));
	return done("graph");
}
