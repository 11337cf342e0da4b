// Functions with more than one result, integer results and integer arguments.
#include "check.h"

struct R {
	float s, c, sp, cp, frac, whole, rem, fr, ld, sc;
	double ds, dc, dfrac, dwhole, nrm;
	int quo, ex, ilog;
	long long r1;
	long r2;
	int cls;
};

__global__ void run(const float *in, R *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	float x = in[i];
	R r;
	sincosf(x, &r.s, &r.c);
	sincospif(x, &r.sp, &r.cp);
	r.frac = modff(x, &r.whole);
	r.rem = remquof(x, 0.75f, &r.quo);
	r.quo &= 7;
	r.fr = frexpf(x, &r.ex);
	r.ld = ldexpf(x, i % 9 - 4);
	r.sc = scalbnf(x, 3);
	r.ilog = ilogbf(x);
	sincos((double)x, &r.ds, &r.dc);
	r.dfrac = modf((double)x, &r.dwhole);
	r.nrm = norm3d(x, 2.0, -3.0);
	r.r1 = llrint((double)x * 1.5);
	r.r2 = lroundf(x);
	r.cls = (isnan(x) ? 1 : 0) | (isinf(x) ? 2 : 0) | (isfinite(x) ? 4 : 0) | (signbit(x) ? 8 : 0);
	out[i] = r;
}

int main() {
	const int n = 40;
	float in[n], *d;
	R out[n], *o;
	for (int i = 0; i < n; i++) in[i] = (i - 17) * 0.391f;
	CHECK(cudaMalloc(&d, sizeof in));
	CHECK(cudaMalloc(&o, sizeof out));
	CHECK(cudaMemcpy(d, in, sizeof in, cudaMemcpyHostToDevice));
	run<<<1, 64>>>(d, o, n);
	CHECK(cudaMemcpy(out, o, sizeof out, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		float x = in[i], whole;
		const R &r = out[i];
		int quo, ex;
		const double pi = 3.14159265358979323846;
		ok &= near(r.s, sin(x), 3e-7) && near(r.c, cos(x), 3e-7) && near(r.sp, sin(pi * x), 3e-7) && near(r.cp, cos(pi * x), 3e-7);
		ok &= r.frac == modff(x, &whole) && r.whole == whole;
		ok &= r.rem == remquof(x, 0.75f, &quo) && r.quo == (quo & 7);
		ok &= r.fr == frexpf(x, &ex) && (x == 0 || r.ex == ex) && r.ld == ldexpf(x, i % 9 - 4) && r.sc == 8 * x;
		ok &= x == 0 || r.ilog == ilogbf(x);
		ok &= near(r.ds, sin((double)x), 1e-15) && near(r.dc, cos((double)x), 1e-15);
		ok &= r.dfrac == (double)x - trunc((double)x) && r.dwhole == trunc((double)x) && near(r.nrm, sqrt((double)x * x + 13), 1e-15);
		ok &= r.r1 == llrint((double)x * 1.5) && r.r2 == lroundf(x) && r.cls == (4 | (std::signbit(x) ? 8 : 0));
	}
	return verdict(ok);
}
