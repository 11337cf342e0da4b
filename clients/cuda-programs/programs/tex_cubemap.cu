// A cubemap: the six faces are hit by rays along the axes, and each texel by the ray through its centre.
#include "check.h"

// The ray through texel (x, y) of a face, by the table of the programming guide.
__host__ __device__ float3 ray(int face, float s, float t) {
	switch (face) {
	case 0: return make_float3(1, -t, -s);
	case 1: return make_float3(-1, -t, s);
	case 2: return make_float3(s, 1, t);
	case 3: return make_float3(s, -1, -t);
	case 4: return make_float3(s, -t, 1);
	default: return make_float3(-s, -t, -1);
	}
}

__global__ void shoot(cudaTextureObject_t t, float *out, int n) {
	int x = threadIdx.x, y = threadIdx.y, face = blockIdx.x;
	float3 r = ray(face, (x + 0.5f) * 2 / n - 1, (y + 0.5f) * 2 / n - 1);
	out[(face * n + y) * n + x] = texCubemap<float>(t, r.x * 3, r.y * 3, r.z * 3);
}

int main() {
	const int n = 8;
	static float faces[6][n][n], host[6][n][n];
	for (int i = 0; i < 6 * n * n; i++) (&faces[0][0][0])[i] = i + 0.5f;
	cudaArray_t array;
	cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
	CHECK(cudaMalloc3DArray(&array, &desc, make_cudaExtent(n, n, 6), cudaArrayCubemap));
	cudaMemcpy3DParms p = {};
	p.srcPtr = make_cudaPitchedPtr(faces, n * sizeof(float), n, n);
	p.dstArray = array;
	p.extent = make_cudaExtent(n, n, 6);
	p.kind = cudaMemcpyHostToDevice;
	CHECK(cudaMemcpy3D(&p));
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = array;
	cudaTextureDesc td = {};
	for (auto &m : td.addressMode) m = cudaAddressModeClamp;
	td.normalizedCoords = 1;
	cudaTextureObject_t tex;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, nullptr));
	float *out;
	CHECK(cudaMalloc(&out, sizeof host));
	shoot<<<6, dim3(n, n)>>>(tex, out, n);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	int wrong = 0;
	for (int i = 0; i < 6 * n * n; i++) wrong += (&host[0][0][0])[i] != (&faces[0][0][0])[i];
	printf("%d of %d wrong\n", wrong, 6 * n * n);
	cudaDestroyTextureObject(tex);
	cudaFreeArray(array);
	cudaFree(out);
	return verdict(wrong == 0);
}
