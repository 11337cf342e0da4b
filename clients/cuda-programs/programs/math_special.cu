// Bessel, error, gamma and normal distribution functions, by identities and known values.
#include "check.h"

__global__ void run(double *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	double x = 0.3 + i * 0.37;
	double *o = out + i * 12;
	o[0] = j0(x);
	o[1] = j1(x);
	o[2] = jn(2, x);
	o[3] = y0(x);
	o[4] = y1(x);
	o[5] = yn(3, x);
	o[6] = erfinv(erf(x / 8));
	o[7] = erfcinv(erfc(x / 8));
	o[8] = normcdf(x / 4) + normcdf(-x / 4);
	o[9] = normcdfinv(normcdf(x / 4));
	o[10] = erfcx(x / 2);
	o[11] = tgamma(x + 1) / tgamma(x) - x;
}

int main() {
	const int n = 48;
	double *d, h[n][12];
	CHECK(cudaMalloc(&d, sizeof h));
	run<<<1, 64>>>(d, n);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		double x = 0.3 + i * 0.37, *r = h[i];
		const double want[12] = {j0(x), j1(x), jn(2, x), y0(x), y1(x), yn(3, x), x / 8, x / 8, 1, x / 4, exp(x * x / 4) * erfc(x / 2), 0};
		const double tolerance[12] = {1e-13, 1e-13, 1e-13, 1e-13, 1e-13, 1e-11, 1e-9, 1e-9, 1e-14, 1e-9, 1e-11, 1e-12};
		for (int k = 0; k < 12; k++)
			if (!near(r[k], want[k], tolerance[k])) {
				printf("%d of %g: %.17g, not %.17g\n", k, x, r[k], want[k]);
				ok = false;
			}
	}
	return verdict(ok);
}
