// Matrix transposes: naive, with a padded tile in shared memory, and in place for square ones.
#include "check.h"

__global__ void naive(const int *in, int *out, int w, int h) {
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	if (x < w && y < h) out[x * h + y] = in[y * w + x];
}
__global__ void tiled(const int *in, int *out, int w, int h) {
	__shared__ int tile[16][17];
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	if (x < w && y < h) tile[threadIdx.y][threadIdx.x] = in[y * w + x];
	__syncthreads();
	x = blockIdx.y * 16 + threadIdx.x;
	y = blockIdx.x * 16 + threadIdx.y;
	if (x < h && y < w) out[y * h + x] = tile[threadIdx.x][threadIdx.y];
}
__global__ void in_place(int *m, int n) {
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
	if (x < y && y < n) {
		int t = m[y * n + x];
		m[y * n + x] = m[x * n + y];
		m[x * n + y] = t;
	}
}

int main() {
	const int w = 75, h = 52;
	std::vector<int> a(w * h), b(w * h);
	for (int i = 0; i < w * h; i++) a[i] = i * 3 + 1;
	int *in, *out;
	CHECK(cudaMalloc(&in, w * h * 4));
	CHECK(cudaMalloc(&out, w * h * 4));
	CHECK(cudaMemcpy(in, a.data(), w * h * 4, cudaMemcpyHostToDevice));
	dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16);
	bool ok = true;
	for (int kind = 0; kind < 3; kind++) {
		CHECK(cudaMemset(out, 0, w * h * 4));
		int cols = w, rows = h;
		if (kind == 0) naive<<<grid, block>>>(in, out, w, h);
		if (kind == 1) tiled<<<grid, block>>>(in, out, w, h);
		if (kind == 2) {
			cols = rows = h;
			CHECK(cudaMemcpy(out, in, h * h * 4, cudaMemcpyDeviceToDevice));
			in_place<<<dim3(4, 4), block>>>(out, h);
		}
		CHECK(cudaMemcpy(b.data(), out, w * h * 4, cudaMemcpyDeviceToHost));
		for (int y = 0; y < rows; y++)
			for (int x = 0; x < cols; x++) ok &= b[x * rows + y] == a[y * cols + x];
	}
	return verdict(ok);
}
