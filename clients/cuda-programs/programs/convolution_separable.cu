// A separable convolution: rows, then columns, with halos in shared memory.
#include "check.h"

const int R = 4, BX = 32, BY = 4;
__constant__ float weight[2 * R + 1];

__global__ void rows(const float *in, float *out, int w, int h) {
	__shared__ float s[BY][BX + 2 * R];
	int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
	for (int i = threadIdx.x; i < BX + 2 * R; i += BX) {
		int gx = (int)(blockIdx.x * BX) + i - R;
		s[threadIdx.y][i] = gx >= 0 && gx < w && y < h ? in[y * w + gx] : 0;
	}
	__syncthreads();
	if (x >= w || y >= h) return;
	float sum = 0;
#pragma unroll
	for (int k = -R; k <= R; k++) sum += weight[R + k] * s[threadIdx.y][threadIdx.x + R + k];
	out[y * w + x] = sum;
}
__global__ void columns(const float *in, float *out, int w, int h) {
	int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
	if (x >= w || y >= h) return;
	float sum = 0;
	for (int k = -R; k <= R; k++)
		if (y + k >= 0 && y + k < h) sum = fmaf(weight[R - k], in[(y + k) * w + x], sum);
	out[y * w + x] = sum;
}

int main() {
	const int w = 83, h = 41;
	float c[2 * R + 1] = {1, 2, -3, 4, 10, 5, 1, 0.5f, -1};
	std::vector<float> img(w * h), mid(w * h), want(w * h), got(w * h);
	for (int i = 0; i < w * h; i++) img[i] = i * i % 32;
	float *a, *b;
	CHECK(cudaMalloc(&a, w * h * 4));
	CHECK(cudaMalloc(&b, w * h * 4));
	CHECK(cudaMemcpy(a, img.data(), w * h * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpyToSymbol(weight, c, sizeof c));
	dim3 block(BX, BY), grid((w + BX - 1) / BX, (h + BY - 1) / BY);
	rows<<<grid, block>>>(a, b, w, h);
	columns<<<grid, block>>>(b, a, w, h);
	CHECK(cudaMemcpy(got.data(), a, w * h * 4, cudaMemcpyDeviceToHost));
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			for (int k = -R; k <= R; k++)
				if (x + k >= 0 && x + k < w) mid[y * w + x] += c[R + k] * img[y * w + x + k];
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++)
			for (int k = -R; k <= R; k++)
				if (y + k >= 0 && y + k < h) want[y * w + x] += c[R - k] * mid[(y + k) * w + x];
	return verdict(got == want); // all values are exact
}
