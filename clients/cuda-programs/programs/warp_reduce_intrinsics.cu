// __reduce_*_sync: add, min, max and bit operations over masks.
#include "check.h"

__global__ void reduce(const int *in, int *out) {
	int i = threadIdx.x, v = in[i];
	unsigned u = (unsigned)v;
	int *o = out + i * 8;
	o[0] = __reduce_add_sync(0xffffffffu, v);
	o[1] = __reduce_min_sync(0xffffffffu, v);
	o[2] = __reduce_max_sync(0xffffffffu, v);
	o[3] = (int)__reduce_max_sync(0xffffffffu, u);
	o[4] = (int)__reduce_and_sync(0xffffffffu, u | 0xf0);
	o[5] = (int)__reduce_or_sync(0xffffffffu, u & 0xff);
	o[6] = (int)__reduce_xor_sync(0xffffffffu, u);
	unsigned mask = i % 2 ? 0xaaaaaaaau : 0x55555555u;
	if (i % 2) o[7] = __reduce_add_sync(mask, v);
	else o[7] = __reduce_min_sync(mask, v);
}

int main() {
	int in[32], out[32][8], *d, *o;
	for (int i = 0; i < 32; i++) in[i] = (i * 2654435761u) >> 12 & 0xfffff;
	in[9] = -77;
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	reduce<<<1, 32>>>(d, o);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	int sum = 0, lo = in[0], hi = in[0], a = -1, r = 0, x = 0, odd = 0, even = in[0];
	unsigned top = 0;
	for (int i = 0; i < 32; i++) {
		sum += in[i];
		lo = std::min(lo, in[i]);
		hi = std::max(hi, in[i]);
		top = std::max(top, (unsigned)in[i]);
		a &= in[i] | 0xf0;
		r |= in[i] & 0xff;
		x ^= in[i];
		if (i % 2) odd += in[i];
		else even = std::min(even, in[i]);
	}
	bool ok = true;
	for (int i = 0; i < 32; i++) {
		const int want[8] = {sum, lo, hi, (int)top, a, r, x, i % 2 ? odd : even};
		for (int k = 0; k < 8; k++) ok &= out[i][k] == want[k];
	}
	return verdict(ok);
}
