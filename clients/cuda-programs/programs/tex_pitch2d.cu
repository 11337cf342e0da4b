// A texture over pitched linear memory: Sobel gradients of an image.
#include "check.h"

__global__ void sobel(cudaTextureObject_t t, int *out, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h) return;
	auto p = [&](int dx, int dy) { return (int)tex2D<unsigned char>(t, x + dx, y + dy); };
	int gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
	int gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
	out[y * w + x] = abs(gx) + abs(gy);
}

int main() {
	const int w = 70, h = 50;
	static unsigned char img[h][w];
	static int r[h][w];
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) img[y][x] = (x * x + 3 * y * x + y) % 256;
	unsigned char *dev;
	size_t pitch;
	int *out;
	CHECK(cudaMallocPitch(&dev, &pitch, w, h));
	CHECK(cudaMemcpy2D(dev, pitch, img, w, w, h, cudaMemcpyHostToDevice));
	CHECK(cudaMalloc(&out, sizeof r));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypePitch2D;
	res.res.pitch2D.devPtr = dev;
	res.res.pitch2D.desc = cudaCreateChannelDesc<unsigned char>();
	res.res.pitch2D.width = w;
	res.res.pitch2D.height = h;
	res.res.pitch2D.pitchInBytes = pitch;
	cudaTextureDesc td = {};
	td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	sobel<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(tex, out, w, h);
	CHECK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost));
	bool ok = true;
	auto at = [&](int x, int y) -> int { return img[y < 0 ? 0 : y >= h ? h - 1 : y][x < 0 ? 0 : x >= w ? w - 1 : x]; };
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			int gx = at(x + 1, y - 1) + 2 * at(x + 1, y) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x - 1, y) - at(x - 1, y + 1);
			int gy = at(x - 1, y + 1) + 2 * at(x, y + 1) + at(x + 1, y + 1) - at(x - 1, y - 1) - 2 * at(x, y - 1) - at(x + 1, y - 1);
			ok &= r[y][x] == abs(gx) + abs(gy);
		}
	cudaDestroyTextureObject(tex);
	cudaFree(dev);
	cudaFree(out);
	return verdict(ok);
}
