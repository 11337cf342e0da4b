// An edge-preserving filter over a texture, against the host.
#include "check.h"

const int R = 2;

__global__ void bilateral(cudaTextureObject_t t, float *out, int w, int h, float space, float range) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h) return;
	float c = tex2D<float>(t, x + 0.5f, y + 0.5f), sum = 0, weight = 0;
	for (int dy = -R; dy <= R; dy++)
		for (int dx = -R; dx <= R; dx++) {
			float v = tex2D<float>(t, x + dx + 0.5f, y + dy + 0.5f);
			float k = expf(-(dx * dx + dy * dy) * space - (v - c) * (v - c) * range);
			sum += k * v;
			weight += k;
		}
	out[y * w + x] = sum / weight;
}

int main() {
	const int w = 45, h = 33;
	std::vector<float> img(w * h), got(w * h);
	unsigned seed = 91;
	for (int i = 0; i < w * h; i++) img[i] = (i % w < 20 ? 1.0f : 5.0f) + lcg(seed) % 100 / 200.0f;
	cudaArray_t a;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	CHECK(cudaMallocArray(&a, &desc, w, h));
	CHECK(cudaMemcpy2DToArray(a, 0, 0, img.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = a;
	cudaTextureDesc td = {};
	td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
	cudaTextureObject_t t;
	CHECK(cudaCreateTextureObject(&t, &res, &td, nullptr));
	float *out;
	CHECK(cudaMalloc(&out, w * h * 4));
	bilateral<<<dim3(3, 5), dim3(16, 8)>>>(t, out, w, h, 0.1f, 2.0f);
	CHECK(cudaMemcpy(got.data(), out, w * h * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			double sum = 0, weight = 0, c = img[y * w + x];
			for (int dy = -R; dy <= R; dy++)
				for (int dx = -R; dx <= R; dx++) {
					double v = img[std::min(std::max(y + dy, 0), h - 1) * w + std::min(std::max(x + dx, 0), w - 1)];
					double k = exp(-(dx * dx + dy * dy) * 0.1 - (v - c) * (v - c) * 2);
					sum += k * v;
					weight += k;
				}
			ok &= near(got[y * w + x], sum / weight, 1e-5);
		}
	CHECK(cudaDestroyTextureObject(t));
	CHECK(cudaFreeArray(a));
	return verdict(ok);
}
