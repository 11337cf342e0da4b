// tex2Dgather: one component of the four texels around a point.
#include "check.h"

__global__ void gather(cudaTextureObject_t t, float4 *r, float4 *g, int n) {
	int x = threadIdx.x, y = threadIdx.y;
	r[y * n + x] = tex2Dgather<float4>(t, x + 1.0f, y + 1.0f, 0);
	g[y * n + x] = tex2Dgather<float4>(t, x + 1.0f, y + 1.0f, 1);
}

int main() {
	const int n = 9, w = n + 1;
	float2 src[w][w];
	for (int y = 0; y < w; y++)
		for (int x = 0; x < w; x++) src[y][x] = make_float2(x + 16 * y, -x * y);
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float2>();
	CHECK(cudaMallocArray(&array, &desc, w, w, cudaArrayTextureGather));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, src, sizeof src[0], sizeof src[0], w, cudaMemcpyHostToDevice));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	cudaTextureDesc td = {};
	td.addressMode[0] = td.addressMode[1] = cudaAddressModeClamp;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	float4 *dev, host[2][n][n];
	CHECK(cudaMalloc(&dev, sizeof host));
	gather<<<1, dim3(n, n)>>>(tex, dev, dev + n * n, n);
	CHECK(cudaMemcpy(host, dev, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int y = 0; y < n; y++)
		for (int x = 0; x < n; x++) { // lower left, lower right, upper right, upper left
			float4 a = host[0][y][x], b = host[1][y][x];
			ok &= a.x == src[y + 1][x].x && a.y == src[y + 1][x + 1].x && a.z == src[y][x + 1].x && a.w == src[y][x].x;
			ok &= b.x == src[y + 1][x].y && b.y == src[y + 1][x + 1].y && b.z == src[y][x + 1].y && b.w == src[y][x].y;
		}
	CHECK(cudaDestroyTextureObject(tex));
	CHECK(cudaFreeArray(array));
	cudaFree(dev);
	return verdict(ok);
}
