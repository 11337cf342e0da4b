// The runtime and the driver API share contexts, memory, streams and functions.
#include "check.h"
#include <cuda.h>

#define DRIVER(call) do { if ((call) != CUDA_SUCCESS) { printf("line %d: %s\nFAILED\n", __LINE__, #call); exit(1); } } while (0)

__global__ void scale(float *p, float by) { p[threadIdx.x] *= by; }

const char *ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry add(.param .u64 at, .param .f32 v) {
	.reg .b64 %rd<4>; .reg .b32 %r<2>; .reg .f32 %f<4>;
	ld.param.u64 %rd0, [at];
	ld.param.f32 %f0, [v];
	cvta.to.global.u64 %rd0, %rd0;
	mov.u32 %r0, %tid.x;
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	ld.global.f32 %f1, [%rd2];
	add.f32 %f2, %f1, %f0;
	st.global.f32 [%rd2], %f2;
	ret;
})";

int main() {
	float *p, h[32];
	CHECK(cudaMalloc(&p, sizeof h)); // makes the primary context current
	CUcontext current, primary;
	CUdevice device;
	DRIVER(cuCtxGetCurrent(&current));
	DRIVER(cuCtxGetDevice(&device));
	DRIVER(cuDevicePrimaryCtxRetain(&primary, device));
	bool ok = current == primary && current != nullptr;
	for (int i = 0; i < 32; i++) h[i] = i;
	DRIVER(cuMemcpyHtoD((CUdeviceptr)p, h, sizeof h));
	cudaStream_t s;
	CHECK(cudaStreamCreate(&s));
	scale<<<1, 32, 0, s>>>(p, 3);
	CUmodule module;
	CUfunction add, f;
	DRIVER(cuModuleLoadData(&module, ptx));
	DRIVER(cuModuleGetFunction(&add, module, "add"));
	float v = 0.5f;
	void *args[] = {&p, &v};
	DRIVER(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, (CUstream)s, args, nullptr));
	CHECK(cudaGetFuncBySymbol((cudaFunction_t *)&f, (const void *)scale)); // and the runtime's kernel by the driver
	v = -2;
	DRIVER(cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, (CUstream)s, args, nullptr));
	CHECK(cudaStreamSynchronize(s));
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++) ok &= h[i] == (3 * i + 0.5f) * -2;
	CUdeviceptr q;
	DRIVER(cuMemAlloc(&q, 4));
	CHECK(cudaMemset((void *)q, 0x11, 4));
	unsigned u = 0;
	CHECK(cudaMemcpy(&u, (void *)q, 4, cudaMemcpyDeviceToHost));
	CHECK(cudaFree((void *)q));
	ok &= u == 0x11111111;
	DRIVER(cuModuleUnload(module));
	DRIVER(cuDevicePrimaryCtxRelease(device));
	return verdict(ok);
}
