/* Memory: allocation, copies of every shape, fills, host memory, managed memory, attributes. */
#include "check.h"

int main(void)
{
	open_context();
	enum { N = 1000 };
	unsigned int in[N], out[N];
	CUdeviceptr p, q;
	for (int i = 0; i < N; i++)
		in[i] = i * 2654435761u;
	WANT(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
	WANT(cuMemAlloc_v2(&p, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
	MUST(cuMemAlloc_v2(&p, sizeof in));
	MUST(cuMemAlloc_v2(&q, sizeof in));
	EQ(p % 256, 0);
	OK(cuMemcpyHtoD_v2(p, in, sizeof in));
	OK(cuMemcpyDtoD_v2(q, p, sizeof in));
	memset(out, 0, sizeof out);
	OK(cuMemcpyDtoH_v2(out, q, sizeof out));
	EQ(memcmp(in, out, sizeof in), 0);
	memset(out, 0, sizeof out);
	OK(cuMemcpy((CUdeviceptr)(uintptr_t)out, q, sizeof out));
	EQ(memcmp(in, out, sizeof in), 0);
	OK(cuMemsetD8_v2(p, 0xab, 10));
	OK(cuMemsetD16_v2(p + 20, 0x1234, 5));
	OK(cuMemsetD32_v2(p + 40, 0xdeadbeef, 2));
	WANT(cuMemsetD32_v2(p + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(((unsigned char *)out)[9], 0xab);
	EQ(((unsigned char *)out)[10], ((unsigned char *)in)[10]);
	EQ(((unsigned short *)out)[14], 0x1234);
	EQ(out[11], 0xdeadbeef);
	EQ(out[12], in[12]);

	/* 2D: a 10 by 5 tile of words out of rows of 40 bytes. */
	size_t pitch = 0;
	CUdeviceptr t;
	OK(cuMemAllocPitch_v2(&t, &pitch, 40, 5, 4));
	TRUE(pitch >= 40);
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in, .srcPitch = 80, .srcXInBytes = 8, .srcY = 1, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
		.dstDevice = t, .dstPitch = pitch, .WidthInBytes = 40, .Height = 5};
	OK(cuMemcpy2D_v2(&c));
	OK(cuMemcpyDtoH_v2(out, t + 2 * pitch, 40));
	EQ(memcmp(out, (char *)in + 3 * 80 + 8, 40), 0);
	OK(cuMemsetD2D8_v2(t, pitch, 0x5a, 3, 5));
	OK(cuMemcpyDtoH_v2(out, t + 4 * pitch, 40));
	EQ(out[0] & 0xffffff, 0x5a5a5a);
	EQ(out[1], in[(5 * 80 + 8) / 4 + 1]);
	CUDA_MEMCPY3D c3 = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = in, .srcPitch = 16, .srcHeight = 4, .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = q,
		.dstPitch = 8, .dstHeight = 2, .WidthInBytes = 8, .Height = 2, .Depth = 3};
	OK(cuMemcpy3D_v2(&c3));
	OK(cuMemcpyDtoH_v2(out, q, 48));
	EQ(memcmp(&out[4], &in[16], 8), 0);
	EQ(memcmp(&out[10], &in[36], 8), 0);
	WANT(cuMemcpyHtoD_v2(p, in, sizeof in + 1000000), CUDA_ERROR_INVALID_VALUE);

	/* Host memory. */
	unsigned int *pinned = NULL, flags = 99;
	CUdeviceptr dp = 0;
	OK(cuMemHostAlloc((void **)&pinned, 4096, CU_MEMHOSTALLOC_DEVICEMAP));
	OK(cuMemHostGetDevicePointer_v2(&dp, pinned, 0));
	pinned[3] = 5;
	OK(cuMemsetD32_v2(dp, 77, 3));
	OK(cuCtxSynchronize());
	EQ(pinned[2], 77);
	EQ(pinned[3], 5);
	OK(cuMemFreeHost(pinned));
	char *own = aligned_alloc(4096, 8192);
	OK(cuMemHostRegister_v2(own, 8192, CU_MEMHOSTREGISTER_DEVICEMAP));
	WANT(cuMemHostRegister_v2(own, 8192, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostGetDevicePointer_v2(&dp, own, 0));
	OK(cuMemHostGetFlags(&flags, own));
	OK(cuMemsetD8_v2(dp + 100, 9, 1));
	OK(cuCtxSynchronize());
	EQ(own[100], 9);
	OK(cuMemHostUnregister(own));
	WANT(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	free(own);
	OK(cuMemAllocManaged(&dp, 4096, CU_MEM_ATTACH_GLOBAL));
	((volatile int *)(uintptr_t)dp)[7] = 42;
	OK(cuMemcpyDtoH_v2(out, dp, 64));
	EQ(out[7], 42);

	/* Attributes. */
	unsigned int type = 0, managed = 9;
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	EQ(type, CU_MEMORYTYPE_DEVICE);
	OK(cuPointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, dp));
	EQ(managed & 0xff, 1);
	CUdeviceptr base;
	size_t size;
	OK(cuMemGetAddressRange_v2(&base, &size, p + 100));
	EQ(base, p);
	EQ(size, sizeof in);
	size_t free_, total;
	OK(cuMemGetInfo_v2(&free_, &total));
	TRUE(free_ < total);
	OK(cuMemFree_v2(dp));
	OK(cuMemFree_v2(p));
	WANT(cuMemFree_v2(p), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(0));
	OK(cuMemFree_v2(q));
	OK(cuMemFree_v2(t));
	return done("memory");
}
