// What CUDA 13 has no longer and programs still use: cudaThread functions, properties of devices, names of intrinsics.
#include "check.h"

__global__ void intrinsics(const int *a, const int *b, int *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	int x = a[i], y = b[i];
	out[i] = mulhi(x, y) ^ (int)mulhi((unsigned)x, y) ^ mul24(x, y) ^ (int)umul24(x, y);
	out[n + i] = (int)(mul64hi((long long)x << 32, (long long)y << 32) >> 32);
	float f = int_as_float(0x3f800000 | (x & 0x7fffff)); // in [1, 2)
	out[2 * n + i] = float_as_int(f) ^ (int)float_as_uint(uint_as_float(0x40000000u | (y & 0x7fffff)));
	float scaled = (f - 1.5f) * 1000;
	out[3 * n + i] = float2int(scaled) + 10 * float2int(scaled, cudaRoundMinInf) + 100 * float2int(scaled, cudaRoundPosInf);
	out[4 * n + i] = (int)(saturate(scaled) * 1024) + (int)uint2float(y & 0xffff) + (int)int2float(x & 0xff, cudaRoundZero);
}

int main() {
	bool ok = true;
	const int n = 64;
	int *a, *b, *out;
	CHECK(cudaMallocManaged(&a, n * sizeof(int)));
	CHECK(cudaMallocManaged(&b, n * sizeof(int)));
	CHECK(cudaMallocManaged(&out, 5 * n * sizeof(int)));
	unsigned state = 5;
	for (int i = 0; i < n; i++) {
		a[i] = (int)(lcg(state) << 16 | lcg(state));
		b[i] = (int)(lcg(state) << 16 | lcg(state));
	}
	intrinsics<<<1, n>>>(a, b, out, n);
	CHECK(cudaThreadSynchronize());
	for (int i = 0; i < n; i++) {
		long long x = a[i], y = b[i];
		unsigned long long ux = (unsigned)a[i], uy = (unsigned)b[i];
		int low = (int)((x << 40 >> 40) * (y << 40 >> 40)), ulow = (int)((ux & 0xffffff) * (uy & 0xffffff));
		EXPECT(out[i] == ((int)(x * y >> 32) ^ (int)(ux * uy >> 32) ^ low ^ ulow));
		EXPECT(out[n + i] == (int)(x * y >> 32));
		EXPECT(out[2 * n + i] == ((0x3f800000 | (a[i] & 0x7fffff)) ^ (0x40000000 | (b[i] & 0x7fffff))));
		float scaled = ((1 + (a[i] & 0x7fffff) * 0x1p-23f) - 1.5f) * 1000;
		EXPECT(out[3 * n + i] == (int)scaled + 10 * (int)std::floor(scaled) + 100 * (int)std::ceil(scaled));
		float clamped = std::fmin(1.0f, std::fmax(0.0f, scaled));
		EXPECT(out[4 * n + i] == (int)(clamped * 1024) + (b[i] & 0xffff) + (a[i] & 0xff));
	}

	cudaDeviceProp p;
	int device, value;
	CHECK(cudaGetDevice(&device));
	CHECK(cudaGetDeviceProperties(&p, device));
	EXPECT(p.warpSize == 32 && p.major >= 5);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrClockRate, device));
	EXPECT(p.clockRate == value && value > 0);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMemoryClockRate, device));
	EXPECT(p.memoryClockRate == value);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeMode, device));
	EXPECT(p.computeMode == value);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrKernelExecTimeout, device));
	EXPECT(p.kernelExecTimeoutEnabled == value);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrGpuOverlap, device));
	EXPECT(p.deviceOverlap == value);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxTexture1DLinearWidth, device));
	EXPECT(p.maxTexture1DLinear == value);
	CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrSingleToDoublePrecisionPerfRatio, device));
	EXPECT(p.singleToDoublePrecisionPerfRatio == value);
	EXPECT(cudaGetDeviceProperties(&p, 1000) == cudaErrorInvalidDevice);
	EXPECT(cudaGetLastError() == cudaErrorInvalidDevice);

	size_t limit = 0, same = 0;
	CHECK(cudaThreadGetLimit(&limit, cudaLimitStackSize));
	CHECK(cudaDeviceGetLimit(&same, cudaLimitStackSize));
	EXPECT(limit == same);
	CHECK(cudaThreadSetLimit(cudaLimitStackSize, limit));
	CHECK(cudaThreadExit());
	return verdict(ok);
}
