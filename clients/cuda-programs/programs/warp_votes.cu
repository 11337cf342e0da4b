// Votes: all, any, ballot, uni, active masks in branches, lane masks.
#include "check.h"

__global__ void votes(const int *in, unsigned *out) {
	int lane = threadIdx.x % 32, i = threadIdx.x;
	int v = in[i];
	unsigned r = 0;
	r |= __all_sync(0xffffffffu, v >= 0) ? 1 : 0;
	r |= __any_sync(0xffffffffu, v > 90) ? 2 : 0;
	r |= __all_sync(0xffffffffu, v == in[i / 32 * 32]) ? 4 : 0;
	out[i * 4] = r;
	out[i * 4 + 1] = __ballot_sync(0xffffffffu, v % 2);
	unsigned even = 0;
	if (v % 2 == 0) {
		even = __activemask();
		even |= __ballot_sync(even, v % 4 == 0) & 0u;
	}
	out[i * 4 + 2] = even;
	unsigned below = (1u << lane) - 1;
	out[i * 4 + 3] = __popc(out[i * 4 + 1] & below);
}

int main() {
	const int n = 128;
	int in[n], *d;
	unsigned out[n][4], *o;
	for (int i = 0; i < n; i++) in[i] = i < 32 ? i * 37 % 100 : i < 64 ? 8 : i < 96 ? i - 70 : i * i % 50;
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	votes<<<1, n>>>(d, o);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int w = 0; w < n; w += 32) {
		bool all = true, any = false, same = true;
		unsigned odd = 0;
		for (int i = w; i < w + 32; i++) {
			all &= in[i] >= 0;
			any |= in[i] > 90;
			same &= in[i] == in[w];
			odd |= (unsigned)(in[i] % 2 != 0) << (i - w);
		}
		for (int i = w; i < w + 32; i++) {
			ok &= out[i][0] == (all | any << 1 | same << 2) && out[i][1] == odd;
			ok &= out[i][2] == (in[i] % 2 == 0 ? ~odd : 0) && out[i][3] == (unsigned)__builtin_popcount(odd & ((1u << (i - w)) - 1));
		}
	}
	return verdict(ok);
}
