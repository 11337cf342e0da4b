// A mipmapped array, filled level by level through surfaces, read with tex2DLod.
#include "check.h"

__global__ void paint(cudaSurfaceObject_t s, int n, float level) {
	int x = threadIdx.x, y = threadIdx.y;
	if (x < n && y < n) surf2Dwrite(100 * level + 10.0f * y / n + (float)x / n, s, x * (int)sizeof(float), y);
}
__global__ void look(cudaTextureObject_t t, float *out, int n, float level) {
	int x = threadIdx.x, y = threadIdx.y;
	if (x < n && y < n) out[y * n + x] = tex2DLod<float>(t, (x + 0.5f) / n, (y + 0.5f) / n, level);
}

int main() {
	const int n = 16, levels = 4;
	cudaMipmappedArray_t mip;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	CHECK(cudaMallocMipmappedArray(&mip, &desc, make_cudaExtent(n, n, 0), levels, cudaArraySurfaceLoadStore));
	for (int l = 0; l < levels; l++) {
		cudaArray_t level;
		CHECK(cudaGetMipmappedArrayLevel(&level, mip, l));
		cudaExtent e;
		CHECK(cudaArrayGetInfo(nullptr, &e, nullptr, level));
		if (e.width != size_t(n >> l)) return verdict(false);
		cudaResourceDesc res = {};
		res.resType = cudaResourceTypeArray;
		res.res.array.array = level;
		cudaSurfaceObject_t surface;
		CHECK(cudaCreateSurfaceObject(&surface, &res));
		paint<<<1, dim3(n, n)>>>(surface, n >> l, l);
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaDestroySurfaceObject(surface));
	}
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeMipmappedArray;
	res.res.mipmap.mipmap = mip;
	cudaTextureDesc td = {};
	td.normalizedCoords = 1;
	td.mipmapFilterMode = cudaFilterModePoint;
	td.maxMipmapLevelClamp = levels - 1;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	float *out, host[n * n];
	CHECK(cudaMalloc(&out, sizeof host));
	bool ok = true;
	for (int l = 0; l < levels; l++) {
		int m = n >> l;
		look<<<1, dim3(n, n)>>>(tex, out, m, l);
		CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
		for (int y = 0; y < m; y++)
			for (int x = 0; x < m; x++) ok &= near(host[y * m + x], 100.0f * l + 10.0f * y / m + (float)x / m, 1e-6);
	}
	CHECK(cudaDestroyTextureObject(tex));
	CHECK(cudaFreeMipmappedArray(mip));
	cudaFree(out);
	return verdict(ok);
}
