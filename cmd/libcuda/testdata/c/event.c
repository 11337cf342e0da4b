/* Events: states, order, time. */
#include "check.h"

int main(void)
{
	open_context();
	CUfunction wait = function(open_module(), "wait");
	CUstream s, t;
	CUevent a, b, c;
	float ms = -1;
	volatile unsigned int *flag;
	CUdeviceptr p;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&a, CU_EVENT_DEFAULT));
	OK(cuEventCreate(&b, CU_EVENT_BLOCKING_SYNC));
	OK(cuEventCreate(&c, CU_EVENT_DISABLE_TIMING));
	WANT(cuEventCreate(&c, 0x100), CUDA_ERROR_INVALID_VALUE);
	/* One that was never recorded is complete, and has no time. */
	OK(cuEventQuery(a));
	OK(cuEventSynchronize(a));
	WANT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_INVALID_HANDLE);
	MUST(cuMemHostAlloc((void **)&flag, 4, CU_MEMHOSTALLOC_DEVICEMAP));
	*flag = 0;
	MUST(cuMemHostGetDevicePointer_v2(&p, (void *)flag, 0));
	void *args[] = {&p};
	OK(cuEventRecord(a, s));
	OK(cuLaunchKernel(wait, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuEventRecordWithFlags(b, s, 0));
	OK(cuEventRecord(c, s));
	OK(cuStreamWaitEvent(t, c, 0));
	WANT(cuEventQuery(b), CUDA_ERROR_NOT_READY);
	WANT(cuEventElapsedTime(&ms, a, b), CUDA_ERROR_NOT_READY);
	WANT(cuStreamQuery(t), CUDA_ERROR_NOT_READY);
	*flag = 1;
	OK(cuEventSynchronize(b));
	OK(cuEventQuery(b));
	OK(cuEventElapsedTime(&ms, a, b));
	TRUE(ms > 0 && ms < 60000);
	WANT(cuEventElapsedTime(&ms, a, c), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamSynchronize(t));
	OK(cuEventDestroy_v2(a));
	OK(cuEventDestroy_v2(b));
	OK(cuEventDestroy_v2(c));
	return done("event");
}
