/* The runtime library's front: where the core is, what belongs to a thread, and what a program registers before main.
 *
 * With the software device, the calls go through the front of libcuda.so.1 beside this library: both work in one core, and the current context of a thread is the same for
 * both. With NVIDIA's driver, this library has a core of its own, which calls that driver; the driver keeps the current context. GOCUDA_DEVICE decides: software, driver, or
 * auto, which is the driver where there is one with a device. */
#define _GNU_SOURCE
#include "cudart.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME(major) "libcudart.so." #major
#if CUDART_VERSION >= 13000
#define VERSION_WORD 1
const char gocuda_library[] = NAME(13);
#else
#define VERSION_WORD 0
const char gocuda_library[] = NAME(12);
#endif

const char *gocuda_driver;
const struct gocuda_symbol gocuda_symbols[] = {{"", NULL}}; /* the driver has its own */
const unsigned int gocuda_symbol_count = 0;

static __thread struct gocuda_cudart_thread thread __attribute__((tls_model("initial-exec")));

/* Where calls go: the front of the software device, or core.c here. */
static const struct gocuda_door *door;
static const struct gocuda_door own = {sizeof own, gocuda_call, gocuda_look, gocuda_why};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cudaError_t door_error;

typedef CUresult export_table(const void **, const CUuuid *);
typedef CUresult init(unsigned int);
typedef CUresult get_count(int *);

/* door_of is the door of a driver library, NULL if it is not ours. */
static const struct gocuda_door *door_of(void *h)
{
	static const unsigned char id[16] = GOCUDA_DOOR_ID;
	const void *table = NULL;
	CUuuid uuid;
	memcpy(&uuid, id, sizeof id);
	export_table *get = (export_table *)(uintptr_t)dlsym(h, "cuGetExportTable");
	return get && get(&table, &uuid) == CUDA_SUCCESS ? table : NULL;
}

/* nvidia finds NVIDIA's driver library; with a device if one is asked for. */
static const char *nvidia(int with_device)
{
	static const char *const places[] = {"libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/aarch64-linux-gnu/libcuda.so.1", "/usr/lib64/libcuda.so.1",
		"/usr/lib/libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", "/usr/local/nvidia/lib/libcuda.so.1", "/run/opengl-driver/lib/libcuda.so.1",
		"/usr/lib/wsl/lib/libcuda.so.1", NULL};
	const char *forced = getenv("GOCUDA_LIBCUDA");
	const char *const one[] = {forced, NULL};
	for (const char *const *p = forced && *forced ? one : places; *p; p++) {
		void *h = dlopen(*p, RTLD_NOW | RTLD_LOCAL);
		if (!h || door_of(h))
			continue;
		if (!with_device)
			return *p;
		int n = 0;
		init *start = (init *)(uintptr_t)dlsym(h, "cuInit");
		get_count *count = (get_count *)(uintptr_t)dlsym(h, "cuDeviceGetCount");
		if (start && count && start(0) == CUDA_SUCCESS && count(&n) == CUDA_SUCCESS && n > 0)
			return *p;
	}
	return NULL;
}

/* software is the front of the software device: the one that the program has, or that which lies beside this library. */
static const struct gocuda_door *software(void)
{
	char path[PATH_MAX + sizeof "/libcuda.so.1"];
	Dl_info info;
	const struct gocuda_door *d = NULL;
	void *h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	if (h && (d = door_of(h)))
		return d;
	if (dladdr((void *)&own, &info) && info.dli_fname && realpath(info.dli_fname, path)) {
		char *slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, "libcuda.so.1");
		if ((h = dlopen(path, RTLD_NOW | RTLD_LOCAL)) && (d = door_of(h)))
			return d;
	}
	h = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	return h ? door_of(h) : NULL;
}

