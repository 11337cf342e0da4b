/* One call with a pointer that leads to no memory: pointers FUNCTION NUMBER HOW TYPE... The types are those of the
 * parameters; parameter NUMBER is the pointer. HOW is: page, there is no memory at it; end, it ends after 8 bytes; inside,
 * there is memory and every pointer in it leads to none. The other arguments are valid as far as a type tells. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

typedef CUresult any(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
	uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

enum { MOST = 16, SIZE = 64 << 10 };

static uintptr_t value(const char *type)
{
	static CUcontext ctx;
	static CUmodule module;
	if (!ctx) {
		ctx = open_context();
		module = open_module();
	}
#define HANDLE(t, make) if (strcmp(type, #t) == 0) { static t h; if (!h) MUST(make); return (uintptr_t)h; }
	HANDLE(CUstream, cuStreamCreate(&h, 0))
	HANDLE(CUevent, cuEventCreate(&h, 0))
	HANDLE(CUdeviceptr, cuMemAlloc_v2(&h, SIZE))
	HANDLE(CUfunction, cuModuleGetFunction(&h, module, "poke"))
	HANDLE(CUlibrary, cuLibraryLoadData(&h, kernels, NULL, NULL, 0, NULL, NULL, 0))
	HANDLE(CUkernel, cuLibraryGetKernel(&h, (CUlibrary)value("CUlibrary"), "poke"))
	HANDLE(CUlinkState, cuLinkCreate_v2(0, NULL, NULL, &h))
	HANDLE(CUgraph, cuGraphCreate(&h, 0))
	HANDLE(CUgraphNode, cuGraphAddEmptyNode(&h, (CUgraph)value("CUgraph"), NULL, 0))
	HANDLE(CUgraphExec, cuGraphInstantiateWithFlags(&h, (CUgraph)value("CUgraph"), 0))
	HANDLE(CUtexref, cuTexRefCreate(&h))
	HANDLE(CUmemoryPool, cuDeviceGetDefaultMemPool(&h, 0))
	CUDA_ARRAY_DESCRIPTOR a = {.Width = 64, .Height = 64, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
	HANDLE(CUarray, cuArrayCreate_v2(&h, &a))
	if (strcmp(type, "CUcontext") == 0)
		return (uintptr_t)ctx;
	if (strcmp(type, "CUmodule") == 0)
		return (uintptr_t)module;
	if (strcmp(type, "CUdevice") == 0 || strncmp(type, "CU", 2) == 0)
		return 0;
	return 4;
}

int main(int argc, char **argv)
{
	uintptr_t v[MOST] = {0};
	int n = argc - 4, which = atoi(argv[2]), i;
	long page = sysconf(_SC_PAGESIZE);
	char *edge = (char *)mmap(NULL, SIZE + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + SIZE;
	if (n > MOST || mprotect(edge, page, PROT_NONE))
		return 1;
	for (i = 0; i < n; i++) {
		const char *type = argv[4 + i];
		v[i] = value(type);
		if (!strchr(type, '*'))
			continue;
		char *p = calloc(1, SIZE);
		if (!strcmp(type, "const char *"))
			strcpy(p, "poke");
		v[i] = (uintptr_t)p;
	}
	if (strcmp(argv[3], "inside") == 0) {
		for (i = 0; i < SIZE / 8; i++)
			((char **)v[which])[i] = edge;
	} else if (strcmp(argv[3], "end") == 0) {
		memset(edge - 8, 1, 8);
		v[which] = (uintptr_t)edge - 8;
	} else {
		v[which] = (uintptr_t)edge;
	}
	any *f = (any *)(uintptr_t)dlsym(RTLD_DEFAULT, argv[1]);
	if (!f)
		return 1;
	printf("%d\n", f(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]));
	return failures != 0;
}
