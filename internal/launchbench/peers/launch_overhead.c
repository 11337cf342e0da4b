// Launches kernels that do nothing through the driver API, the loop that the Go and the Python program have too. It needs neither cuda.h nor -lcuda:
//
//	cc -O2 -o launch_overhead launch_overhead.c -ldl
//	./launch_overhead launch.ptx
//
// The prototypes are those of cuda.h 13.0. Output: see launchbench.go.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef int CUresult;
typedef int CUdevice;
typedef void *CUcontext, *CUmodule, *CUfunction, *CUstream;
typedef uint64_t CUdeviceptr;

static CUresult (*Init)(unsigned);
static CUresult (*DeviceGet)(CUdevice *, int);
static CUresult (*DevicePrimaryCtxRetain)(CUcontext *, CUdevice);
static CUresult (*CtxSetCurrent)(CUcontext);
static CUresult (*ModuleLoadData)(CUmodule *, const void *);
static CUresult (*ModuleGetFunction)(CUfunction *, CUmodule, const char *);
static CUresult (*StreamCreate)(CUstream *, unsigned);
static CUresult (*StreamSynchronize)(CUstream);
static CUresult (*MemAlloc)(CUdeviceptr *, size_t);
static CUresult (*LaunchKernel)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **, void **);

enum { batch = 200, batches = 200, sustained = 50000, non_blocking = 1 };

static void check(CUresult r, const char *what) {
	if (r != 0) {
		fprintf(stderr, "%s: CUresult %d\n", what, r);
		exit(1);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static int less(const void *a, const void *b) {
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void measure(const char *kernel, CUfunction f, CUstream s, void **args) {
	static double times[batches];
	for (int i = 0; i < batches; i++) {
		check(StreamSynchronize(s), "cuStreamSynchronize");
		double begin = now();
		for (int k = 0; k < batch; k++) check(LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, NULL), "cuLaunchKernel");
		times[i] = (now() - begin) / batch;
	}
	check(StreamSynchronize(s), "cuStreamSynchronize");
	double begin = now();
	for (int k = 0; k < sustained; k++) check(LaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, args, NULL), "cuLaunchKernel");
	check(StreamSynchronize(s), "cuStreamSynchronize");
	double all = (now() - begin) / sustained;
	qsort(times, batches, sizeof times[0], less);
	printf("C\tcuLaunchKernel\t%s\t%.0f\t%.0f\t%.0f\n", kernel, times[0], times[batches / 2], all);
}

static void *symbol(void *lib, const char *name) {
	void *p = dlsym(lib, name);
	if (p == NULL) {
		fprintf(stderr, "%s: not found\n", name);
		exit(1);
	}
	return p;
}

int main(int argc, char **argv) {
	if (argc != 2) {
		fprintf(stderr, "usage: %s launch.ptx\n", argv[0]);
		return 2;
	}
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	if (lib == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		return 1;
	}
	*(void **)&Init = symbol(lib, "cuInit");
	*(void **)&DeviceGet = symbol(lib, "cuDeviceGet");
	*(void **)&DevicePrimaryCtxRetain = symbol(lib, "cuDevicePrimaryCtxRetain");
	*(void **)&CtxSetCurrent = symbol(lib, "cuCtxSetCurrent");
	*(void **)&ModuleLoadData = symbol(lib, "cuModuleLoadData");
	*(void **)&ModuleGetFunction = symbol(lib, "cuModuleGetFunction");
	*(void **)&StreamCreate = symbol(lib, "cuStreamCreate");
	*(void **)&StreamSynchronize = symbol(lib, "cuStreamSynchronize");
	*(void **)&MemAlloc = symbol(lib, "cuMemAlloc_v2");
	*(void **)&LaunchKernel = symbol(lib, "cuLaunchKernel");

	static char ptx[1 << 16];
	FILE *file = fopen(argv[1], "rb");
	if (file == NULL || fread(ptx, 1, sizeof ptx - 1, file) == 0) {
		fprintf(stderr, "%s: cannot be read\n", argv[1]);
		return 1;
	}
	fclose(file);

	CUdevice dev;
	CUcontext ctx;
	CUmodule mod;
	CUfunction empty, four;
	CUstream s;
	CUdeviceptr x, y;
	check(Init(0), "cuInit");
	check(DeviceGet(&dev, 0), "cuDeviceGet");
	check(DevicePrimaryCtxRetain(&ctx, dev), "cuDevicePrimaryCtxRetain");
	check(CtxSetCurrent(ctx), "cuCtxSetCurrent");
	check(ModuleLoadData(&mod, ptx), "cuModuleLoadData");
	check(ModuleGetFunction(&empty, mod, "empty"), "cuModuleGetFunction");
	check(ModuleGetFunction(&four, mod, "four"), "cuModuleGetFunction");
	check(StreamCreate(&s, non_blocking), "cuStreamCreate");
	check(MemAlloc(&x, 4096), "cuMemAlloc");
	check(MemAlloc(&y, 4096), "cuMemAlloc");
	float a = 2;
	int n = 1024;
	void *args[] = {&x, &y, &a, &n};
	measure("empty", empty, s, NULL);
	measure("four", four, s, args);
	return 0;
}
