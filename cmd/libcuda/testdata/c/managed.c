/* Managed memory: access from both sides, advice, prefetch, attributes of ranges. */
#include "check.h"

int main(void)
{
	open_context();
	CUdeviceptr p;
	enum { N = 1 << 18 };
	CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}, cpu = {.type = CU_MEM_LOCATION_TYPE_HOST};
	WANT(cuMemAllocManaged(&p, 16, 0), CUDA_ERROR_INVALID_VALUE);
	MUST(cuMemAllocManaged(&p, N * 4, CU_MEM_ATTACH_GLOBAL));
	volatile unsigned int *a = (volatile unsigned int *)(uintptr_t)p;
	for (int i = 0; i < N; i++)
		a[i] = i;
	unsigned int v = 3, n = 1000;
	int is = 0, where = 99;
	CUfunction ramp = function(open_module(), "ramp");
	void *args[] = {&p, &v, &n};
	OK(cuMemPrefetchAsync_v2(p, N * 4, device, 0, NULL));
	OK(cuLaunchKernel(ramp, 4, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
	OK(cuMemPrefetchAsync_v2(p, N * 4, cpu, 0, NULL));
	OK(cuCtxSynchronize());
	EQ(a[999], 1002);
	EQ(a[1000], 1000);
	OK(cuMemAdvise_v2(p, N * 4, CU_MEM_ADVISE_SET_READ_MOSTLY, device));
	OK(cuMemRangeGetAttribute(&is, sizeof is, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, N * 4));
	EQ(is, 1);
	OK(cuMemAdvise_v2(p, N * 4, CU_MEM_ADVISE_UNSET_READ_MOSTLY, device));
	OK(cuMemAdvise_v2(p, N * 4, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
	OK(cuMemRangeGetAttribute(&where, sizeof where, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, N * 4));
	EQ(where, 0);
	WANT(cuMemRangeGetAttribute(&where, 3, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, N * 4), CUDA_ERROR_INVALID_VALUE);
	CUstream s;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	OK(cuStreamAttachMemAsync(s, p, 0, CU_MEM_ATTACH_SINGLE));
	OK(cuStreamSynchronize(s));
	OK(cuMemFree_v2(p));
	return done("managed");
}
