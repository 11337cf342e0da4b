// Single precision a*x+y in managed memory that host and device write in turn.
#include "check.h"

__global__ void saxpy(float a, const float *x, float *y, int n) {
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		y[i] = a * x[i] + y[i];
}

int main() {
	const int n = 1 << 14;
	float *x, *y;
	CHECK(cudaMallocManaged(&x, n * sizeof(float)));
	CHECK(cudaMallocManaged(&y, n * sizeof(float), cudaMemAttachGlobal));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		x[i] = i % 100;
		y[i] = 1;
	}
	for (int round = 1; round <= 3; round++) {
		saxpy<<<16, 128>>>(2.0f, x, y, n);
		CHECK(cudaDeviceSynchronize());
		for (int i = 0; i < n; i++)
			ok = ok && y[i] == 1 + 2.0f * round * (i % 100);
	}
	for (int i = 0; i < n; i++)
		y[i] = -x[i];
	saxpy<<<16, 128>>>(1.0f, x, y, n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++)
		ok = ok && y[i] == 0;
	CHECK(cudaFree(x));
	CHECK(cudaFree(y));
	return verdict(ok);
}
