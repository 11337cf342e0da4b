// A layered 1D and a layered 2D texture.
#include "check.h"

__global__ void layers(cudaTextureObject_t one, cudaTextureObject_t two, int *out, int w, int h, int n) {
	int x = threadIdx.x, y = threadIdx.y, l = blockIdx.x;
	int v = tex2DLayered<int>(two, x + 0.5f, y + 0.5f, l);
	int u = tex1DLayered<int>(one, x + 0.5f, n - 1 - l);
	out[(l * h + y) * w + x] = v * 3 + u;
}

static cudaTextureObject_t make(int *data, int w, int h, int n, cudaArray_t *array) {
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	CHECK(cudaMalloc3DArray(array, &desc, make_cudaExtent(w, h, n), cudaArrayLayered));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(data, w * sizeof(int), w, h ? h : 1);
	p.dstArray = *array;
	p.extent = make_cudaExtent(w, h ? h : 1, n);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = *array;
	cudaTextureDesc td = {};
	cudaTextureObject_t t;
	CHECK(cudaCreateTextureObject(&t, &res, &td, nullptr));
	return t;
}

int main() {
	const int w = 10, h = 6, n = 5;
	int a[n][w], b[n][h][w], r[n][h][w];
	for (int l = 0; l < n; l++)
		for (int x = 0; x < w; x++) {
			a[l][x] = 1000 * l + x;
			for (int y = 0; y < h; y++) b[l][y][x] = -100 * l + 10 * y + x * x;
		}
	cudaArray_t arrays[2];
	cudaTextureObject_t one = make(&a[0][0], w, 0, n, &arrays[0]), two = make(&b[0][0][0], w, h, n, &arrays[1]);
	int *out;
	CHECK(cudaMalloc(&out, sizeof r));
	layers<<<n, dim3(w, h)>>>(one, two, out, w, h, n);
	CHECK(cudaMemcpy(r, out, sizeof r, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int l = 0; l < n; l++)
		for (int y = 0; y < h; y++)
			for (int x = 0; x < w; x++) ok &= r[l][y][x] == b[l][y][x] * 3 + a[n - 1 - l][x];
	CHECK(cudaDestroyTextureObject(one));
	CHECK(cudaDestroyTextureObject(two));
	for (auto x : arrays) CHECK(cudaFreeArray(x));
	cudaFree(out);
	return verdict(ok);
}
