/* Modules, libraries, JIT options. */
#include "check.h"

int main(void)
{
	open_context();
	CUmodule m = open_module();
	CUfunction f = function(m, "variables");
	WANT(cuModuleGetFunction(&f, m, "nothing"), CUDA_ERROR_NOT_FOUND);
	f = function(m, "variables");
	CUdeviceptr g, out;
	size_t size = 0;
	OK(cuModuleGetGlobal_v2(&g, &size, m, "global"));
	EQ(size, 4);
	MUST(cuMemAlloc_v2(&out, 4));
	unsigned int v = 11, r = 0;
	void *args[] = {&out};
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&r, out, 4));
	EQ(r, 21);
	OK(cuMemcpyHtoD_v2(g, &v, 4));
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&r, out, 4));
	EQ(r, 33);
	int n = 0;
	OK(cuFuncGetAttribute(&n, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, f));
	EQ(n, 1024);
	const char *name = NULL;
	OK(cuFuncGetName(&name, f));
	EQ(strcmp(name, "variables"), 0);
	size_t offset = 9, psize = 9;
	OK(cuFuncGetParamInfo(function(m, "ramp"), 2, &offset, &psize));
	EQ(offset, 12);
	EQ(psize, 4);
	OK(cuModuleUnload(m));

	/* JIT options: numbers in void*, and a log that the caller owns. */
	char log[2000] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof log};
	WANT(cuModuleLoadDataEx(&m, PTX_HEAD ".visible .entry k() { nonsense; }", 2, options, values), CUDA_ERROR_INVALID_PTX);
	TRUE(strstr(log, "nonsense"));
	EQ((uintptr_t)values[1], strlen(log));
	WANT(cuModuleLoadData(&m, "\x7f" "ELF nothing of it"), CUDA_ERROR_INVALID_IMAGE);
	WANT(cuModuleLoad(&m, "/nowhere/at/all.ptx"), CUDA_ERROR_FILE_NOT_FOUND);

	/* A library is loaded without a context, and its kernels belong to any. */
	CUlibrary lib;
	CUkernel k;
	MUST(cuLibraryLoadData(&lib, kernels, NULL, NULL, 0, NULL, NULL, 0));
	unsigned int count = 0;
	OK(cuLibraryGetKernelCount(&count, lib));
	EQ(count, 8);
	MUST(cuLibraryGetKernel(&k, lib, "variables"));
	OK(cuKernelGetName(&name, k));
	EQ(strcmp(name, "variables"), 0);
	OK(cuLaunchKernel((CUfunction)k, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&r, out, 4));
	EQ(r, 21);
	OK(cuKernelGetFunction(&f, k));
	OK(cuLibraryGetGlobal(&g, &size, lib, "global"));
	OK(cuLibraryUnload(lib));
	WANT(cuLibraryUnload(NULL), CUDA_ERROR_INVALID_HANDLE);
	return done("module");
}
