// Wrap, mirror, clamp and border at normalized coordinates, without filtering.
#include "check.h"

__global__ void sample(cudaTextureObject_t t, int *out, int n) {
	int i = threadIdx.x, j = threadIdx.y;
	float x = (i - n / 3 + 0.5f) / 8.0f, y = (j - n / 3 + 0.5f) / 8.0f; // from -1 to 2
	out[j * n + i] = tex2D<int>(t, x, y);
}

static int mirrored(int i) {
	int m = ((i % 16) + 16) % 16;
	return m < 8 ? m : 15 - m;
}

int main() {
	const int n = 24;
	int src[8][8];
	for (int i = 0; i < 64; i++) src[i / 8][i % 8] = 1000 + i;
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
	CHECK(cudaMallocArray(&array, &desc, 8, 8));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, src, 32, 32, 8, cudaMemcpyHostToDevice));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	int *out, host[n][n];
	CHECK(cudaMalloc(&out, sizeof host));
	bool ok = true;
	for (cudaTextureAddressMode mode : {cudaAddressModeWrap, cudaAddressModeMirror, cudaAddressModeClamp, cudaAddressModeBorder}) {
		cudaTextureDesc td = {};
		td.addressMode[0] = mode;
		td.addressMode[1] = mode;
		td.filterMode = cudaFilterModePoint;
		td.normalizedCoords = 1;
		cudaTextureObject_t tex;
		CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
		CHECK(cudaMemset(out, 0xff, sizeof host));
		sample<<<1, dim3(n, n)>>>(tex, out, n);
		CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
		for (int j = 0; j < n; j++)
			for (int i = 0; i < n; i++) {
				int x = i - n / 3, y = j - n / 3, want;
				bool outside = x < 0 || x > 7 || y < 0 || y > 7;
				switch (mode) {
				case cudaAddressModeWrap: want = src[(y + 8) % 8][(x + 8) % 8]; break;
				case cudaAddressModeMirror: want = src[mirrored(y)][mirrored(x)]; break;
				case cudaAddressModeClamp: want = src[y < 0 ? 0 : y > 7 ? 7 : y][x < 0 ? 0 : x > 7 ? 7 : x]; break;
				default: want = outside ? 0 : src[y][x];
				}
				ok &= host[j][i] == want;
			}
		CHECK(cudaDestroyTextureObject(tex));
	}
	cudaFreeArray(array);
	cudaFree(out);
	return verdict(ok);
}