static cudaError_t choose(void)
{
	const char *device = getenv("GOCUDA_DEVICE");
	int driver = device && strcmp(device, "driver") == 0, only = device && strcmp(device, "software") == 0;
	if (device && *device && !driver && !only && strcmp(device, "auto") != 0) {
		fprintf(stderr, "%s: GOCUDA_DEVICE=%s: there are auto, driver and software\n", gocuda_library, device);
		return cudaErrorInitializationError;
	}
	if (!only && (gocuda_driver = nvidia(!driver))) {
		__atomic_store_n(&door, &own, __ATOMIC_RELEASE);
		return cudaSuccess;
	}
	if (driver) {
		fprintf(stderr, "%s: GOCUDA_DEVICE=driver, and there is no driver library of NVIDIA's\n", gocuda_library);
		return cudaErrorInsufficientDriver;
	}
	const struct gocuda_door *d = software();
	if (!d) {
		fprintf(stderr, "%s: there is no libcuda.so.1 of the software device beside this library\n", gocuda_library);
		return cudaErrorInsufficientDriver;
	}
	__atomic_store_n(&door, d, __ATOMIC_RELEASE);
	return cudaSuccess;
}

/* What a program registers is kept here until the core runs: it may be much, and a program may fork first. */
struct binary {
	const void *image;
	uint64_t handle; /* the core's, 0 until it has it */
	struct entry *first, **last;
	struct binary *next;
};

struct entry {
	uint32_t fn;
	uint64_t host, name, size, managed;
	struct entry *next;
};

static struct binary *binaries, **last_binary = &binaries;
static int handed_over;

/* raw makes a call without what a function of the API does with errors. */
static cudaError_t raw(uint32_t fn, struct gocuda_frame *f)
{
	f->a[14] = VERSION_WORD;
	f->a[15] = W(&thread);
	return (cudaError_t)door->call(fn | GOCUDA_RUNTIME, f);
}

static void hand_over_entry(struct binary *b, struct entry *e)
{
	struct gocuda_frame f;
	f.a[0] = b->handle;
	f.a[1] = e->host;
	f.a[2] = e->name;
	f.a[3] = e->size;
	f.a[4] = e->managed;
	raw(e->fn, &f);
}

static cudaError_t hand_over_binary(struct binary *b)
{
	struct gocuda_frame f;
	f.a[0] = W(b->image);
	cudaError_t r = raw(GOCUDA_REGISTER_BINARY, &f);
	b->handle = r == cudaSuccess ? f.a[0] : 0;
	for (struct entry *e = b->first; b->handle && e; e = e->next)
		hand_over_entry(b, e);
	return r;
}

/* open_door chooses the device and hands over what has been registered. */
static cudaError_t open_door(void)
{
	pthread_mutex_lock(&lock);
	if (!door && door_error == cudaSuccess)
		door_error = choose();
	cudaError_t r = door_error;
	if (r == cudaSuccess && !handed_over) {
		for (struct binary *b = binaries; r == cudaSuccess && b; b = b->next)
			r = hand_over_binary(b);
		if (r != cudaSuccess)
			r = (cudaError_t)door->why((CUresult)r);
		else
			__atomic_store_n(&handed_over, 1, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return r;
}

static cudaError_t prepare(uint32_t *fn, struct gocuda_frame *f)
{
	if (__builtin_expect(!__atomic_load_n(&handed_over, __ATOMIC_ACQUIRE), 0)) {
		cudaError_t r = open_door();
		if (r != cudaSuccess)
			return thread.last = r;
	}
	f->a[14] = VERSION_WORD;
	f->a[15] = W(&thread);
	*fn |= GOCUDA_RUNTIME;
	return cudaSuccess;
}

/* A call that did not reach the runtime has the front's reason. */
static cudaError_t ended(CUresult r)
{
	if (__builtin_expect(r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY && thread.last == 0, 0))
		thread.last = door->why(r);
	return (cudaError_t)r;
}

cudaError_t gocuda_cudart_call(uint32_t fn, struct gocuda_frame *f)
{
	cudaError_t r = prepare(&fn, f);
	return r == cudaSuccess ? ended(door->call(fn, f)) : r;
}

cudaError_t gocuda_cudart_look(uint32_t fn, struct gocuda_frame *f)
{
	cudaError_t r = prepare(&fn, f);
	return r == cudaSuccess ? ended(door->look(fn, f)) : r;
}

cudaError_t gocuda_cudart_unsupported(void) { return thread.last = cudaErrorNotSupported; }

/* What belongs to the thread. */

GOCUDA_API cudaError_t cudaGetLastError(void)
{
	cudaError_t e = thread.last;
	thread.last = cudaSuccess;
	return e;
}

GOCUDA_API cudaError_t cudaPeekAtLastError(void) { return thread.last; }

/* Launches with <<<>>>: the configuration is put aside, the compiler's function for the kernel takes it and launches. An argument of a launch may be one, too. */
struct configuration {
	dim3 grid, block;
	size_t shared;
	cudaStream_t stream;
};
enum { DEEPEST = 64 };
static __thread struct configuration configurations[DEEPEST];
static __thread unsigned int configured;

GOCUDA_API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream);
GOCUDA_API unsigned int __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, cudaStream_t stream)
{
	if (configured == DEEPEST)
		return thread.last = cudaErrorLaunchOutOfResources;
	configurations[configured++] = (struct configuration){grid, block, shared, stream};
	return 0;
}

