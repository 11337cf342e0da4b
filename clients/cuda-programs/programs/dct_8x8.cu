// The discrete cosine transform of 8 x 8 blocks, quantization, and back.
#include "check.h"

__constant__ float basis[8][8];

__global__ void dct(const float *in, float *out, int width, int inverse) {
	__shared__ float s[8][8], t[8][8];
	int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * width + blockIdx.x * 8 + x;
	s[y][x] = in[at];
	__syncthreads();
	float v = 0;
	for (int k = 0; k < 8; k++) v += s[y][k] * (inverse ? basis[k][x] : basis[x][k]);
	t[y][x] = v;
	__syncthreads();
	v = 0;
	for (int k = 0; k < 8; k++) v += t[k][x] * (inverse ? basis[k][y] : basis[y][k]);
	out[at] = v;
}
__global__ void quantize(float *data, int n, float q) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) data[i] = rintf(data[i] / q) * q;
}

int main() {
	const int w = 40, h = 24, n = w * h;
	float b[8][8];
	for (int k = 0; k < 8; k++)
		for (int i = 0; i < 8; i++) b[k][i] = (k ? 0.5f : sqrtf(0.125f)) * cosf((2 * i + 1) * k * (float)M_PI / 16);
	std::vector<float> img(n), f(n), back(n);
	for (int i = 0; i < n; i++) img[i] = 100 + 50 * sinf(i % w * 0.3f) + 20 * cosf(i / w * 0.5f);
	float *d, *e;
	CHECK(cudaMemcpyToSymbol(basis, b, sizeof b));
	CHECK(cudaMalloc(&d, n * 4));
	CHECK(cudaMalloc(&e, n * 4));
	CHECK(cudaMemcpy(d, img.data(), n * 4, cudaMemcpyHostToDevice));
	dim3 grid(w / 8, h / 8), block(8, 8);
	dct<<<grid, block>>>(d, e, w, 0);
	CHECK(cudaMemcpy(f.data(), e, n * 4, cudaMemcpyDeviceToHost));
	quantize<<<(n + 63) / 64, 64>>>(e, n, 0.25f);
	dct<<<grid, block>>>(e, d, w, 1);
	CHECK(cudaMemcpy(back.data(), d, n * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	double energy = 0, energy2 = 0, worst = 0;
	for (int by = 0; by < h; by += 8)
		for (int bx = 0; bx < w; bx += 8) {
			double sum = 0;
			for (int i = 0; i < 64; i++) sum += img[(by + i / 8) * w + bx + i % 8];
			ok &= near(f[by * w + bx], sum / 8, 1e-5);
		}
	for (int i = 0; i < n; i++) {
		energy += (double)img[i] * img[i];
		energy2 += (double)f[i] * f[i];
		worst = fmax(worst, fabs(back[i] - img[i]));
	}
	printf("worst %g\n", worst);
	return verdict(ok && near(energy2 / energy, 1, 1e-5) && worst < 1.0 && worst > 0.01);
}
