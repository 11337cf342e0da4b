// Shuffles up, down, by index and by exclusive or, of every type, with widths and partial masks.
#include "check.h"

template <class T> __global__ void shuffles(T *out) {
	int lane = threadIdx.x;
	T v = (T)(lane * 3 + 1);
	out[0 * 32 + lane] = __shfl_sync(0xffffffffu, v, (lane * 5) % 32);
	out[1 * 32 + lane] = __shfl_up_sync(0xffffffffu, v, 3);
	out[2 * 32 + lane] = __shfl_down_sync(0xffffffffu, v, 5);
	out[3 * 32 + lane] = __shfl_xor_sync(0xffffffffu, v, 9);
	out[4 * 32 + lane] = __shfl_sync(0xffffffffu, v, lane + 2, 8);
	out[5 * 32 + lane] = __shfl_up_sync(0xffffffffu, v, 1, 4);
	out[6 * 32 + lane] = __shfl_down_sync(0xffffffffu, v, 2, 16);
	out[7 * 32 + lane] = __shfl_xor_sync(0xffffffffu, v, 1, 2);
	out[8 * 32 + lane] = 0;
	if (lane < 8) out[8 * 32 + lane] = __shfl_sync(0xffu, v, 7 - lane);
}

template <class T> bool test() {
	T *d, h[9][32];
	CHECK(cudaMalloc(&d, sizeof h));
	shuffles<<<1, 32>>>(d);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	CHECK(cudaFree(d));
	bool ok = true;
	for (int l = 0; l < 32; l++) {
		auto v = [](int lane) { return (T)(lane * 3 + 1); };
		ok &= h[0][l] == v(l * 5 % 32) && h[1][l] == v(l < 3 ? l : l - 3) && h[2][l] == v(l + 5 > 31 ? l : l + 5) && h[3][l] == v(l ^ 9);
		ok &= h[4][l] == v(l / 8 * 8 + (l + 2) % 8) && h[5][l] == v(l % 4 < 1 ? l : l - 1) && h[6][l] == v(l % 16 + 2 > 15 ? l : l + 2);
		ok &= h[7][l] == v(l ^ 1) && (l >= 8 || h[8][l] == v(7 - l));
	}
	return ok;
}

int main() {
	bool ok = test<int>() && test<unsigned>() && test<long>() && test<unsigned long>() && test<long long>() && test<unsigned long long>();
	ok = ok && test<float>() && test<double>();
	return verdict(ok);
}
