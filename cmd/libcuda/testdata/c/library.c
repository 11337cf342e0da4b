/* Libraries: kernels without a context, their functions, parameters, attributes, variables. */
#include "check.h"

int main(void)
{
	CUlibrary l;
	CUkernel k, all[16];
	CUfunction f;
	CUdeviceptr p, v;
	unsigned int n = 0, out = 0, value = 5;
	size_t size = 0, offset = 0;
	const char *name = NULL;
	int i = 0;
	open_context();
	MUST(cuLibraryLoadData(&l, kernels, NULL, NULL, 0, NULL, NULL, 0));
	MUST(cuLibraryGetKernel(&k, l, "poke"));
	WANT(cuLibraryGetKernel(&all[0], l, "none"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryGetKernelCount(&n, l));
	EQ(n, 8);
	OK(cuLibraryEnumerateKernels(all, n, l));
	TRUE(all[0] != NULL && all[7] != NULL);
	OK(cuKernelGetName(&name, k));
	EQ(strcmp(name, "poke"), 0);
	CUlibrary back = NULL;
	OK(cuKernelGetLibrary(&back, k));
	TRUE(back == l);
	OK(cuKernelGetParamInfo(k, 1, &offset, &size));
	EQ(offset, 8);
	EQ(size, 4);
	WANT(cuKernelGetParamInfo(k, 2, &offset, &size), CUDA_ERROR_INVALID_VALUE);
	OK(cuKernelGetAttribute(&i, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0));
	EQ(i, 1024);
	MUST(cuMemAlloc_v2(&p, 4));
	void *args[] = {&p, &value};
	/* A kernel is launched as a function is, and its function in this context does the same. */
	OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	EQ(out, 5);
	OK(cuKernelGetFunction(&f, k));
	value = 6;
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	EQ(out, 6);
	OK(cuLibraryGetGlobal(&v, &size, l, "global"));
	EQ(size, 4);
	OK(cuMemcpyDtoH_v2(&out, v, 4));
	EQ(out, 7);
	WANT(cuLibraryGetGlobal(&v, &size, l, "none"), CUDA_ERROR_NOT_FOUND);
	CUmodule m;
	OK(cuLibraryGetModule(&m, l));
	OK(cuModuleGetFunction(&f, m, "ramp"));
	OK(cuLibraryUnload(l));
	return done("library");
}
