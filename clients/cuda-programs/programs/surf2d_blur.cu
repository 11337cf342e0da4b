// Two surfaces: a box blur reads one and writes the other, several times, in turn.
#include "check.h"

__global__ void blur(cudaSurfaceObject_t in, cudaSurfaceObject_t out, int w, int h) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h) return;
	int sum = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++) {
			int v;
			surf2Dread(&v, in, (x + dx) * 4, y + dy, cudaBoundaryModeZero);
			sum += v;
		}
	surf2Dwrite(sum / 9, out, x * 4, y);
}

int main() {
	const int w = 33, h = 21, rounds = 4;
	std::vector<int> img(w * h), next(w * h), got(w * h);
	for (int i = 0; i < w * h; i++) img[i] = i * 7919 % 1000;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	cudaArray_t array[2];
	cudaSurfaceObject_t surface[2];
	for (int k = 0; k < 2; k++) {
		CHECK(cudaMallocArray(&array[k], &desc, w, h, cudaArraySurfaceLoadStore));
		cudaResourceDesc res = {};
		res.resType = cudaResourceTypeArray;
		res.res.array.array = array[k];
		CHECK(cudaCreateSurfaceObject(&surface[k], &res));
	}
	CHECK(cudaMemcpy2DToArray(array[0], 0, 0, img.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
	for (int r = 0; r < rounds; r++) {
		blur<<<dim3(3, 3), dim3(16, 8)>>>(surface[r & 1], surface[~r & 1], w, h);
		for (int y = 0; y < h; y++)
			for (int x = 0; x < w; x++) {
				int sum = 0;
				for (int j = y - 1; j <= y + 1; j++)
					for (int i = x - 1; i <= x + 1; i++)
						if (i >= 0 && i < w && j >= 0 && j < h) sum += img[j * w + i];
				next[y * w + x] = sum / 9;
			}
		img = next;
	}
	CHECK(cudaMemcpy2DFromArray(got.data(), w * 4, array[rounds & 1], 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
	bool ok = got == img;
	for (int k = 0; k < 2; k++) {
		CHECK(cudaDestroySurfaceObject(surface[k]));
		CHECK(cudaFreeArray(array[k]));
	}
	return verdict(ok);
}
