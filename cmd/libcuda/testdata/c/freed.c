/* Work that is queued on memory which another context, another stream or the host frees before it runs: it has happened or it has faulted, as the table says, every later call says the same, and the process lives.
 * And host memory that is not there: SIGSEGV ends the process with the driver (recorded), as for every other pointer that a call reads or writes; the software device's copies answer. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SIZE (8u << 20)

enum how { FREE, DESTROY, FREE_ASYNC, FREE_HOST, FREE_MANAGED, UNMAP, HOWS };
static const char *const how_name[HOWS] = {"cuMemFree", "cuCtxDestroy", "cuMemFreeAsync", "cuMemFreeHost", "cuMemFree of managed memory", "munmap of registered memory"};
enum work { MEMSET, COPY_TO, COPY_FROM, COPY_2D, COPY_3D, WRITE, WAIT, KERNEL, GRAPH, WORKS };
static const char *const work_name[WORKS] = {"memset", "copy to it", "copy from it", "2D copy", "3D copy", "write of a value", "wait for a value", "kernel", "graph"};

/* What an H200 answered (driver 580.159.04): the result of the wait for the work, or REFUSED where the call that queues it gives CUDA_ERROR_INVALID_VALUE. The memory of a destroyed context stays for what
 * is queued, and so do pages of registered memory, which the driver pins. Its copy engine reads on from memory that has gone. */
#define REFUSED CUDA_ERROR_INVALID_VALUE
static const CUresult recorded[HOWS][WORKS] = {
	/* memset, copy to it, copy from it, 2D copy (from it), 3D copy (to it), write of a value, wait for a value, kernel, graph (a memset) */
	[FREE] = {700, 700, 0, 0, 700, 719, 719, 700, 0},
	[DESTROY] = {0},
	[FREE_ASYNC] = {700, 700, 700, 700, 700, REFUSED, REFUSED, 700, 700},
	[FREE_HOST] = {700, 719, 719, 719, 719, 719, 719, 700, 0},
	[FREE_MANAGED] = {700, 700, 0, 0, 700, REFUSED, REFUSED, 700, 700},
	[UNMAP] = {0},
};

/* The software device cannot pin pages of the program and does not read where nothing is: other work than that of destroyed contexts faults there, always with the error that its kind has otherwise. */
static CUresult expected(enum how how, enum work work)
{
	if (getenv("GOCUDA_TEST_SOFTWARE") == NULL || how == DESTROY || recorded[how][work] == REFUSED)
		return recorded[how][work];
	return work == WRITE || work == WAIT ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* queue queues work on p in a stream of the current context; q is memory that stays. */
static CUresult queue(enum work work, CUcontext ctx, CUstream s, CUdeviceptr p, CUdeviceptr q, CUfunction poke)
{
	CUDA_MEMCPY2D c2 = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = p, .srcPitch = 4096, .dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = q, .dstPitch = 2048,
		.WidthInBytes = 2000, .Height = 1000};
	CUDA_MEMCPY3D c3 = {.srcMemoryType = CU_MEMORYTYPE_UNIFIED, .srcDevice = q, .dstMemoryType = CU_MEMORYTYPE_UNIFIED, .dstDevice = p, .WidthInBytes = 64, .Height = 64, .Depth = 64};
	CUDA_MEMSET_NODE_PARAMS fill = {.dst = p, .elementSize = 1, .width = SIZE, .height = 1};
	unsigned int v = 1;
	void *args[] = {&p, &v};
	CUgraph g;
	CUgraphNode n;
	CUgraphExec x;
	switch (work) {
	case MEMSET:
		return cuMemsetD8Async(p, 1, SIZE, s);
	case COPY_TO:
		return cuMemcpyAsync(p, q, SIZE, s);
	case COPY_FROM:
		return cuMemcpyAsync(q, p, SIZE, s);
	case COPY_2D:
		return cuMemcpy2DAsync_v2(&c2, s);
	case COPY_3D:
		return cuMemcpy3DAsync_v2(&c3, s);
	case WRITE:
		return cuStreamWriteValue32_v2(s, p, 7, 0);
	case WAIT:
		return cuStreamWaitValue32_v2(s, p, 0, CU_STREAM_WAIT_VALUE_GEQ);
	case KERNEL:
		return cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
	default:
		MUST(cuGraphCreate(&g, 0));
		MUST(cuGraphAddMemsetNode(&n, g, NULL, 0, &fill, ctx));
		MUST(cuGraphInstantiateWithFlags(&x, g, 0));
		return cuGraphLaunch(x, s);
	}
}

static void *release(void *flag)
{
	usleep(300000);
	*(volatile unsigned int *)flag = 1;
	return NULL;
}

