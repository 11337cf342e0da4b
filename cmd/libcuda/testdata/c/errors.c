/* Results: their names and texts, and a fault that the context remembers while the process goes on. */
#include "check.h"

int main(void)
{
	const char *s = "x";
	OK(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &s));
	EQ(strcmp(s, "CUDA_ERROR_ILLEGAL_ADDRESS"), 0);
	OK(cuGetErrorString(CUDA_ERROR_ILLEGAL_ADDRESS, &s));
	EQ(strcmp(s, "an illegal memory access was encountered"), 0);
	WANT(cuGetErrorString((CUresult)12345, &s), CUDA_ERROR_INVALID_VALUE);
	EQ(s, 0);
	const void *table = &s;
	CUuuid id = {{1, 2, 3}};
	WANT(cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
	CUcontext ctx = open_context();
	WANT(cuGetExportTable(&table, &id), CUDA_ERROR_INVALID_VALUE);
	WANT(cuGLInit(), CUDA_ERROR_OPERATING_SYSTEM);
	CUmodule m = open_module();
	CUfunction poke = function(m, "poke");
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, 4));
	unsigned int v = 1;
	void *args[] = {&p, &v};
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuCtxSynchronize());
	CUdeviceptr bad = 0x700000000000;
	void *bad_args[] = {&bad, &v};
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, NULL, bad_args, NULL));
	WANT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	/* The fault stays. */
	WANT(cuMemFree_v2(p), CUDA_ERROR_ILLEGAL_ADDRESS);
	CUcontext c = NULL;
	OK(cuCtxGetCurrent(&c));
	EQ(c, ctx);
	return done("errors");
}
