// Double buffering with __pipeline_memcpy_async: tiles stream through shared memory.
#include "check.h"
#include <cuda_pipeline.h>

const int tile = 64;

__global__ void run(const float4 *in, float4 *out, int tiles) {
	__shared__ float4 buffer[2][tile];
	int t = threadIdx.x;
	__pipeline_memcpy_async(&buffer[0][t], in + t, sizeof(float4));
	__pipeline_commit();
	for (int k = 0; k < tiles; k++) {
		if (k + 1 < tiles) __pipeline_memcpy_async(&buffer[(k + 1) & 1][t], in + (k + 1) * tile + t, sizeof(float4));
		__pipeline_commit();
		__pipeline_wait_prior(1);
		__syncthreads();
		float4 a = buffer[k & 1][t], b = buffer[k & 1][(t + 1) % tile];
		out[k * tile + t] = make_float4(a.x + b.w, a.y + b.z, a.z - b.y, a.w - b.x);
		__syncthreads();
	}
}

int main() {
	const int tiles = 13, n = tiles * tile;
	std::vector<float4> in(n), out(n);
	for (int i = 0; i < n; i++) in[i] = make_float4(i, 2 * i, -i, i % 7);
	float4 *di, *dout;
	CHECK(cudaMalloc(&di, n * 16));
	CHECK(cudaMalloc(&dout, n * 16));
	CHECK(cudaMemcpy(di, in.data(), n * 16, cudaMemcpyHostToDevice));
	run<<<1, tile>>>(di, dout, tiles);
	CHECK(cudaMemcpy(out.data(), dout, n * 16, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float4 a = in[i], b = in[i / tile * tile + (i + 1) % tile], r = out[i];
		ok &= r.x == a.x + b.w && r.y == a.y + b.z && r.z == a.z - b.y && r.w == a.w - b.x;
	}
	return verdict(ok);
}
