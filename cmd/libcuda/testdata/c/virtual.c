/* Virtual memory management: addresses, memory, access rights, one memory at two addresses. */
#include "check.h"

int main(void)
{
	open_context();
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};
	CUmemGenericAllocationHandle h, again;
	CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr p = 0, q = 0;
	size_t g = 0;
	unsigned long long flags = 99;
	unsigned int out = 0;
	OK(cuMemGetAllocationGranularity(&g, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	TRUE(g >= 4096 && (g & (g - 1)) == 0);
	WANT(cuMemCreate(&h, g + 1, &prop, 0), CUDA_ERROR_INVALID_VALUE);
	MUST(cuMemCreate(&h, 2 * g, &prop, 0));
	WANT(cuMemAddressReserve(&p, g + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	MUST(cuMemAddressReserve(&p, 4 * g, 0, 0, 0));
	MUST(cuMemAddressReserve(&q, 2 * g, 0, 0, 0));
	EQ(p % g, 0);
	MUST(cuMemMap(p + g, 2 * g, 0, h, 0));
	MUST(cuMemMap(q, 2 * g, 0, h, 0));
	OK(cuMemSetAccess(p + g, 2 * g, &access, 1));
	OK(cuMemSetAccess(q, 2 * g, &access, 1));
	OK(cuMemGetAccess(&flags, &access.location, p + g));
	EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	/* What is written at one address is read at the other. */
	OK(cuMemsetD32_v2(p + g, 0x12345678, g / 2));
	CUfunction poke = function(open_module(), "poke");
	CUdeviceptr at = p + 2 * g;
	unsigned int v = 77;
	void *args[] = {&at, &v};
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&out, q + g, 4));
	EQ(out, 77);
	OK(cuMemcpyDtoH_v2(&out, q + 2 * g - 4, 4));
	EQ(out, 0x12345678);
	OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(q + 8)));
	EQ(again, h);
	CUmemAllocationProp back = {0};
	OK(cuMemGetAllocationPropertiesFromHandle(&back, h));
	EQ(back.location.type, CU_MEM_LOCATION_TYPE_DEVICE);
	OK(cuMemRelease(again));
	OK(cuMemRelease(h));
	OK(cuMemUnmap(p + g, 2 * g));
	OK(cuMemAddressFree(p, 4 * g));
	OK(cuMemcpyDtoH_v2(&out, q + g, 4)); /* the other address holds it */
	EQ(out, 77);
	OK(cuMemUnmap(q, 2 * g));
	OK(cuMemAddressFree(q, 2 * g));
	return done("virtual");
}
