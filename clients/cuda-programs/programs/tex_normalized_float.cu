// Integer texels that are read as floats between 0 and 1, or -1 and 1.
#include "check.h"

template <class T> __global__ void read_all(cudaTextureObject_t t, float4 *out, int n) {
	int i = threadIdx.x;
	if (i < n) out[i] = tex1D<float4>(t, i + 0.5f);
}

template <class T> static bool run(float scale, int salt) {
	const int n = 64;
	T src[n];
	for (int i = 0; i < n; i++) {
		src[i].x = i * salt;
		src[i].y = 255 - i;
		src[i].z = -i;
		src[i].w = i * i;
	}
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<T>();
	CHECK(cudaMallocArray(&array, &desc, n));
	CHECK(cudaMemcpy2DToArray(array, 0, 0, src, sizeof src, sizeof src, 1, cudaMemcpyHostToDevice));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	cudaTextureDesc td = {};
	td.readMode = cudaReadModeNormalizedFloat;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	float4 *out, host[n];
	CHECK(cudaMalloc(&out, sizeof host));
	read_all<T><<<1, n>>>(tex, out, n);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	auto want = [&](float v) { return fmaxf(v / scale, -1.0f); };
	for (int i = 0; i < n; i++)
		ok &= near(host[i].x, want(src[i].x), 1e-6) && near(host[i].y, want(src[i].y), 1e-6) && near(host[i].z, want(src[i].z), 1e-6) &&
			near(host[i].w, want(src[i].w), 1e-6);
	CHECK(cudaDestroyTextureObject(tex));
	CHECK(cudaFreeArray(array));
	cudaFree(out);
	return ok;
}

int main() {
	bool ok = run<uchar4>(255, 4);
	ok &= run<char4>(127, 2);
	ok &= run<ushort4>(65535, 1000);
	ok &= run<short4>(32767, 511);
	return verdict(ok);
}