GOCUDA_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
GOCUDA_API cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
	if (configured == 0)
		return thread.last = cudaErrorMissingConfiguration;
	struct configuration *c = &configurations[--configured];
	*grid = c->grid;
	*block = c->block;
	*shared = c->shared;
	*(cudaStream_t *)stream = c->stream;
	return cudaSuccess;
}

/* What works without a device. */

static const struct gocuda_cudart_error *find_error(cudaError_t error)
{
	for (unsigned int i = 0; i < gocuda_cudart_error_count; i++)
		if (gocuda_cudart_errors[i].code == (unsigned int)error)
			return &gocuda_cudart_errors[i];
	return NULL;
}

GOCUDA_API const char *cudaGetErrorName(cudaError_t error)
{
	const struct gocuda_cudart_error *e = find_error(error);
	return e ? e->name : "unrecognized error code";
}

GOCUDA_API const char *cudaGetErrorString(cudaError_t error)
{
	const struct gocuda_cudart_error *e = find_error(error);
	return e ? e->text : "unrecognized error code";
}

GOCUDA_API cudaError_t cudaRuntimeGetVersion(int *runtimeVersion)
{
	if (!runtimeVersion)
		return thread.last = cudaErrorInvalidValue;
	*runtimeVersion = CUDART_VERSION;
	return cudaSuccess;
}

GOCUDA_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, enum cudaChannelFormatKind f)
{
	return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* The tables behind it are not public. */
GOCUDA_API cudaError_t cudaGetExportTable(const void **ppExportTable, const cudaUUID_t *pExportTableId)
{
	if (ppExportTable && pExportTableId)
		*ppExportTable = NULL;
	return thread.last = cudaErrorInvalidValue;
}

#if CUDART_VERSION < 13000
/* Devices have had doubles since 2008: nothing is to be converted. */
GOCUDA_API cudaError_t cudaSetDoubleForDevice(double *d) { return d ? cudaSuccess : (thread.last = cudaErrorInvalidValue); }
GOCUDA_API cudaError_t cudaSetDoubleForHost(double *d) { return d ? cudaSuccess : (thread.last = cudaErrorInvalidValue); }

/* Programs of CUDA 11 meant this name, with a shorter record. */
GOCUDA_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device);
GOCUDA_API cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
	struct gocuda_frame f;
	f.a[0] = W(prop);
	f.a[1] = W(device);
	return gocuda_cudart_look(GOCUDA_PROPERTIES_LEGACY, &f);
}
#endif

/* Registration: what a compiler's code calls before main, and when a library with kernels is opened. */

/* What the compiler leaves in the program for an image. */
struct wrapper {
	int magic, version;
	const void *data;
	void *filename_or_fatbins;
};
#define WRAPPER 0x466243b1

GOCUDA_API void **__cudaRegisterFatBinary(void *wrapper);
GOCUDA_API void **__cudaRegisterFatBinary(void *wrapper)
{
	const struct wrapper *w = wrapper;
	struct binary *b = calloc(1, sizeof *b);
	if (!b)
		return NULL;
	b->image = w->magic == WRAPPER ? w->data : wrapper;
	b->last = &b->first;
	pthread_mutex_lock(&lock);
	*last_binary = b;
	last_binary = &b->next;
	if (handed_over)
		hand_over_binary(b);
	pthread_mutex_unlock(&lock);
	return (void **)b;
}

