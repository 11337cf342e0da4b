// A matrix in half precision whose rows are scaled: packed on the device, multiplied with a vector.
#include "check.h"
#include <cuda_fp16.h>

struct Row { float scale; __half2 *data; };

__global__ void pack(const float *m, Row *rows, int n) {
	int r = blockIdx.x;
	__shared__ float most;
	if (threadIdx.x == 0) {
		most = 0;
		for (int i = 0; i < n; i++) most = fmaxf(most, fabsf(m[r * n + i]));
		rows[r].scale = most / 1024;
	}
	__syncthreads();
	for (int i = threadIdx.x; i < n / 2; i += blockDim.x) {
		float2 v = make_float2(m[r * n + 2 * i] / rows[r].scale, m[r * n + 2 * i + 1] / rows[r].scale);
		rows[r].data[i] = __float22half2_rn(v);
	}
}
__global__ void multiply(const Row *rows, const float *x, float *y, int n) {
	int r = blockIdx.x;
	float sum = 0;
	for (int i = threadIdx.x; i < n / 2; i += 32) {
		float2 v = __half22float2(rows[r].data[i]);
		sum = fmaf(v.x, x[2 * i], fmaf(v.y, x[2 * i + 1], sum));
	}
	for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
	if (threadIdx.x == 0) y[r] = sum * rows[r].scale;
}

int main() {
	const int n = 64;
	std::vector<float> m(n * n), x(n), y(n);
	for (int i = 0; i < n * n; i++) m[i] = sinf(i) * (1 << i / n % 12);
	for (int i = 0; i < n; i++) x[i] = cosf(i);
	float *dm, *dx, *dy;
	__half2 *data;
	Row *rows, h[n];
	CHECK(cudaMalloc(&dm, n * n * 4));
	CHECK(cudaMalloc(&dx, n * 4));
	CHECK(cudaMalloc(&dy, n * 4));
	CHECK(cudaMalloc(&data, n * n * 2));
	CHECK(cudaMalloc(&rows, sizeof h));
	for (int i = 0; i < n; i++) h[i] = {0, data + i * n / 2};
	CHECK(cudaMemcpy(rows, h, sizeof h, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dm, m.data(), n * n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dx, x.data(), n * 4, cudaMemcpyHostToDevice));
	pack<<<n, 32>>>(dm, rows, n);
	multiply<<<n, 32>>>(rows, dx, dy, n);
	CHECK(cudaMemcpy(y.data(), dy, n * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int r = 0; r < n; r++) {
		double want = 0, size = 0;
		for (int i = 0; i < n; i++) {
			want += (double)m[r * n + i] * x[i];
			size += fabs((double)m[r * n + i] * x[i]);
		}
		ok &= fabs(y[r] - want) <= size * 1e-3;
	}
	return verdict(ok);
}
