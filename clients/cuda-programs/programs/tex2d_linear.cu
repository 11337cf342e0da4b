// Bilinear filtering of a 2D array at unnormalized coordinates, against the formula of the programming guide.
#include "check.h"

__global__ void sample(cudaTextureObject_t t, float *out, int w, int h, float step, float shift) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < w && y < h) out[y * w + x] = tex2D<float>(t, x * step + shift, y * step + shift);
}

int main() {
	const int w = 16, h = 12, ow = 40, oh = 30;
	float src[h][w];
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) src[y][x] = (x * 7 + y * 13) % 32;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	cudaArray_t array;
	CHECK(cudaMallocArray(&array, &desc, w, h));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, src, w * 4, w * 4, h, cudaMemcpyHostToDevice));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	cudaTextureDesc td = {};
	td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
	td.filterMode = cudaFilterModeLinear;
	td.readMode = cudaReadModeElementType;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	float *out, host[oh][ow];
	CHECK(cudaMalloc(&out, sizeof host));
	const float step = 0.4375f, shift = -0.25f;
	sample<<<dim3(3, 4), dim3(16, 8)>>>(tex, out, ow, oh, step, shift);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	auto at = [&](int x, int y) {
		x = x < 0 ? 0 : x >= w ? w - 1 : x;
		y = y < 0 ? 0 : y >= h ? h - 1 : y;
		return src[y][x];
	};
	bool ok = true;
	for (int y = 0; y < oh; y++)
		for (int x = 0; x < ow; x++) {
			float u = x * step + shift - 0.5f, v = y * step + shift - 0.5f;
			int i = (int)floorf(u), j = (int)floorf(v);
			float a = roundf((u - i) * 256) / 256, b = roundf((v - j) * 256) / 256; // weights have eight bits
			float want = (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
			ok &= fabsf(host[y][x] - want) < 0.13f;
		}
	CHECK(cudaDestroyTextureObject(tex));
	CHECK(cudaFreeArray(array));
	cudaFree(out);
	return verdict(ok);
}
