/* Stream-ordered allocation and pools; virtual memory management, whose structs by value and 64-bit handles go through C. */
#include "check.h"

int main(void)
{
	open_context();
	CUstream s;
	MUST(cuStreamCreate(&s, 0));
	CUmemoryPool def, own;
	MUST(cuDeviceGetDefaultMemPool(&def, 0));
	CUdeviceptr p, q;
	MUST(cuMemAllocAsync(&p, 1 << 20, s));
	OK(cuMemsetD8Async(p, 3, 1 << 20, s));
	unsigned char b = 0;
	OK(cuMemcpyDtoHAsync_v2(&b, p + (1 << 20) - 1, 1, s));
	OK(cuMemFreeAsync(p, s));
	OK(cuStreamSynchronize(s));
	EQ(b, 3);
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = CU_MEM_HANDLE_TYPE_NONE, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	MUST(cuMemPoolCreate(&own, &props));
	cuuint64_t keep = (cuuint64_t)-1, got = 0;
	OK(cuMemPoolSetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
	OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &got));
	EQ(got, keep);
	OK(cuMemAllocFromPoolAsync(&q, 1 << 16, own, s));
	OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &got));
	EQ(got, 1 << 16);
	OK(cuMemFreeAsync(q, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemPoolTrimTo(own, 0));
	OK(cuMemPoolGetAttribute(own, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &got));
	EQ(got, 0);
	OK(cuMemPoolDestroy(own));

	CUmemAllocationProp ap = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
	size_t grain = 0;
	MUST(cuMemGetAllocationGranularity(&grain, &ap, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	TRUE(grain >= 4096);
	CUmemGenericAllocationHandle h;
	MUST(cuMemCreate(&h, grain, &ap, 0));
	CUdeviceptr va;
	MUST(cuMemAddressReserve(&va, 4 * grain, 0, 0, 0));
	OK(cuMemMap(va, grain, 0, h, 0));
	OK(cuMemMap(va + 2 * grain, grain, 0, h, 0)); /* the same memory twice */
	CUmemAccessDesc acc = {.location = ap.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	OK(cuMemSetAccess(va, grain, &acc, 1));
	OK(cuMemSetAccess(va + 2 * grain, grain, &acc, 1));
	unsigned long long flags = 0;
	OK(cuMemGetAccess(&flags, &ap.location, va));
	EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	unsigned int v = 0xcafe, r = 0;
	OK(cuMemcpyHtoD_v2(va + 16, &v, 4));
	OK(cuMemcpyDtoH_v2(&r, va + 2 * grain + 16, 4));
	EQ(r, 0xcafe);
	OK(cuMemUnmap(va, grain));
	OK(cuMemUnmap(va + 2 * grain, grain));
	OK(cuMemRelease(h));
	OK(cuMemAddressFree(va, 4 * grain));

	/* CUmemLocation by value. */
	CUdeviceptr managed;
	MUST(cuMemAllocManaged(&managed, 1 << 16, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemAdvise_v2(managed, 1 << 16, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, ap.location));
	CUmemLocation host = {.type = CU_MEM_LOCATION_TYPE_HOST};
	OK(cuMemPrefetchAsync_v2(managed, 1 << 16, host, 0, s));
	int type = -1;
	OK(cuMemRangeGetAttribute(&type, 4, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE, managed, 1 << 16));
	EQ(type, CU_MEM_LOCATION_TYPE_DEVICE);
	OK(cuMemFree_v2(managed));
	return done("pool");
}
