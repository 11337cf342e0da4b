// Copies between arrays and memory in all directions, with offsets; what cudaArrayGetInfo says.
#include "check.h"

__global__ void make(int *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = 7 * i + 1;
}

int main() {
	const int w = 12, h = 10;
	cudaArray_t a, b;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	CHECK(cudaMallocArray(&a, &desc, w, h));
	CHECK(cudaMallocArray(&b, &desc, w, h));
	int *dev, host[h][w];
	CHECK(cudaMalloc(&dev, sizeof host));
	make<<<1, 128>>>(dev, w * h);
	CHECK(cudaMemcpy2DToArray(a, 0, 0, dev, w * 4, w * 4, h, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemset(dev, 0, sizeof host));
	CHECK(cudaMemcpy2DToArray(b, 0, 0, dev, w * 4, w * 4, h, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy2DArrayToArray(b, 2 * 4, 3, a, 5 * 4, 1, 6 * 4, 4, cudaMemcpyDeviceToDevice));
	CHECK(cudaMemcpy2DFromArray(host, w * 4, b, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			bool in = x >= 2 && x < 8 && y >= 3 && y < 7;
			ok &= host[y][x] == (in ? 7 * ((y - 2) * w + x + 3) + 1 : 0);
		}
	cudaChannelFormatDesc got;
	cudaExtent extent;
	unsigned flags = 77;
	CHECK(cudaArrayGetInfo(&got, &extent, &flags, a));
	ok &= got.x == 32 && got.y == 0 && got.f == cudaChannelFormatKindSigned && extent.width == w && extent.height == h && flags == 0;
	CHECK(cudaGetChannelDesc(&got, a));
	ok &= got.x == 32 && got.w == 0;
	cudaFreeArray(a);
	cudaFreeArray(b);
	cudaFree(dev);
	return verdict(ok);
}
