/* Initialisation, version, devices. */
#include "check.h"

int main(void)
{
	int v = -1, n = -1, x = -1;
	CUdevice d = -1;
	OK(cuDriverGetVersion(&v));
	EQ(v, 13000);
	WANT(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
	WANT(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	WANT(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	WANT(cuDeviceGetCount(&n), CUDA_ERROR_NOT_INITIALIZED);
	OK(cuInit(0));
	OK(cuInit(0));
	OK(cuDeviceGetCount(&n));
	TRUE(n >= 1);
	OK(cuDeviceGet(&d, 0));
	EQ(d, 0);
	WANT(cuDeviceGet(&d, n), CUDA_ERROR_INVALID_DEVICE);
	WANT(cuDeviceGet(&d, -1), CUDA_ERROR_INVALID_DEVICE);
	char name[100];
	memset(name, 'x', sizeof name);
	OK(cuDeviceGetName(name, sizeof name, 0));
	TRUE(memchr(name, 0, sizeof name) && name[0]);
	size_t bytes = 0;
	OK(cuDeviceTotalMem_v2(&bytes, 0));
	TRUE(bytes > (size_t)1 << 30);
	int major = 0, minor = -1;
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0));
	int m2 = 0, n2 = 0;
	OK(cuDeviceComputeCapability(&m2, &n2, 0));
	EQ(m2, major);
	EQ(n2, minor);
	OK(cuDeviceGetAttribute(&x, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
	EQ(x, 32);
	WANT(cuDeviceGetAttribute(&x, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
	CUuuid u, w;
	OK(cuDeviceGetUuid(&u, 0));
	OK(cuDeviceGetUuid_v2(&w, 0));
	EQ(memcmp(&u, &w, sizeof u), 0);
	char bus[32];
	OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
	OK(cuDeviceGetByPCIBusId(&d, bus));
	EQ(d, 0);
	CUdevprop p;
	OK(cuDeviceGetProperties(&p, 0));
	EQ(p.SIMDWidth, 32);
	EQ(p.maxThreadsPerBlock, 1024);
	return done("device");
}
