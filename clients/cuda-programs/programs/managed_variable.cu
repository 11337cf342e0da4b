// __managed__ variables, used by name on both sides.
#include "check.h"

__managed__ int counts[4];
__device__ __managed__ double scale = 2.5;
__managed__ struct { int n; float values[32]; } box;

__global__ void work() {
	int i = threadIdx.x;
	atomicAdd(&counts[i & 3], i);
	if (i < box.n) box.values[i] *= (float)scale;
	__syncthreads();
	if (i == 0) scale = -1;
}

int main() {
	box.n = 20;
	for (int i = 0; i < 32; i++) box.values[i] = i;
	work<<<1, 64>>>();
	CHECK(cudaDeviceSynchronize());
	bool ok = scale == -1;
	for (int r = 0; r < 4; r++) {
		int want = 0;
		for (int i = r; i < 64; i += 4) want += i;
		ok &= counts[r] == want;
	}
	for (int i = 0; i < 32; i++) ok &= box.values[i] == (i < 20 ? 2.5f * i : i);
	counts[0] = 1000;
	work<<<1, 4>>>();
	CHECK(cudaDeviceSynchronize());
	ok &= counts[0] == 1000 && counts[3] == 3 + 3 + 7 + 11 + 15 + 19 + 23 + 27 + 31 + 35 + 39 + 43 + 47 + 51 + 55 + 59 + 63;
	return verdict(ok);
}
