// Named barriers: two halves of a block as producer and consumer, with bar.arrive and bar.sync.
#include "check.h"

__global__ void pipe(const int *in, int *out, int rounds) {
	__shared__ int slot[64];
	int t = threadIdx.x;
	if (t < 64) { // producers
		for (int r = 0; r < rounds; r++) {
			asm volatile("bar.sync 1, 128;" ::: "memory"); // the slots are free
			slot[t] = in[r * 64 + t] + 1;
			asm volatile("bar.arrive 2, 128;" ::: "memory"); // and now full
		}
	} else {
		int i = t - 64;
		for (int r = 0; r < rounds; r++) {
			asm volatile("bar.arrive 1, 128;" ::: "memory");
			asm volatile("bar.sync 2, 128;" ::: "memory");
			out[r * 64 + i] = slot[63 - i] * 2;
		}
	}
}

int main() {
	const int rounds = 10, n = rounds * 64;
	int in[n], out[n], *d;
	for (int i = 0; i < n; i++) in[i] = i * i % 1009;
	CHECK(cudaMalloc(&d, 2 * sizeof in));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	pipe<<<1, 128>>>(d, d + n, rounds);
	CHECK(cudaMemcpy(out, d + n, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= out[i] == (in[i / 64 * 64 + 63 - i % 64] + 1) * 2;
	return verdict(ok);
}
