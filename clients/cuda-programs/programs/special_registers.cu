// Special registers through inline PTX, against what CUDA C++ says.
#include "check.h"

__device__ unsigned laneid() { unsigned v; asm("mov.u32 %0, %%laneid;" : "=r"(v)); return v; }
__device__ unsigned warpid() { unsigned v; asm volatile("mov.u32 %0, %%warpid;" : "=r"(v)); return v; }
__device__ unsigned smid() { unsigned v; asm volatile("mov.u32 %0, %%smid;" : "=r"(v)); return v; }
__device__ unsigned nsmid() { unsigned v; asm volatile("mov.u32 %0, %%nsmid;" : "=r"(v)); return v; }
__device__ unsigned lt() { unsigned v; asm("mov.u32 %0, %%lanemask_lt;" : "=r"(v)); return v; }
__device__ unsigned ge() { unsigned v; asm("mov.u32 %0, %%lanemask_ge;" : "=r"(v)); return v; }
__device__ unsigned ntid() { unsigned x, y; asm("mov.u32 %0, %%ntid.x; mov.u32 %1, %%ctaid.y;" : "=r"(x), "=r"(y)); return x * 100 + y; }
__device__ unsigned dynamic() { unsigned v; asm("mov.u32 %0, %%dynamic_smem_size;" : "=r"(v)); return v; }

__global__ void run(unsigned *out, int sms) {
	unsigned t = threadIdx.x + threadIdx.y * blockDim.x, g = (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + t;
	unsigned bad = 0;
	bad |= laneid() != t % 32;
	bad |= (smid() >= nsmid() || nsmid() < (unsigned)sms) << 1;
	bad |= (lt() != (1u << t % 32) - 1 || ge() != ~lt()) << 2;
	bad |= (ntid() != blockDim.x * 100 + blockIdx.y) << 3;
	bad |= (dynamic() != 640) << 4;
	bad |= (warpid() >= 64) << 5;
	bad |= (warpSize != 32) << 6;
	out[g] = bad << 16 | (g + 1);
}

int main() {
	int sms;
	CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	const int n = 3 * 2 * 16 * 6;
	unsigned *d, h[n];
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMemset(d, 0, sizeof h));
	run<<<dim3(3, 2), dim3(16, 6), 640>>>(d, sms);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (unsigned i = 0; i < n; i++)
		if (h[i] != i + 1) {
			printf("thread %u: %x\n", i, h[i]);
			ok = false;
		}
	return verdict(ok);
}
