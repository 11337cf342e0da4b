/* Green contexts: a part of the device's multiprocessors with streams of its own. */
#include "check.h"

int main(void)
{
	open_context();
	CUdevResource all, part[1], rest, back;
	CUdevResourceDesc desc;
	CUgreenCtx g;
	CUcontext c;
	CUstream s;
	CUdeviceptr p;
	unsigned int groups = 1, out = 0, v = 9;
	int sms = 0;
	OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	MUST(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
	EQ(all.sm.smCount, sms);
	MUST(cuDevSmResourceSplitByCount(part, &groups, &all, &rest, 0, 8));
	EQ(groups, 1);
	TRUE(part[0].sm.smCount >= 8);
	EQ(part[0].sm.smCount + rest.sm.smCount, sms);
	MUST(cuDevResourceGenerateDesc(&desc, part, 1));
	WANT(cuGreenCtxCreate(&g, desc, 0, 0), CUDA_ERROR_INVALID_VALUE);
	MUST(cuGreenCtxCreate(&g, desc, 0, CU_GREEN_CTX_DEFAULT_STREAM));
	OK(cuGreenCtxGetDevResource(g, &back, CU_DEV_RESOURCE_TYPE_SM));
	EQ(back.sm.smCount, part[0].sm.smCount);
	MUST(cuGreenCtxStreamCreate(&s, g, CU_STREAM_NON_BLOCKING, 0));
	MUST(cuCtxFromGreenCtx(&c, g));
	MUST(cuCtxPushCurrent_v2(c));
	CUfunction poke = function(open_module(), "poke");
	MUST(cuMemAlloc_v2(&p, 4));
	void *args[] = {&p, &v};
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	EQ(out, 9);
	OK(cuStreamDestroy_v2(s));
	OK(cuCtxPopCurrent_v2(&c));
	OK(cuGreenCtxDestroy(g));
	return done("green");
}
