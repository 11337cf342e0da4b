/* Calls that are made again and again where nothing has happened since: their answer has to change as soon as something has, whoever did it. */
#include "check.h"
#include <pthread.h>
#include <stdatomic.h>

enum { AGAIN = 5 }; /* often enough for an answer to be remembered */

static CUcontext ctx;
static CUfunction nop, three, poke, spin;
static CUstream s, other;
static CUevent event;
static volatile unsigned int *flag; /* what spin waits for */
static CUdeviceptr flag_address;

/* Whether the library is the software device's, which answers to handles that were destroyed and to pointers that are NULL where NVIDIA's driver may crash. */
static int software(void) { return getenv("GOCUDA_TEST_SOFTWARE") != NULL; }

static CUresult launch(CUfunction f, CUstream on) { return cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, on, NULL, NULL); }

static void start_spin(CUstream on)
{
	void *args[] = {&flag_address};
	*flag = 0;
	OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, on, args, NULL));
}

/* Everything that may be remembered is. */
static void settle(void)
{
	for (int i = 0; i < AGAIN; i++) {
		OK(launch(nop, s));
		OK(cuStreamSynchronize(s));
		OK(cuStreamQuery(s));
		OK(cuEventQuery(event));
		OK(cuCtxSynchronize());
	}
}

static void *release(void *unused)
{
	(void)unused;
	for (volatile int i = 0; i < 3000000; i++)
		;
	*flag = 1;
	return NULL;
}

