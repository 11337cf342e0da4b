// cudaMemset in one, two and three dimensions, and what a kernel then adds up.
#include "check.h"

__global__ void sum_rows(const unsigned char *p, size_t pitch, int width, int height, unsigned *sums) {
	int y = blockIdx.x * blockDim.x + threadIdx.x;
	if (y >= height) return;
	unsigned s = 0;
	for (int x = 0; x < width; x++) s += p[y * pitch + x];
	sums[y] = s;
}

int main() {
	bool ok = true;
	unsigned char *flat;
	unsigned *sums, host[64];
	CHECK(cudaMalloc(&flat, 4096));
	CHECK(cudaMalloc(&sums, sizeof host));
	CHECK(cudaMemset(flat, 0, 4096));
	CHECK(cudaMemset(flat + 100, 3, 50));
	sum_rows<<<1, 64>>>(flat, 64, 64, 64, sums);
	CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
	unsigned total = 0;
	for (unsigned s : host) total += s;
	ok &= total == 150 && host[1] == 28 * 3 && host[2] == 22 * 3;

	CHECK(cudaMemset2D(flat, 64, 5, 10, 64)); // ten bytes of every row of 64
	CHECK(cudaMemset(flat + 10, 0, 54));
	sum_rows<<<1, 64>>>(flat, 64, 64, 64, sums);
	CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
	ok &= host[0] == 50 && host[1] == 50 + 28 * 3 && host[2] == 50 + 3 * (150 - 138) && host[63] == 50;

	cudaExtent extent = make_cudaExtent(30, 8, 8);
	cudaPitchedPtr volume;
	CHECK(cudaMalloc3D(&volume, extent));
	CHECK(cudaMemset3D(volume, 1, extent));
	CHECK(cudaMemset3DAsync(volume, 9, make_cudaExtent(4, 2, 3), 0));
	sum_rows<<<1, 64>>>((unsigned char *)volume.ptr, volume.pitch, 30, 64, sums);
	CHECK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
	for (int y = 0; y < 64; y++) ok &= host[y] == (y / 8 < 3 && y % 8 < 2 ? 62u : 30u);
	cudaFree(flat);
	cudaFree(sums);
	cudaFree(volume.ptr);
	return verdict(ok);
}
