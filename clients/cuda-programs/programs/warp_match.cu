// __match_any_sync and __match_all_sync for 32- and 64-bit values, and floats.
#include "check.h"

__global__ void match(const unsigned long long *in, unsigned *out) {
	int i = threadIdx.x, all = 7, none = 7;
	unsigned long long v = in[i];
	out[i * 5 + 0] = __match_any_sync(0xffffffffu, (unsigned)v);
	out[i * 5 + 1] = __match_any_sync(0xffffffffu, v);
	out[i * 5 + 2] = __match_all_sync(0xffffffffu, (unsigned)(v >> 40), &all);
	unsigned m = __match_all_sync(0xffffffffu, v, &none);
	out[i * 5 + 3] = (all != 0) * 2 + (none != 0) + (m << 4);
	out[i * 5 + 4] = __match_any_sync(0xffffffffu, (float)(v % 4));
}

int main() {
	unsigned long long in[32], *d;
	unsigned out[32][5], *o;
	for (int i = 0; i < 32; i++) in[i] = (unsigned long long)(i % 3) << 33 | (i * 7 % 5);
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	match<<<1, 32>>>(d, o);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 32; i++) {
		unsigned low = 0, whole = 0, f = 0;
		for (int k = 0; k < 32; k++) {
			low |= (unsigned)((unsigned)in[k] == (unsigned)in[i]) << k;
			whole |= (unsigned)(in[k] == in[i]) << k;
			f |= (unsigned)(in[k] % 4 == in[i] % 4) << k;
		}
		ok &= out[i][0] == low && out[i][1] == whole && out[i][2] == 0xffffffffu && out[i][3] == 2 && out[i][4] == f;
	}
	return verdict(ok);
}