static void queued_work(void)
{
	pthread_t t;
	settle();
	start_spin(s);
	OK(cuEventRecord(event, s));
	WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	WANT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	WANT(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	OK(launch(nop, s));
	WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	pthread_create(&t, NULL, release, NULL);
	OK(cuStreamSynchronize(s));
	EQ(*flag, 1);
	OK(cuEventQuery(event));
	pthread_join(t, NULL);

	settle();
	*flag = 0;
	OK(cuStreamWaitValue32_v2(s, flag_address, 1, CU_STREAM_WAIT_VALUE_GEQ));
	for (int i = 0; i < AGAIN; i++) { /* the same launch, but it has something to wait for */
		OK(launch(nop, s));
		WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	}
	pthread_create(&t, NULL, release, NULL);
	OK(cuStreamSynchronize(s));
	EQ(*flag, 1);
	pthread_join(t, NULL);

	settle();
	start_spin(other); /* the context waits for every stream, this one only for its own */
	OK(cuStreamSynchronize(s));
	OK(cuStreamQuery(s));
	EQ(*flag, 0);
	pthread_create(&t, NULL, release, NULL);
	OK(cuCtxSynchronize());
	EQ(*flag, 1);
	pthread_join(t, NULL);
}

/* Each launch does its work, whatever has been answered before. */
static void kernels_with_work(void)
{
	CUdeviceptr p;
	unsigned int v, got = 0;
	void *args[] = {&p, &v};
	MUST(cuMemAlloc_v2(&p, 4));
	settle();
	for (v = 1; v < 100; v++) {
		OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
		OK(cuStreamSynchronize(s));
		OK(cuMemcpyDtoH_v2(&got, p, 4));
		EQ(got, v);
	}
	OK(cuMemFree_v2(p));
}

static void parameters(void)
{
	unsigned long long p = 0;
	unsigned int v = 0, n = 0;
	void *args[] = {&p, &v, &n}, *third = args[2];
	for (int i = 0; i < AGAIN; i++) {
		OK(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
		OK(cuStreamSynchronize(s));
	}
	if (software()) {
		args[2] = NULL;
		WANT(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, args, NULL), CUDA_ERROR_INVALID_VALUE);
	}
	args[2] = third;
	WANT(cuLaunchKernel(three, 1, 1, 1, 2048, 1, 1, 0, s, args, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
	char bytes[16];
	size_t size = sizeof bytes;
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, bytes, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
	WANT(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, args, extra), CUDA_ERROR_INVALID_VALUE);
	WANT(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuLaunchKernel(three, 1, 1, 1, 32, 1, 1, 0, s, args, NULL));
}

static void captures(void)
{
	CUgraph g;
	size_t n = 0;
	settle();
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	for (int i = 0; i < AGAIN; i++)
		OK(launch(nop, s));
	OK(cuStreamEndCapture(s, &g));
	OK(cuGraphGetNodes(g, NULL, &n));
	EQ(n, AGAIN);
	OK(cuGraphDestroy(g));
	settle();
	OK(cuStreamBeginCapture_v2(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	WANT(cuStreamSynchronize(s), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	WANT(cuStreamEndCapture(s, &g), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	settle();
}

static void current_context(void)
{
	CUcontext c;
	settle();
	OK(cuCtxPopCurrent_v2(&c));
	EQ(c, ctx);
	WANT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPushCurrent_v2(c));
	settle();
}

static CUresult in_callback[2];

static void host_function(void *unused)
{
	(void)unused;
	if (software()) { /* NVIDIA's driver waits for the stream, for ever */
		in_callback[0] = launch(nop, s);
		in_callback[1] = cuStreamSynchronize(s);
	}
}

static void callbacks(void)
{
	for (int i = 0; i < AGAIN; i++) {
		settle();
		OK(cuLaunchHostFunc(s, host_function, NULL));
		OK(cuStreamSynchronize(s));
		if (software()) {
			EQ(in_callback[0], CUDA_ERROR_NOT_PERMITTED);
			EQ(in_callback[1], CUDA_ERROR_NOT_PERMITTED);
		}
	}
}

static void destroyed(void)
{
	CUmodule m = open_module();
	CUfunction f = function(m, "nop");
	CUstream gone;
	MUST(cuStreamCreate(&gone, 0));
	for (int i = 0; i < AGAIN; i++) {
		OK(launch(f, gone));
		OK(cuStreamSynchronize(gone));
	}
	OK(cuModuleUnload(m));
	OK(cuStreamDestroy_v2(gone));
	if (software()) {
		WANT(launch(f, s), CUDA_ERROR_INVALID_HANDLE);
		WANT(cuStreamSynchronize(gone), CUDA_ERROR_INVALID_HANDLE);
	}
}

/* One thread adds work and says so, another waits for the context and looks whether the work is done. */
enum { ROUNDS = 20000 };
static volatile unsigned int *word;
static CUdeviceptr word_address;
static atomic_uint said, seen;

static void *waits(void *unused)
{
	(void)unused;
	OK(cuCtxPushCurrent_v2(ctx));
	for (unsigned int n = 0; n < ROUNDS && !failures;) {
		n = atomic_load(&said);
		OK(cuCtxSynchronize());
		if (*word < n)
			EQ(*word, n);
		OK(cuCtxSynchronize());
		OK(cuCtxSynchronize());
		atomic_store(&seen, n);
	}
	CUcontext c;
	OK(cuCtxPopCurrent_v2(&c));
	return NULL;
}

static void two_threads(void)
{
	pthread_t t;
	unsigned int v;
	void *args[] = {&word_address, &v};
	pthread_create(&t, NULL, waits, NULL);
	for (v = 1; v <= ROUNDS && !failures; v++) {
		OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, other, args, NULL));
		atomic_store(&said, v);
		if (v % 4 == 0) /* lets the other come to rest */
			while (atomic_load(&seen) < v && !failures)
				;
	}
	pthread_join(t, NULL);
}

static void faults(void)
{
	unsigned long long nowhere = 16;
	unsigned int v = 1;
	void *args[] = {&nowhere, &v};
	settle();
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	for (int i = 0; i < AGAIN; i++)
		WANT(cuStreamSynchronize(s), CUDA_ERROR_ILLEGAL_ADDRESS);
	WANT(launch(nop, s), CUDA_ERROR_ILLEGAL_ADDRESS);
	WANT(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
	WANT(cuEventQuery(event), CUDA_ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
	ctx = open_context();
	CUmodule m = open_module();
	nop = function(m, "nop"), three = function(m, "three"), poke = function(m, "poke"), spin = function(m, "wait");
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	void *host;
	MUST(cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP));
	flag = host, word = flag + 8;
	MUST(cuMemHostGetDevicePointer_v2(&flag_address, host, 0));
	word_address = flag_address + 32;
	*word = 0;
	queued_work();
	kernels_with_work();
	parameters();
	captures();
	current_context();
	callbacks();
	destroyed();
	two_threads();
	faults();
	return done("standing");
}
