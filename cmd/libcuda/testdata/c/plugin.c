/* A program that is not linked with the library: opens it by the name given, many times and from threads with small stacks. */
#include "zz_generated_cuda.h"
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static const char *name;
static CUresult result;

static void *once(void *unused)
{
	void *h = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (!h) {
		printf("%s\n", dlerror());
		exit(1);
	}
	CUresult (*init)(unsigned int) = (CUresult(*)(unsigned int))(uintptr_t)dlsym(h, "cuInit");
	CUresult (*count)(int *) = (CUresult(*)(int *))(uintptr_t)dlsym(h, "cuDeviceGetCount");
	CUresult (*retain)(CUcontext *, CUdevice) = (CUresult(*)(CUcontext *, CUdevice))(uintptr_t)dlsym(h, "cuDevicePrimaryCtxRetain");
	CUresult (*set)(CUcontext) = (CUresult(*)(CUcontext))(uintptr_t)dlsym(h, "cuCtxSetCurrent");
	CUresult (*load)(CUmodule *, const void *) = (CUresult(*)(CUmodule *, const void *))(uintptr_t)dlsym(h, "cuModuleLoadData");
	int n = 0;
	CUcontext ctx;
	CUmodule m;
	result = init(0);
	if (result == CUDA_SUCCESS)
		result = count(&n);
	if (result == CUDA_SUCCESS)
		result = retain(&ctx, 0);
	if (result == CUDA_SUCCESS)
		result = set(ctx);
	if (result == CUDA_SUCCESS)
		result = load(&m, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
	printf("%d %d\n", result, n);
	dlclose(h);
	return unused;
}

int main(int argc, char **argv)
{
	name = argc > 1 ? argv[1] : "libcuda.so.1";
	pthread_attr_t small;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 64 << 10);
	for (int i = 0; i < 4; i++) {
		pthread_t t;
		once(NULL);
		if (pthread_create(&t, &small, once, NULL) == 0)
			pthread_join(t, NULL);
	}
	return 0;
}
