// A texture object over linear memory, read by index: gathers through it.
#include "check.h"
#include <cstring>

__global__ void gather(cudaTextureObject_t t, const int *index, float2 *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		float2 v = tex1Dfetch<float2>(t, index[i]);
		out[i] = make_float2(v.y, v.x * 2);
	}
}

int main() {
	const int n = 1500;
	std::vector<float2> table(n), r(n);
	std::vector<int> index(n);
	for (int i = 0; i < n; i++) {
		table[i] = make_float2(i, -i * 0.5f);
		index[i] = i * 37 % n;
	}
	float2 *dt, *dr;
	int *di;
	CHECK(cudaMalloc(&dt, n * sizeof(float2)));
	CHECK(cudaMalloc(&dr, n * sizeof(float2)));
	CHECK(cudaMalloc(&di, n * sizeof(int)));
	CHECK(cudaMemcpy(dt, table.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(di, index.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	cudaResourceDesc res;
	memset(&res, 0, sizeof res);
	res.resType = cudaResourceTypeLinear;
	res.res.linear.devPtr = dt;
	res.res.linear.desc = cudaCreateChannelDesc<float2>();
	res.res.linear.sizeInBytes = n * sizeof(float2);
	cudaTextureDesc td;
	memset(&td, 0, sizeof td);
	td.readMode = cudaReadModeElementType;
	cudaTextureObject_t tex = 0;
	CHECK(cudaCreateTextureObject(&tex, &res, &td, NULL));
	gather<<<(n + 127) / 128, 128>>>(tex, di, dr, n);
	CHECK(cudaMemcpy(r.data(), dr, n * sizeof(float2), cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= r[i].x == table[index[i]].y && r[i].y == table[index[i]].x * 2;
	CHECK(cudaDestroyTextureObject(tex));
	cudaFree(dt);
	cudaFree(dr);
	cudaFree(di);
	return verdict(ok);
}
