// A volume in a 3D array: every voxel by tex3D, and means of eight neighbours by linear filtering.
#include "check.h"

__global__ void read_volume(cudaTextureObject_t t, float *out, int n, float offset) {
	int x = threadIdx.x, y = threadIdx.y, z = blockIdx.x;
	out[(z * n + y) * n + x] = tex3D<float>(t, x + offset, y + offset, z + offset);
}

int main() {
	const int n = 8;
	static float v[n][n][n], host[n][n][n];
	unsigned seed = 1;
	for (auto &a : v) for (auto &b : a) for (float &c : b) c = lcg(seed) % 64;
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	cudaExtent extent = make_cudaExtent(n, n, n);
	CHECK(cudaMalloc3DArray(&array, &desc, extent));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(v, n * sizeof(float), n, n);
	p.dstArray = array;
	p.extent = extent;
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	float *out;
	CHECK(cudaMalloc(&out, sizeof host));
	bool ok = true;
	for (int linear = 0; linear < 2; linear++) {
		cudaTextureDesc td = {};
		for (auto &m : td.addressMode) m = cudaAddressModeClamp;
		td.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
		cudaTextureObject_t t;
		CHECK(cudaCreateTextureObject(&t, &res, &td, nullptr));
		read_volume<<<n, dim3(n, n)>>>(t, out, n, linear ? 1.0f : 0.5f);
		CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
		for (int z = 0; z < n; z++)
			for (int y = 0; y < n; y++)
				for (int x = 0; x < n; x++) {
					float want = v[z][y][x];
					if (linear) {
						want = 0;
						for (int c = 0; c < 8; c++)
							want += v[std::min(z + (c >> 2), n - 1)][std::min(y + (c >> 1 & 1), n - 1)][std::min(x + (c & 1), n - 1)];
						want /= 8;
					}
					ok &= fabsf(host[z][y][x] - want) < 0.01f;
				}
		CHECK(cudaDestroyTextureObject(t));
	}
	CHECK(cudaFreeArray(array));
	cudaFree(out);
	return verdict(ok);
}