GOCUDA_API void __cudaRegisterFatBinaryEnd(void **handle);
GOCUDA_API void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

static void enter(void **handle, struct entry value)
{
	struct binary *b = (struct binary *)handle;
	struct entry *e = b ? malloc(sizeof *e) : NULL;
	if (!e)
		return;
	*e = value;
	pthread_mutex_lock(&lock);
	*b->last = e;
	b->last = &e->next;
	if (handed_over && b->handle)
		hand_over_entry(b, e);
	pthread_mutex_unlock(&lock);
}

GOCUDA_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid, void *bid, dim3 *block, dim3 *grid, int *size);
GOCUDA_API void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, void *tid, void *bid, dim3 *block, dim3 *grid, int *size)
{
	(void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
	enter(handle, (struct entry){.fn = GOCUDA_REGISTER_FUNCTION, .host = W(host), .name = W(name)});
}

GOCUDA_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global);
GOCUDA_API void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	enter(handle, (struct entry){.fn = GOCUDA_REGISTER_VAR, .host = W(host), .name = W(name), .size = size});
}

/* host is where the program keeps the variable's address. */
GOCUDA_API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size, int constant, int global);
GOCUDA_API void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int external, size_t size, int constant, int global)
{
	(void)device, (void)external, (void)constant, (void)global;
	enter(handle, (struct entry){.fn = GOCUDA_REGISTER_VAR, .host = W(host), .name = W(name), .size = size, .managed = W(host)});
}

/* Variables of the host and tables of functions that device code shares: there is no memory here that both could name (docs/cudart.md). */
GOCUDA_API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
GOCUDA_API void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) { (void)handle, (void)name, (void)host, (void)size; }
GOCUDA_API cudaError_t __cudaRegisterUnifiedTable(void **handle, const void *table);
GOCUDA_API cudaError_t __cudaRegisterUnifiedTable(void **handle, const void *table) { (void)handle, (void)table; return gocuda_cudart_unsupported(); }

GOCUDA_API char __cudaInitModule(void **handle);
GOCUDA_API char __cudaInitModule(void **handle)
{
	struct binary *b = (struct binary *)handle;
	if (open_door() != cudaSuccess || !b || !b->handle)
		return 0;
	struct gocuda_frame f;
	f.a[0] = b->handle;
	return raw(GOCUDA_INIT_MODULE, &f) == cudaSuccess;
}

GOCUDA_API void __cudaUnregisterFatBinary(void **handle);
GOCUDA_API void __cudaUnregisterFatBinary(void **handle)
{
	pthread_mutex_lock(&lock);
	struct binary **p = &binaries;
	while (*p && *p != (struct binary *)handle)
		p = &(*p)->next;
	struct binary *b = *p;
	if (b) {
		*p = b->next;
		if (!b->next)
			last_binary = p;
		if (b->handle) {
			struct gocuda_frame f;
			f.a[0] = b->handle;
			raw(GOCUDA_UNREGISTER_BINARY, &f);
		}
		while (b->first) {
			struct entry *e = b->first;
			b->first = e->next;
			free(e);
		}
		free(b);
	}
	pthread_mutex_unlock(&lock);
}

/* What newer compilers' code calls for a launch. */

GOCUDA_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);
GOCUDA_API cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host) { return cudaGetKernel(kernel, host); }

GOCUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
GOCUDA_API cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	return cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}

extern cudaError_t cudaLaunchKernel_ptsz(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream);
GOCUDA_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);
GOCUDA_API cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
	return cudaLaunchKernel_ptsz((const void *)kernel, grid, block, args, shared, stream);
}

#if CUDART_VERSION >= 13000
GOCUDA_API cudaError_t __cudaGetProcAddress(const char *symbol, void **out, unsigned int version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status);
GOCUDA_API cudaError_t __cudaGetProcAddress(const char *symbol, void **out, unsigned int version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	return cudaGetDriverEntryPointByVersion(symbol, out, version, flags, status);
}
#endif
