// Peers: a device cannot be its own; copies between devices by number; with two devices, direct access.
#include "check.h"

__global__ void fill(int *p, int v) { p[threadIdx.x] = v + threadIdx.x; }
__global__ void read(const int *p, int *q) { q[threadIdx.x] = p[threadIdx.x] * 2; }

int main() {
	int count, can = 7, *a, *b, h[32];
	CHECK(cudaGetDeviceCount(&count));
	CHECK(cudaDeviceCanAccessPeer(&can, 0, 0));
	bool ok = can == 0;
	cudaError_t self = cudaDeviceEnablePeerAccess(0, 0);
	printf("access to itself: %s\n", cudaGetErrorName(self));
	EXPECT(self == cudaErrorPeerAccessUnsupported);
	cudaGetLastError();
	int other = count > 1 ? 1 : 0;
	CHECK(cudaMalloc(&a, sizeof h));
	fill<<<1, 32>>>(a, 9);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaSetDevice(other));
	CHECK(cudaMalloc(&b, sizeof h));
	CHECK(cudaMemcpyPeer(b, other, a, 0, sizeof h));
	CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 32; i++) ok &= h[i] == 9 + i;
	if (other) {
		CHECK(cudaDeviceCanAccessPeer(&can, other, 0));
		if (can) {
			CHECK(cudaDeviceEnablePeerAccess(0, 0));
			EXPECT(cudaDeviceEnablePeerAccess(0, 0) == cudaErrorPeerAccessAlreadyEnabled);
			cudaGetLastError();
			read<<<1, 32>>>(a, b);
			CHECK(cudaMemcpy(h, b, sizeof h, cudaMemcpyDeviceToHost));
			for (int i = 0; i < 32; i++) ok &= h[i] == 2 * (9 + i);
			CHECK(cudaDeviceDisablePeerAccess(0));
		}
	}
	EXPECT(cudaDeviceDisablePeerAccess(0) != cudaSuccess);
	cudaGetLastError();
	return verdict(ok);
}
