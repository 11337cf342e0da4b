// Surfaces of one and three dimensions and a layered one, of several texel types.
#include "check.h"

__global__ void one(cudaSurfaceObject_t s, int n) {
	int x = threadIdx.x;
	if (x < n) surf1Dwrite(make_short2(x, -x * 3), s, x * (int)sizeof(short2));
}
__global__ void three(cudaSurfaceObject_t s, cudaSurfaceObject_t layered, int n) {
	int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
	uchar4 v = make_uchar4(x, y, z, x ^ y ^ z);
	surf3Dwrite(v, s, x * 4, y, z);
	__syncthreads();
	uchar4 u = surf3Dread<uchar4>(s, (n - 1 - x) * 4, n - 1 - y, n - 1 - z);
	surf2DLayeredwrite(make_float4(u.x, u.y, u.z, u.w), layered, x * 16, y, z);
}

static cudaSurfaceObject_t surface(cudaArray_t a) {
	cudaResourceDesc res = {};
	res.resType = cudaResourceTypeArray;
	res.res.array.array = a;
	cudaSurfaceObject_t s;
	CHECK(cudaCreateSurfaceObject(&s, &res));
	return s;
}

int main() {
	const int n = 6;
	cudaArray_t a, b, c;
	cudaChannelFormatDesc d1 = cudaCreateChannelDesc<short2>(), d3 = cudaCreateChannelDesc<uchar4>(), dl = cudaCreateChannelDesc<float4>();
	CHECK(cudaMallocArray(&a, &d1, 50, 0, cudaArraySurfaceLoadStore));
	CHECK(cudaMalloc3DArray(&b, &d3, make_cudaExtent(n, n, n), cudaArraySurfaceLoadStore));
	CHECK(cudaMalloc3DArray(&c, &dl, make_cudaExtent(n, n, n), cudaArrayLayered | cudaArraySurfaceLoadStore));
	cudaSurfaceObject_t sa = surface(a), sb = surface(b), sc = surface(c);
	one<<<1, 64>>>(sa, 50);
	three<<<1, dim3(n, n, n)>>>(sb, sc, n);
	short2 ha[50];
	float4 hc[n][n][n];
	CHECK(cudaMemcpy2DFromArray(ha, sizeof ha, a, 0, 0, sizeof ha, 1, cudaMemcpyDeviceToHost));
	cudaMemcpy3DParms p = {};
	p.srcArray = c;
	p.dstPtr = make_cudaPitchedPtr(hc, n * sizeof(float4), n, n);
	p.extent = make_cudaExtent(n, n, n);
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&p));
	bool ok = true;
	for (int x = 0; x < 50; x++) ok &= ha[x].x == x && ha[x].y == -3 * x;
	for (int z = 0; z < n; z++)
		for (int y = 0; y < n; y++)
			for (int x = 0; x < n; x++) {
				int i = n - 1 - x, j = n - 1 - y, k = n - 1 - z;
				float4 v = hc[z][y][x];
				ok &= v.x == i && v.y == j && v.z == k && v.w == (i ^ j ^ k);
			}
	for (auto s : {sa, sb, sc}) CHECK(cudaDestroySurfaceObject(s));
	for (auto x : {a, b, c}) CHECK(cudaFreeArray(x));
	return verdict(ok);
}
