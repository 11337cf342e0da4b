// The fast intrinsics, within the errors of the programming guide.
#include "check.h"

__global__ void run(const float *in, float *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	float x = in[i], *o = out + i * 10;
	o[0] = __sinf(x);
	o[1] = __cosf(x);
	__sincosf(x, &o[2], &o[3]);
	o[4] = __expf(x);
	o[5] = __logf(fabsf(x) + 2);
	o[6] = __powf(fabsf(x) + 1, 1.5f);
	o[7] = __fdividef(x, 3.0f);
	o[8] = __tanf(x / 4);
	o[9] = __saturatef(x) + __frsqrt_rn(x * x + 1) + __log2f(x * x + 3) + __exp10f(x / 4) + __log10f(x * x + 5);
}

int main() {
	const int n = 128;
	float in[n], *d, out[n][10], *o;
	for (int i = 0; i < n; i++) in[i] = (i - 64) * 0.048f;
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	run<<<1, n>>>(d, o, n);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		double x = in[i];
		const double last = fmin(fmax(x, 0), 1) + 1 / sqrt(x * x + 1) + log2(x * x + 3) + pow(10, x / 4) + log10(x * x + 5);
		const double want[10] = {sin(x), cos(x), sin(x), cos(x), exp(x), log(fabs(x) + 2), pow(fabs(x) + 1, 1.5), x / 3, tan(x / 4), last};
		for (int k = 0; k < 10; k++)
			if (!near(out[i][k], want[k], 3e-6)) {
				printf("%d of %g: %.9g, not %.9g\n", k, x, out[i][k], want[k]);
				ok = false;
			}
	}
	return verdict(ok);
}
