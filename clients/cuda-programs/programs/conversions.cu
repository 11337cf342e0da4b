// Conversions between integers and floating point, with all roundings and with saturation.
#include "check.h"
#include <climits>

__global__ void run(const double *in, long long *out, double *back, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	double x = in[i];
	float f = (float)x;
	long long *o = out + i * 12;
	o[0] = __double2int_rn(x);
	o[1] = __double2int_rz(x);
	o[2] = __double2int_ru(x);
	o[3] = __double2int_rd(x);
	o[4] = __double2ll_rn(x);
	o[5] = __double2uint_rz(x);
	o[6] = __float2int_rn(f);
	o[7] = __float2uint_rz(f);
	o[8] = __float2ll_rd(f);
	o[9] = __double_as_longlong(x);
	o[10] = __double2hiint(x);
	o[11] = __double2loint(x);
	back[i * 4 + 0] = __int2double_rn((int)o[0]);
	back[i * 4 + 1] = __ll2double_ru(o[9]);
	back[i * 4 + 2] = __ll2float_rd(o[9]);
	back[i * 4 + 3] = __hiloint2double((int)o[10], (int)o[11]);
}

template <class T> static T saturate(double v) {
	if (std::isnan(v)) return 0;
	if (v <= (double)std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
	if (v >= (double)std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
	return (T)v;
}

int main() {
	double in[] = {0, 0.5, 1.5, 2.5, -0.5, -1.5, 3.49, -3.51, 1e6 + 0.25, 2147483647.0, 2147483648.5, -2147483648.0, -1e10, 4294967295.5, 5e9, 1e18, -3e18, 1e20, INFINITY, -INFINITY, 1e-300};
	const int n = sizeof in / sizeof *in;
	double *d, *db, back[n][4];
	long long *o, out[n][12];
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&db, sizeof back));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	run<<<1, 32>>>(d, o, db, n);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(back, db, sizeof back, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		double x = in[i];
		float f = (float)x;
		long long bits;
		memcpy(&bits, &x, 8);
		const long long want[12] = {saturate<int>(nearbyint(x)), saturate<int>(trunc(x)), saturate<int>(ceil(x)), saturate<int>(floor(x)),
			saturate<long long>(nearbyint(x)), saturate<unsigned>(trunc(x)), saturate<int>(nearbyintf(f)), saturate<unsigned>(truncf(f)),
			saturate<long long>(floorf(f)), bits, (int)(bits >> 32), (int)bits};
		for (int k = 0; k < 12; k++)
			if (out[i][k] != want[k]) {
				printf("%d of %g: %lld, not %lld\n", k, x, out[i][k], want[k]);
				ok = false;
			}
		ok &= back[i][0] == (double)(int)out[i][0] && back[i][3] == x;
		ok &= (__int128)back[i][1] >= bits && (long double)back[i][1] - bits < 2048 && (long double)back[i][2] <= bits;
	}
	return verdict(ok);
}
