// A pitched matrix: rows are rotated on the device, and copied back as a dense one.
#include "check.h"

__global__ void rotate(const char *in, char *out, size_t in_pitch, size_t out_pitch, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h) {
		float v = *(const float *)(in + y * in_pitch + x * 4);
		*(float *)(out + ((y + 1) % h) * out_pitch + ((x + 2) % w) * 4) = v + 0.5f;
	}
}

int main() {
	const int w = 123, h = 77;
	std::vector<float> m(w * h), r(w * h);
	for (int i = 0; i < w * h; i++) m[i] = i;
	char *a, *b;
	size_t pa, pb;
	CHECK(cudaMallocPitch(&a, &pa, w * sizeof(float), h));
	CHECK(cudaMallocPitch(&b, &pb, w * sizeof(float), h));
	CHECK(cudaMemcpy2D(a, pa, m.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
	dim3 block(16, 8), grid((w + 15) / 16, (h + 7) / 8);
	rotate<<<grid, block>>>(a, b, pa, pb, w, h);
	CHECK(cudaMemcpy2D(r.data(), w * 4, b, pb, w * 4, h, cudaMemcpyDeviceToHost));
	bool ok = pa >= w * 4 && pa % 32 == 0;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) ok &= r[(y + 1) % h * w + (x + 2) % w] == m[y * w + x] + 0.5f;
	cudaFree(a);
	cudaFree(b);
	return verdict(ok);
}
