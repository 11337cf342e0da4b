// Clocks run forward, within a thread and across __nanosleep; the global timer too.
#include "check.h"

__global__ void run(long long *out) {
	long long a = clock64();
	clock_t c = clock();
	unsigned long long g0, g1;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g0));
	unsigned v = threadIdx.x;
	for (int i = 0; i < 200; i++) v = v * 1664525u + 1013904223u;
	__nanosleep(100);
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(g1));
	clock_t d = clock();
	long long b = clock64();
	long long *o = out + threadIdx.x * 4;
	o[0] = b > a;
	o[1] = d != c;
	o[2] = g1 >= g0;
	o[3] = v;
}

int main() {
	long long *d, h[64][4];
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMemset(d, 0, sizeof h));
	run<<<1, 64>>>(d);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (unsigned t = 0; t < 64; t++) {
		unsigned v = t;
		for (int i = 0; i < 200; i++) v = v * 1664525u + 1013904223u;
		ok &= h[t][0] == 1 && h[t][1] == 1 && h[t][2] == 1 && h[t][3] == v;
	}
	return verdict(ok);
}
