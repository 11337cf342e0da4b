// Functions of float against the host's in double precision, with errors within the programming guide's table.
#include "check.h"

#define FUNCTIONS(X) \
	X(expf, exp, 2) X(exp2f, exp2, 2) X(exp10f, exp10_, 2) X(expm1f, expm1, 1) X(logf, log, 1) X(log2f, log2, 1) X(log10f, log10, 2) X(log1pf, log1p, 1) \
	X(sinf, sin, 2) X(cosf, cos, 2) X(tanf, tan, 4) X(asinf, asin, 2) X(acosf, acos, 2) X(atanf, atan, 2) X(sinhf, sinh, 3) X(coshf, cosh, 2) \
	X(tanhf, tanh, 2) X(asinhf, asinh, 3) X(atanhf, atanh, 3) X(sqrtf, sqrt, 1) X(rsqrtf, rsqrt_, 2) X(cbrtf, cbrt, 1) X(erff, erf, 2) X(erfcf, erfc, 4) \
	X(sinpif, sinpi_, 1) X(cospif, cospi_, 1)

static double exp10_(double x) { return pow(10.0, x); }
static double rsqrt_(double x) { return 1 / sqrt(x); }
static double sinpi_(double x) { return sin(x * 3.14159265358979323846); }
static double cospi_(double x) { return cos(x * 3.14159265358979323846); }

#define COUNT(f, h, u) +1
const int functions = 0 FUNCTIONS(COUNT);

__global__ void evaluate(const float *in, float *out, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
	if (i >= n) return;
	float x = in[i];
#define EVALUATE(f, h, u) out[k++ * n + i] = f(x);
	FUNCTIONS(EVALUATE)
}

int main() {
	const int n = 256;
	float in[n], *di, *dout;
	static float out[functions][n];
	for (int i = 0; i < n; i++) in[i] = i < 128 ? (i - 64) / 64.5f : i < 192 ? (i - 128) * 0.37f + 0.01f : -(i - 192) * 0.29f;
	CHECK(cudaMalloc(&di, sizeof in));
	CHECK(cudaMalloc(&dout, sizeof out));
	CHECK(cudaMemcpy(di, in, sizeof in, cudaMemcpyHostToDevice));
	evaluate<<<2, 128>>>(di, dout, n);
	CHECK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	int k = 0;
	auto compare = [&](const char *name, double (*f)(double), int ulps) {
		for (int i = 0; i < n; i++) {
			double want = f(in[i]), got = out[k][i];
			if (std::isnan(want) ? std::isnan(got) : std::isinf(want) ? got == want : fabs(want) > 3.4e38 ? std::isinf(got) : false) continue;
			double unit = fmax(ldexp(1, std::ilogb(want) - 23), 1.4e-45);
			bool zero = fabs(want) < 1e-13 && fabs(got) < 1e-13; // sine of pi times an integer
			if (!zero && !(fabs(got - want) <= (ulps + 0.6) * unit)) {
				printf("%s(%.9g) = %.9g, not %.9g\n", name, in[i], got, want);
				ok = false;
			}
		}
		k++;
	};
#define COMPARE(f, h, u) compare(#f, [](double x) { return (double)h(x); }, u);
	FUNCTIONS(COMPARE)
	return verdict(ok);
}
