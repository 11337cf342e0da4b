/* Streams and events; the per-thread default stream. */
#include "check.h"
#include <pthread.h>

static CUcontext ctx;
static CUdeviceptr flag;
static CUfunction spin;

static void *per_thread(void *unused)
{
	OK(cuCtxSetCurrent(ctx));
	/* This thread's default stream is free while another thread's is held. */
	unsigned int v = 0;
	OK(cuStreamQuery(CU_STREAM_PER_THREAD));
	OK(cuStreamQuery_ptsz(NULL));
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, 4));
	OK(cuMemsetD32_v2_ptds(p, 6, 1));
	OK(cuMemcpyDtoH_v2_ptds(&v, p, 4));
	EQ(v, 6);
	return unused;
}

int main(void)
{
	ctx = open_context();
	CUmodule m = open_module();
	spin = function(m, "wait");
	CUstream a, b;
	CUevent e, f;
	unsigned int zero = 0, one = 1, *go;
	MUST(cuMemHostAlloc((void **)&go, 4, CU_MEMHOSTALLOC_DEVICEMAP));
	MUST(cuMemHostGetDevicePointer_v2(&flag, go, 0));
	*go = zero;
	OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreateWithPriority(&b, CU_STREAM_NON_BLOCKING, -1));
	unsigned int fl = 9;
	int pr = 9;
	OK(cuStreamGetFlags(a, &fl));
	EQ(fl, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetPriority(b, &pr));
	EQ(pr, -1);
	CUcontext c = NULL;
	OK(cuStreamGetCtx(a, &c));
	EQ(c, ctx);
	OK(cuEventCreate(&e, 0));
	OK(cuEventCreate(&f, 0));
	OK(cuEventQuery(e)); /* never recorded */
	void *args[] = {&flag};
	OK(cuEventRecord(e, a));
	OK(cuLaunchKernel(spin, 1, 1, 1, 1, 1, 1, 0, a, args, NULL));
	OK(cuEventRecord(f, a));
	WANT(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
	WANT(cuEventQuery(f), CUDA_ERROR_NOT_READY);
	OK(cuStreamWaitEvent(b, f, 0));
	WANT(cuStreamQuery(b), CUDA_ERROR_NOT_READY);
	*(volatile unsigned int *)go = one;
	OK(cuStreamSynchronize(b));
	OK(cuStreamQuery(a));
	float ms = -1;
	OK(cuEventSynchronize(f));
	OK(cuEventElapsedTime_v2(&ms, e, f));
	TRUE(ms >= 0 && ms < 60000);

	*go = zero;
	OK(cuLaunchKernel_ptsz(spin, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	WANT(cuStreamQuery(CU_STREAM_PER_THREAD), CUDA_ERROR_NOT_READY);
	pthread_t t;
	pthread_create(&t, NULL, per_thread, NULL);
	pthread_join(t, NULL);
	*(volatile unsigned int *)go = one;
	OK(cuStreamSynchronize_ptsz(NULL));
	OK(cuStreamSynchronize(NULL));

	/* A stream waits for a value in memory and writes one. */
	*go = zero;
	OK(cuStreamWaitValue32_v2(a, flag, 3, CU_STREAM_WAIT_VALUE_GEQ));
	WANT(cuStreamQuery(a), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32_v2(b, flag, 4, 0));
	OK(cuStreamSynchronize(a));
	EQ(*(volatile unsigned int *)go, 4);
	OK(cuEventDestroy_v2(e));
	OK(cuEventDestroy_v2(f));
	OK(cuStreamDestroy_v2(a));
	OK(cuStreamDestroy_v2(b));
	return done("stream");
}
