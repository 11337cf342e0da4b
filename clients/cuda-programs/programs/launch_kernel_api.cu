// The launch functions behind <<<>>>: cudaLaunchKernel, arguments by address, structs and many parameters.
#include "check.h"

struct Params {
	char tag;
	double weights[5];
	short s[3];
};

__global__ void many(int a, char b, double c, Params p, float3 f, const int *in, bool flag, unsigned long long big, int *out) {
	int i = threadIdx.x;
	double v = a + b + c + p.tag + f.x + f.y + f.z + in[i] + (flag ? 1000 : 0) + (double)big;
	for (double w : p.weights) v += w * i;
	for (short x : p.s) v -= x;
	out[i] = (int)v;
}

int main() {
	const int n = 48;
	int host[n], got[n], *in, *out;
	for (int i = 0; i < n; i++) host[i] = i * 11;
	CHECK(cudaMalloc(&in, sizeof host));
	CHECK(cudaMalloc(&out, sizeof host));
	CHECK(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
	int a = 3;
	char b = -4;
	double c = 100.25;
	Params p = {9, {1, 2, 3, 4, 0.5}, {7, -8, 9}};
	float3 f = make_float3(0.25f, 0.25f, 0.25f);
	bool flag = true;
	unsigned long long big = 1ull << 20;
	void *args[] = {&a, &b, &c, &p, &f, &in, &flag, &big, &out};
	bool ok = true;
	for (int round = 0; round < 2; round++) {
		CHECK(cudaMemset(out, 0, sizeof got));
		if (round == 0) CHECK(cudaLaunchKernel((const void *)many, dim3(1), dim3(n), args, 0, 0));
		else many<<<1, n>>>(a, b, c, p, f, in, flag, big, out);
		CHECK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++) ok &= got[i] == 3 - 4 + 101 + 9 + 11 * i + 1000 + (1 << 20) + (int)(10.5 * i) - 8 || got[i] == (int)(3 - 4 + 101 + 9 + 11 * i + 1000 + (1 << 20) + 10.5 * i - 8);
	}
	cudaError_t empty = cudaLaunchKernel((const void *)many, dim3(0), dim3(n), args, 0, 0), unknown = cudaLaunchKernel((const void *)main, dim3(1), dim3(n), args, 0, 0);
	printf("%s %s\n", cudaGetErrorName(empty), cudaGetErrorName(unknown));
	EXPECT(empty == cudaErrorInvalidValue);
	EXPECT(unknown == cudaErrorInvalidResourceHandle);
	cudaGetLastError();
	return verdict(ok);
}
