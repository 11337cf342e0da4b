/* Many threads, each with its own stream and context stack, coming and going. */
#include "check.h"
#include <pthread.h>

static CUcontext ctx;
static CUfunction ramp;

static void *work(void *arg)
{
	unsigned int out[256], v = (unsigned int)(uintptr_t)arg, n = 256;
	CUstream s;
	CUdeviceptr p;
	OK(cuCtxPushCurrent_v2(ctx));
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&p, sizeof out));
	for (int i = 0; i < 20; i++, v += 1000) {
		void *args[] = {&p, &v, &n};
		OK(cuLaunchKernel(ramp, 1, 1, 1, 256, 1, 1, 0, s, args, NULL));
		OK(cuMemcpyDtoHAsync_v2(out, p, sizeof out, s));
		OK(cuStreamSynchronize(s));
		EQ(out[255], v + 255);
	}
	OK(cuMemFree_v2(p));
	OK(cuStreamDestroy_v2(s));
	CUcontext c;
	OK(cuCtxPopCurrent_v2(&c));
	EQ(c, ctx);
	return NULL;
}

int main(void)
{
	ctx = open_context();
	ramp = function(open_module(), "ramp");
	for (int round = 0; round < 10; round++) {
		pthread_t t[16];
		for (int i = 0; i < 16; i++)
			pthread_create(&t[i], NULL, work, (void *)(uintptr_t)(100 * i));
		for (int i = 0; i < 16; i++)
			pthread_join(t[i], NULL);
	}
	return done("threads");
}
