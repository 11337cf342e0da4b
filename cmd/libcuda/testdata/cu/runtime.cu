/* A program of the runtime API with kernels in it, compiled by clang alone: launches by <<<>>>, templates, variables, attributes, graphs, streams, errors. It checks itself. */
#include "cuda_runtime_api.h"
#include "driver_functions.h"
#include "cuda.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
#define CONSTANT __attribute__((constant))

extern "C" unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);

static int failed;
#define WANT(call, want) \
	do { \
		int got_ = (int)(call), want_ = (int)(want); \
		if (got_ != want_) { \
			printf("%s:%d: %s gave %d, want %d\n", __FILE__, __LINE__, #call, got_, want_); \
			failed = 1; \
		} \
	} while (0)
#define OK(call) WANT(call, cudaSuccess)

CONSTANT int factor = 3;
DEVICE int total;
DEVICE int table[4] = {1, 2, 3, 4};

DEVICE inline int index_() { return __nvvm_read_ptx_sreg_ctaid_x() * __nvvm_read_ptx_sreg_ntid_x() + __nvvm_read_ptx_sreg_tid_x(); }

template <class T> GLOBAL void scale(T *p, T v, int n)
{
	int i = index_();
	if (i < n)
		p[i] = (T)(i * factor) + v;
}

GLOBAL void count(int n)
{
	if (index_() < n)
		__nvvm_atom_add_gen_i(&total, 1);
}

GLOBAL void trap(int *p) { *p = 1; }

GLOBAL void nothing() {}

extern __attribute__((shared)) int dynamic_[];
GLOBAL void shared(int *out)
{
	dynamic_[__nvvm_read_ptx_sreg_tid_x()] = __nvvm_read_ptx_sreg_tid_x();
	__nvvm_bar_sync(0);
	out[__nvvm_read_ptx_sreg_tid_x()] = dynamic_[__nvvm_read_ptx_sreg_ntid_x() - 1 - __nvvm_read_ptx_sreg_tid_x()];
}

int main()
{
	enum { N = 1000 };
	int device = -1;
	OK(cudaGetDevice(&device));
	WANT(device, 0);

	/* Launches. */
	int *p, out[N];
	float *f, fout[N];
	OK(cudaMalloc((void **)&p, sizeof out));
	OK(cudaMalloc((void **)&f, sizeof fout));
	scale<int><<<4, 256>>>(p, 7, N);
	OK(cudaGetLastError());
	scale<float><<<dim3(4), dim3(256)>>>(f, 0.5f, N);
	OK(cudaGetLastError());
	OK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(fout, f, sizeof fout, cudaMemcpyDeviceToHost));
	WANT(out[999], 999 * 3 + 7);
	WANT(fout[10] == 30.5f, 1);

	/* Variables. */
	int v = 5, sum = -1;
	OK(cudaMemcpyToSymbol(&factor, &v, sizeof v));
	scale<int><<<4, 256>>>(p, 0, N);
	OK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDefault));
	WANT(out[100], 500);
	count<<<10, 128>>>(1111);
	OK(cudaMemcpyFromSymbol(&sum, &total, sizeof sum));
	WANT(sum, 1111);
	void *at = NULL;
	size_t size = 0;
	OK(cudaGetSymbolAddress(&at, table));
	OK(cudaGetSymbolSize(&size, table));
	WANT(size, 16);
	OK(cudaMemcpyFromSymbol(&sum, table, 4, 12));
	WANT(sum, 4);
	WANT(cudaMemcpyFromSymbol(&sum, table, 8, 12), cudaErrorInvalidValue);
	WANT(cudaMemcpyToSymbol(&v, &v, 4), cudaErrorInvalidSymbol);
	WANT(cudaPeekAtLastError(), cudaErrorInvalidSymbol);
	WANT(cudaGetLastError(), cudaErrorInvalidSymbol);
	OK(cudaGetLastError());

	/* What a launch refuses. */
	nothing<<<1, 2048>>>();
	WANT(cudaGetLastError(), CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue);
	nothing<<<0, 1>>>();
	WANT(cudaGetLastError(), CUDART_VERSION < 13000 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue);
	WANT(cudaLaunchKernel((const void *)main, dim3(1), dim3(1), NULL, 0, 0), CUDART_VERSION < 13000 ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidResourceHandle);
	cudaGetLastError();

	/* Attributes and dynamic shared memory. */
	struct cudaFuncAttributes a;
	OK(cudaFuncGetAttributes(&a, (const void *)shared));
	WANT(a.maxThreadsPerBlock, 1024);
	OK(cudaFuncSetAttribute((const void *)shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
	OK(cudaFuncGetAttributes(&a, (const void *)shared));
	WANT(a.maxDynamicSharedSizeBytes, 100000);
	shared<<<1, 64, 90000>>>(p);
	OK(cudaGetLastError());
	OK(cudaMemcpy(out, p, 64 * sizeof(int), cudaMemcpyDeviceToHost));
	WANT(out[0], 63);
	int blocks = 0;
	OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)nothing, 256, 0));
	WANT(blocks, 8);

	/* A graph out of a capture, and one made by hand. */
	cudaStream_t s;
	cudaGraph_t g;
	cudaGraphExec_t exec;
	OK(cudaStreamCreate(&s));
	OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	scale<int><<<4, 256, 0, s>>>(p, 1, N);
	OK(cudaMemcpyAsync(out, p, sizeof out, cudaMemcpyDeviceToHost, s));
	OK(cudaStreamEndCapture(s, &g));
	OK(cudaGraphInstantiate(&exec, g, 0));
	OK(cudaGraphLaunch(exec, s));
	OK(cudaStreamSynchronize(s));
	WANT(out[3], 16);
	OK(cudaGraphExecDestroy(exec));
	OK(cudaGraphDestroy(g));
	OK(cudaGraphCreate(&g, 0));
	int add = 9, n = N;
	void *args[] = {&p, &add, &n};
	cudaKernelNodeParams k = {};
	k.func = (void *)scale<int>;
	k.gridDim = dim3(4);
	k.blockDim = dim3(256);
	k.kernelParams = args;
	cudaGraphNode_t first, second;
	OK(cudaGraphAddKernelNode(&first, g, NULL, 0, &k));
	OK(cudaGraphAddMemcpyNode1D(&second, g, &first, 1, out, p, sizeof out, cudaMemcpyDeviceToHost));
	cudaKernelNodeParams back = {};
	OK(cudaGraphKernelNodeGetParams(first, &back));
	WANT(back.func == k.func, 1);
	OK(cudaGraphInstantiate(&exec, g, 0));
	OK(cudaGraphLaunch(exec, 0));
	OK(cudaDeviceSynchronize());
	WANT(out[2], 19);

	/* The driver API on the same context. */
	CUcontext ctx = NULL;
	WANT(cuCtxGetCurrent(&ctx), CUDA_SUCCESS);
	WANT(ctx != NULL, 1);
	WANT(cuMemsetD32((CUdeviceptr)p, 42, N), CUDA_SUCCESS);
	OK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
	WANT(out[N - 1], 42);
	cudaFunction_t fn = NULL;
	OK(cudaGetFuncBySymbol(&fn, (const void *)nothing));
	WANT(cuLaunchKernel(fn, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), CUDA_SUCCESS);
	void *entry = NULL;
	OK(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", &entry, 12000, cudaEnableDefault, NULL));
	WANT(entry != NULL, 1);

	/* A fault stays. */
	if (getenv("GOCUDA_TEST_FAULT")) {
		trap<<<1, 1>>>((int *)8);
		WANT(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
		WANT(cudaGetLastError(), cudaErrorIllegalAddress);
		WANT(cudaMalloc((void **)&p, 4), cudaErrorIllegalAddress);
	} else {
		OK(cudaFree(p));
		OK(cudaDeviceReset());
		OK(cudaMalloc((void **)&p, sizeof out));
		v = 2;
		OK(cudaMemcpyToSymbol(&factor, &v, sizeof v));
		scale<int><<<4, 256>>>(p, 0, N);
		OK(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
		WANT(out[100], 200);
	}
	if (!failed)
		printf("runtime: passed\n");
	return failed;
}
