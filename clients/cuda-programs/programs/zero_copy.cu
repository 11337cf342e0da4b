// The device reads and writes host memory that is mapped into its address space.
#include "check.h"

__global__ void reverse(const short *in, short *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[n - 1 - i] = in[i];
}

int main() {
	const int n = 4097;
	CHECK(cudaSetDeviceFlags(cudaDeviceMapHost));
	short *in, *out, *din, *dout;
	CHECK(cudaHostAlloc(&in, n * sizeof(short), cudaHostAllocMapped | cudaHostAllocWriteCombined));
	CHECK(cudaHostAlloc(&out, n * sizeof(short), cudaHostAllocMapped | cudaHostAllocPortable));
	CHECK(cudaHostGetDevicePointer(&din, in, 0));
	CHECK(cudaHostGetDevicePointer(&dout, out, 0));
	for (int i = 0; i < n; i++) in[i] = (short)(i * 31);
	reverse<<<(n + 63) / 64, 64>>>(din, dout, n);
	CHECK(cudaDeviceSynchronize());
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= out[n - 1 - i] == (short)(i * 31);
	unsigned flags = 0;
	CHECK(cudaHostGetFlags(&flags, out));
	ok &= (flags & cudaHostAllocMapped) != 0;
	CHECK(cudaFreeHost(in));
	CHECK(cudaFreeHost(out));
	return verdict(ok);
}
