/* Tensor maps (compute capability 9.0 and later). */
#include "check.h"

int main(void)
{
	open_context();
	int major = 0;
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	if (major < 9) {
		printf("the device has no tensor maps\n");
		return 77;
	}
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, 1 << 20));
	static CUtensorMap m, n;
	cuuint64_t dim[2] = {128, 64}, stride[1] = {512}, bad[1] = {520};
	cuuint32_t box[2] = {32, 8}, step[2] = {1, 1}, large[2] = {512, 8};
#define ENCODE(to, address, strides, box) cuTensorMapEncodeTiled(to, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, address, dim, strides, box, step, \
	CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
	OK(ENCODE(&m, (void *)(uintptr_t)p, stride, box));
	WANT(ENCODE(&n, (void *)(uintptr_t)p, bad, box), CUDA_ERROR_INVALID_VALUE);
	WANT(ENCODE(&n, (void *)(uintptr_t)p, stride, large), CUDA_ERROR_INVALID_VALUE);
	WANT(ENCODE(&n, (void *)(uintptr_t)(p + 8), stride, box), CUDA_ERROR_INVALID_VALUE);
	OK(ENCODE(&n, (void *)(uintptr_t)(p + 4096), stride, box));
	TRUE(memcmp(&m, &n, sizeof m) != 0);
	OK(cuTensorMapReplaceAddress(&m, (void *)(uintptr_t)(p + 4096)));
	EQ(memcmp(&m, &n, sizeof m), 0);
	return done("tensormap");
}
