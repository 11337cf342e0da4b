// Inclusive sums with warp shuffles, in one pass over the blocks by a chain of flags.
#include "check.h"

__device__ volatile int ready[64];
__device__ volatile double carry[64];

__global__ void scan(const double *in, double *out, int n) {
	__shared__ double warps[8];
	__shared__ double before;
	int t = threadIdx.x, lane = t % 32, w = t / 32, i = blockIdx.x * blockDim.x + t;
	double v = i < n ? in[i] : 0;
	for (int d = 1; d < 32; d *= 2) {
		double u = __shfl_up_sync(~0u, v, d);
		if (lane >= d) v += u;
	}
	if (lane == 31) warps[w] = v;
	__syncthreads();
	for (int k = 0; k < w; k++) v += warps[k];
	if (t == blockDim.x - 1) {
		double c = 0;
		if (blockIdx.x) {
			while (!ready[blockIdx.x - 1]) {}
			__threadfence();
			c = carry[blockIdx.x - 1];
		}
		carry[blockIdx.x] = c + v;
		__threadfence();
		ready[blockIdx.x] = 1;
		before = c;
	}
	__syncthreads();
	if (i < n) out[i] = v + before;
}

int main() {
	const int n = 2500;
	std::vector<double> h(n), got(n);
	for (int i = 0; i < n; i++) h[i] = (i * 13 % 41 - 20) * 0.25;
	double *in, *out, sum = 0;
	CHECK(cudaMalloc(&in, n * 8));
	CHECK(cudaMalloc(&out, n * 8));
	CHECK(cudaMemcpy(in, h.data(), n * 8, cudaMemcpyHostToDevice));
	scan<<<(n + 255) / 256, 256>>>(in, out, n);
	CHECK(cudaMemcpy(got.data(), out, n * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= got[i] == (sum += h[i]);
	return verdict(ok);
}