/* variant runs in a process of its own. The stream is held by a kernel that waits for a flag in pinned memory. */
static int variant(enum how how, enum work work)
{
	CUcontext a = open_context(), b;
	CUmodule m = open_module();
	CUfunction wait = function(m, "wait"), poke = function(m, "poke");
	CUdeviceptr p = 0, q;
	CUstream s, other;
	void *h = NULL;
	volatile unsigned int *flag;
	CUdeviceptr flag_at;
	MUST(cuMemHostAlloc((void **)&flag, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&flag_at, (void *)flag, 0));
	*flag = 0;
	MUST(cuMemAlloc_v2(&q, SIZE));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	MUST(cuCtxCreate_v2(&b, 0, 0));
	switch (how) {
	case FREE:
	case DESTROY:
		MUST(cuMemAlloc_v2(&p, SIZE));
		break;
	case FREE_MANAGED:
		MUST(cuMemAllocManaged(&p, SIZE, CU_MEM_ATTACH_GLOBAL));
		break;
	case FREE_HOST:
		MUST(cuMemHostAlloc(&h, SIZE, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
		p = (CUdeviceptr)(uintptr_t)h;
		break;
	case UNMAP:
		h = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		MUST(cuMemHostRegister_v2(h, SIZE, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
		p = (CUdeviceptr)(uintptr_t)h;
		break;
	default:
		MUST(cuCtxSetCurrent(a));
		MUST(cuMemAllocAsync(&p, SIZE, other));
		MUST(cuStreamSynchronize(other));
	}
	MUST(cuCtxSetCurrent(a));
	void *args[] = {&flag_at};
	MUST(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	CUresult queued = queue(work, a, s, p, q, poke), freed = CUDA_SUCCESS;
	MUST(cuCtxSetCurrent(b));
	pthread_t helper; /* what frees may wait for the stream */
	MUST(pthread_create(&helper, NULL, release, (void *)flag) ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS);
	switch (how) {
	case FREE:
	case FREE_MANAGED:
		freed = cuMemFree_v2(p);
		break;
	case DESTROY:
		freed = cuCtxDestroy_v2(b);
		break;
	case FREE_HOST:
		freed = cuMemFreeHost(h);
		break;
	case UNMAP:
		munmap(h, SIZE);
		break;
	default:
		cuCtxSetCurrent(a);
		freed = cuMemFreeAsync(p, other);
		cuStreamSynchronize(other);
	}
	MUST(cuCtxSetCurrent(a));
	*flag = 1;
	CUresult r = cuStreamSynchronize(s), again = cuCtxSynchronize();
	printf("%s under %s: queued %d, freed %d, wait %d, next call %d\n", how_name[how], work_name[work], queued, freed, r, again);
	fflush(stdout);
	CUresult want = expected(how, work);
	EQ(queued, want == REFUSED ? REFUSED : CUDA_SUCCESS);
	EQ(r, want == REFUSED ? CUDA_SUCCESS : want);
	EQ(again, r);
	return failures != 0;
}

/* check_variants runs them all, a few at a time: each takes as long as a device needs to start. */
static void check_variants(void)
{
	enum { AT_A_TIME = 8 };
	pid_t running[HOWS * WORKS] = {0};
	fflush(stdout);
	for (int started = 0, ended = 0; ended < HOWS * WORKS;) {
		if (started < HOWS * WORKS && started - ended < AT_A_TIME) {
			pid_t pid = fork();
			if (pid == 0) {
				alarm(60);
				_exit(variant(started / WORKS, started % WORKS));
			}
			running[started++] = pid;
			continue;
		}
		int status = -1;
		pid_t pid = wait(&status);
		ended++;
		for (int i = 0; i < started; i++)
			if (running[i] == pid && status != 0)
				printf("%s under %s: status %#x\n", how_name[i / WORKS], work_name[i % WORKS], status);
		EQ(status, 0);
	}
}

/* Calls with pointers to no memory, each in a process of its own: what they answer, or that SIGSEGV has ended them. */
static void *nowhere = (void *)0x8000;
static CUdeviceptr device;

static CUresult htod(void) { return cuMemcpyHtoD_v2(device, nowhere, 64); }
static CUresult dtoh(void) { return cuMemcpyDtoH_v2(nowhere, device, 64); }
static CUresult htod_large(void) { return cuMemcpyHtoD_v2(device, nowhere, SIZE); }
static CUresult dtoh_large(void) { return cuMemcpyDtoH_v2(nowhere, device, SIZE); }
static CUresult htod_async(void) { return cuMemcpyHtoDAsync_v2(device, nowhere, 64, NULL); }
static CUresult dtoh_async(void) { return cuMemcpyDtoHAsync_v2(nowhere, device, 64, NULL); }
static CUresult to_constant(void) { return cuMemcpyDtoH_v2((void *)(uintptr_t)how_name[0], device, 4); }
static CUresult out_alloc(void) { return cuMemAlloc_v2(nowhere, 64); }
static CUresult out_stream(void) { return cuStreamCreate(nowhere, 0); }
static CUresult in_2d(void) { return cuMemcpy2D_v2(nowhere); }
static CUresult in_name(void)
{
	CUfunction f;
	return cuModuleGetFunction(&f, open_module(), nowhere);
}

static void pointer(const char *what, CUresult (*call)(void), int copies)
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(60);
		open_context();
		MUST(cuMemAlloc_v2(&device, SIZE));
		CUresult r = call();
		CUresult next = cuCtxSynchronize();
		printf("%s: %d, and then %d\n", what, r, next);
		fflush(stdout);
		_exit(r == CUDA_ERROR_INVALID_VALUE && next == CUDA_SUCCESS ? 0 : 1);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("%s: signal %d\n", what, WTERMSIG(status));
	TRUE((copies && status == 0) || (WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	check_variants();
	pointer("cuMemcpyHtoD", htod, 1);
	pointer("cuMemcpyDtoH", dtoh, 1);
	pointer("cuMemcpyHtoD, large", htod_large, 1);
	pointer("cuMemcpyDtoH, large", dtoh_large, 1);
	pointer("cuMemcpyHtoDAsync", htod_async, 1);
	pointer("cuMemcpyDtoHAsync", dtoh_async, 1);
	pointer("cuMemcpyDtoH to a constant", to_constant, 1);
	pointer("cuMemAlloc", out_alloc, 0);
	pointer("cuStreamCreate", out_stream, 0);
	pointer("cuMemcpy2D", in_2d, 0);
	pointer("cuModuleGetFunction", in_name, 0);
	return done("freed");
}
