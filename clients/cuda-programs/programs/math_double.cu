// Functions of double against the host's, with two arguments too.
#include "check.h"

#define ONE(X) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) \
	X(asinh) X(acosh) X(atanh) X(sqrt) X(cbrt) X(erf) X(erfc) X(tgamma) X(lgamma) X(floor) X(ceil) X(trunc) X(round) X(rint) X(fabs) X(logb)
#define TWO(X) X(pow) X(atan2) X(hypot) X(fmod) X(remainder) X(fmin) X(fmax) X(fdim) X(copysign) X(nextafter)

#define COUNT(f) +1
const int functions = 0 ONE(COUNT) TWO(COUNT);

__global__ void evaluate(const double *a, const double *b, double *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
	if (i >= n) return;
	double x = a[i], y = b[i];
#define E1(f) out[k++ * n + i] = f(x);
#define E2(f) out[k++ * n + i] = f(x, y);
	ONE(E1)
	TWO(E2)
}

int main() {
	const int n = 96;
	double a[n], b[n], *da, *db, *dout;
	static double out[functions][n];
	for (int i = 0; i < n; i++) {
		a[i] = i < 48 ? (i - 24) / 23.7 : (i - 48) * 0.713 - 8.1;
		b[i] = (i * 17 % 31 - 15) * 0.61;
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	evaluate<<<3, 32>>>(da, db, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	int k = 0;
	auto compare = [&](const char *name, double got, double want, double x, double y) {
		bool same = std::isnan(want) ? std::isnan(got) : std::isinf(want) ? got == want : fabs(got - want) <= 2e-15 * fmax(fabs(want), 1e-3) * 8;
		if (!same) {
			printf("%s(%.17g, %.17g) = %.17g, not %.17g\n", name, x, y, got, want);
			ok = false;
		}
	};
#define C1(f) for (int i = 0; i < n; i++) compare(#f, out[k][i], std::f(a[i]), a[i], 0); k++;
#define C2(f) for (int i = 0; i < n; i++) compare(#f, out[k][i], std::f(a[i], b[i]), a[i], b[i]); k++;
	ONE(C1)
	TWO(C2)
	return verdict(ok);
}
