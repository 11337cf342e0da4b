// Copies of every kind: host to host, within the device, by cudaMemcpyDefault, and of odd sizes and offsets.
#include "check.h"
#include <cstring>

__global__ void stamp(unsigned char *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] = (unsigned char)(i * 13 + 1);
}

int main() {
	const int n = 1021;
	unsigned char *a, *b;
	CHECK(cudaMalloc(&a, n));
	CHECK(cudaMalloc(&b, n));
	CHECK(cudaMemset(b, 0xEE, n));
	stamp<<<4, 256>>>(a, n);
	CHECK(cudaMemcpy(b + 3, a + 5, 1000, cudaMemcpyDeviceToDevice));
	std::vector<unsigned char> x(n), y(n), z(n);
	CHECK(cudaMemcpy(x.data(), b, n, cudaMemcpyDefault));
	CHECK(cudaMemcpy(y.data(), x.data(), n, cudaMemcpyHostToHost));
	bool ok = memcmp(x.data(), y.data(), n) == 0;
	for (int i = 0; i < n; i++) ok &= x[i] == (i >= 3 && i < 1003 ? (unsigned char)((i + 2) * 13 + 1) : 0xEE);
	for (int i = 0; i < n; i++) y[i] = i;
	CHECK(cudaMemcpy(a + 1, y.data() + 7, 13, cudaMemcpyDefault));
	CHECK(cudaMemcpy(z.data(), a, n, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) ok &= z[i] == (i >= 1 && i < 14 ? i + 6 : (unsigned char)(i * 13 + 1));
	CHECK(cudaMemcpy(a, b, 0, cudaMemcpyDeviceToDevice));
	ok &= cudaMemcpy(a, b, 4, (cudaMemcpyKind)77) == cudaErrorInvalidMemcpyDirection;
	cudaFree(a);
	cudaFree(b);
	return verdict(ok);
}
