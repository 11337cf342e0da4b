// A box is cut out of a volume with cudaMemcpy3D and its values are checked against their position.
#include "check.h"

struct Box { cudaPitchedPtr data; int w, h, d; };

__global__ void fill(Box b) {
	int x = threadIdx.x, y = threadIdx.y + blockIdx.y * blockDim.y, z = blockIdx.z;
	if (x >= b.w || y >= b.h) return;
	char *slice = (char *)b.data.ptr + z * b.data.pitch * b.h;
	((int *)(slice + y * b.data.pitch))[x] = x + 100 * y + 10000 * z;
}

int main() {
	Box b{{}, 20, 12, 6};
	cudaExtent extent = make_cudaExtent(b.w * sizeof(int), b.h, b.d);
	CHECK(cudaMalloc3D(&b.data, extent));
	fill<<<dim3(1, 3, b.d), dim3(32, 4)>>>(b);
	CHECK(cudaGetLastError());
	const int cw = 5, ch = 4, cd = 3, ox = 7, oy = 6, oz = 2;
	int cut[cd][ch][cw];
	cudaMemcpy3DParms p = {};
	p.srcPtr = b.data;
	p.srcPos = make_cudaPos(ox * sizeof(int), oy, oz);
	p.dstPtr = make_cudaPitchedPtr(cut, cw * sizeof(int), cw, ch);
	p.extent = make_cudaExtent(cw * sizeof(int), ch, cd);
	p.kind = cudaMemcpyDeviceToHost;
	CHECK(cudaMemcpy3D(&p));
	bool ok = true;
	for (int z = 0; z < cd; z++)
		for (int y = 0; y < ch; y++)
			for (int x = 0; x < cw; x++) ok &= cut[z][y][x] == (x + ox) + 100 * (y + oy) + 10000 * (z + oz);
	CHECK(cudaFree(b.data.ptr));
	return verdict(ok);
}
