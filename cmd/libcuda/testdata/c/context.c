/* Contexts: each OS thread has a stack of its own. */
#include "check.h"
#include <pthread.h>

static CUcontext a, b;

static void *other_thread(void *unused)
{
	CUcontext c = a;
	OK(cuCtxGetCurrent(&c));
	EQ(c, 0);
	WANT(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxSetCurrent(a));
	OK(cuCtxGetCurrent(&c));
	EQ(c, a);
	OK(cuCtxSynchronize());
	return unused;
}

static void *destroyer(void *unused)
{
	OK(cuCtxDestroy_v2(b));
	return unused;
}

static void *stale(void *unused)
{
	/* A thread that may get the number of one that ended starts with nothing. */
	CUcontext c = a;
	OK(cuCtxGetCurrent(&c));
	EQ(c, 0);
	WANT(cuCtxPopCurrent_v2(&c), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxPushCurrent_v2(a));
	return unused;
}

static void run(void *(*f)(void *))
{
	pthread_t t;
	pthread_create(&t, NULL, f, NULL);
	pthread_join(t, NULL);
}

int main(void)
{
	CUcontext c = NULL;
	CUdevice d = -1;
	WANT(cuCtxGetCurrent(&c), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuInit(0));
	WANT(cuCtxGetCurrent(NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxGetCurrent(&c));
	EQ(c, 0);
	WANT(cuCtxGetDevice(&d), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxCreate_v2(&a, 0, 0));
	OK(cuCtxGetCurrent(&c));
	EQ(c, a);
	OK(cuCtxCreate_v4(&b, NULL, 0, 0));
	OK(cuCtxGetCurrent(&c));
	EQ(c, b);
	OK(cuCtxGetDevice(&d));
	EQ(d, 0);
	unsigned long long ia, ib;
	OK(cuCtxGetId(a, &ia));
	OK(cuCtxGetId(b, &ib));
	TRUE(ia != ib);
	OK(cuCtxPopCurrent_v2(&c));
	EQ(c, b);
	OK(cuCtxGetCurrent(&c));
	EQ(c, a);
	OK(cuCtxPushCurrent_v2(b));
	OK(cuCtxPushCurrent_v2(b));
	OK(cuCtxPopCurrent_v2(NULL));
	OK(cuCtxGetCurrent(&c));
	EQ(c, b);
	run(other_thread);
	OK(cuCtxGetCurrent(&c));
	EQ(c, b);
	/* A context destroyed elsewhere stays current here and answers that it is gone. */
	run(destroyer);
	OK(cuCtxGetCurrent(&c));
	EQ(c, b);
	WANT(cuCtxSynchronize(), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuCtxSetCurrent(NULL));
	OK(cuCtxGetCurrent(&c));
	EQ(c, a);
	for (int i = 0; i < 40; i++)
		run(stale);
	/* The primary context is one and counted. */
	CUcontext p, q;
	unsigned int flags;
	int active = -1;
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQ(active, 0);
	OK(cuDevicePrimaryCtxRetain(&p, 0));
	OK(cuDevicePrimaryCtxRetain(&q, 0));
	EQ(p, q);
	OK(cuCtxSetCurrent(p));
	size_t size = 0;
	OK(cuCtxGetLimit(&size, CU_LIMIT_PRINTF_FIFO_SIZE));
	TRUE(size > 0);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EQ(active, 0);
	OK(cuCtxSetCurrent(a));
	OK(cuCtxDestroy_v2(a));
	OK(cuCtxGetCurrent(&c));
	TRUE(c != a);
	WANT(cuCtxDestroy_v2(NULL), CUDA_ERROR_INVALID_VALUE);
	return done("context");
}
