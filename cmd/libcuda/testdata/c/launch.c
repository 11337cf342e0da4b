/* Launches: parameters by pointers and in a buffer, configurations with attributes, the old way, occupancy, what a launch refuses, device printf. */
#include "check.h"

int main(void)
{
	open_context();
	CUmodule m = open_module();
	CUfunction ramp = function(m, "ramp"), scale = function(m, "scale"), hello = function(m, "hello"), nop = function(m, "nop");
	enum { N = 1000 };
	unsigned int out[N], v = 5, n = N;
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, sizeof out));
	void *args[] = {&p, &v, &n};
	OK(cuLaunchKernel(ramp, 4, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	for (int i = 0; i < N; i++)
		EQ(out[i], i + 5);

	struct { CUdeviceptr p; unsigned int v, n; } buffer = {p, 1000, N};
	size_t size = sizeof buffer;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	OK(cuLaunchKernel(ramp, 4, 1, 1, 256, 1, 1, 0, NULL, NULL, extra));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[0], 1000);
	EQ(out[N - 1], 1999);

	CUlaunchAttribute attr = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
	attr.value.clusterDim.x = 2;
	attr.value.clusterDim.y = attr.value.clusterDim.z = 1;
	CUlaunchConfig config = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1, .attrs = &attr, .numAttrs = 1};
	v = 7;
	OK(cuLaunchKernelEx(&config, ramp, args, NULL));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[999], 1006);
	config.gridDimX = 3;
	WANT(cuLaunchKernelEx(&config, ramp, args, NULL), CUDA_ERROR_INVALID_CLUSTER_SIZE);
	v = 8;
	OK(cuLaunchCooperativeKernel(ramp, 4, 1, 1, 256, 1, 1, 0, NULL, args));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[999], 1007);

	/* A float argument, and the calls before cuLaunchKernel, one of which takes a float by value. */
	float x[4] = {1, 2, 3, 4}, y[4] = {0}, a = 2.5f;
	CUdeviceptr dx, dy;
	MUST(cuMemAlloc_v2(&dx, sizeof x));
	MUST(cuMemAlloc_v2(&dy, sizeof y));
	OK(cuMemcpyHtoD_v2(dx, x, sizeof x));
	n = 4;
	void *sargs[] = {&dy, &dx, &a, &n};
	OK(cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, NULL, sargs, NULL));
	OK(cuMemcpyDtoH_v2(y, dy, sizeof y));
	EQ(y[3] == 10.0f, 1);
	OK(cuFuncSetBlockShape(scale, 32, 1, 1));
	OK(cuParamSetSize(scale, 24));
	OK(cuParamSetv(scale, 0, &dy, 8));
	OK(cuParamSetv(scale, 8, &dx, 8));
	OK(cuParamSetf(scale, 16, 0.5f));
	OK(cuParamSeti(scale, 20, 4));
	OK(cuLaunchGrid(scale, 1, 1));
	OK(cuMemcpyDtoH_v2(y, dy, sizeof y));
	EQ(y[3] == 2.0f, 1);
	EQ(y[0] == 0.5f, 1);

	WANT(cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), CUDA_ERROR_INVALID_HANDLE);
	WANT(cuLaunchKernel(ramp, 0, 1, 1, 1, 1, 1, 0, NULL, args, NULL), CUDA_ERROR_INVALID_VALUE);
	WANT(cuLaunchKernel(ramp, 1, 1, 1, 2048, 1, 1, 0, NULL, args, NULL), CUDA_ERROR_INVALID_VALUE);
	WANT(cuLaunchKernel(ramp, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	WANT(cuLaunchKernel(ramp, 1, 1, 1, 1, 1, 1, 1 << 20, NULL, args, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(nop, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));

	int blocks = 0, grid = 0, block = 0;
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, ramp, 256, 0));
	EQ(blocks, 8);
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, ramp, NULL, 0, 0));
	EQ(block, 1024);

	/* What kernels print comes out in order with the program's own output. */
	printf("before\n");
	OK(cuLaunchKernel(hello, 3, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	OK(cuCtxSynchronize());
	printf("after\n");
	return done("launch");
}
