/* CUDA's own mathematical functions for host code: CUDA Math API reference. Those of float compute in double and round
   once. The inverse error functions refine a start value by Halley's method on erf and erfc. */
#ifndef __GOCUDA_MATH_HOST_H__
#define __GOCUDA_MATH_HOST_H__

#define __GOCUDA_HOST static __host__ __inline__

__GOCUDA_HOST double rsqrt(double x) { return 1.0 / ::sqrt(x); }
__GOCUDA_HOST double rcbrt(double x) { return 1.0 / ::cbrt(x); }
__GOCUDA_HOST double rhypot(double x, double y) { return 1.0 / ::hypot(x, y); }

/* x is first taken to [-1/2, 1/2] quarters, where the product with pi is exact to its last bit. */
__GOCUDA_HOST void sincospi(double x, double *s, double *c) {
	double n = ::rint(2.0 * x);
	double r = (x - 0.5 * n) * 3.14159265358979323846;
	double sr = ::sin(r), cr = ::cos(r);
	double q = n - 4.0 * ::floor(n / 4.0);
	if (!(__builtin_fabs(x) <= 1.7976931348623157e308)) { /* infinite or NaN */
		*s = *c = x - x;
	} else if (q == 0) {
		*s = sr, *c = cr;
	} else if (q == 1) {
		*s = cr, *c = 0.0 - sr;
	} else if (q == 2) {
		*s = 0.0 - sr, *c = 0.0 - cr;
	} else {
		*s = 0.0 - cr, *c = sr;
	}
	if (x == 0) *s = x;
}
__GOCUDA_HOST double sinpi(double x) { double s, c; sincospi(x, &s, &c); return s; }
__GOCUDA_HOST double cospi(double x) { double s, c; sincospi(x, &s, &c); return c; }

/* exp(x*x)*erfc(x): directly while erfc has bits, and by the continued fraction of Laplace beyond. */
__GOCUDA_HOST double erfcx(double x) {
	if (x < 10) return ::exp(x * x) * ::erfc(x);
	double f = 0;
	for (int k = 60; k >= 1; k--) f = 0.5 * k / (x + f);
	return 0.56418958354775628695 / (x + f);
}
__GOCUDA_HOST double erfcinv(double y) {
	if (!(y >= 0 && y <= 2)) return __builtin_nan("");
	if (y == 0) return __builtin_inf();
	if (y == 2) return -__builtin_inf();
	double p = y < 1 ? y : 2 - y;
	double t = ::sqrt(-2 * ::log(p / 2));
	double x = -0.70711 * ((2.30753 + t * 0.27061) / (1 + t * (0.99229 + t * 0.04481)) - t);
	for (int i = 0; i < 4; i++) {
		double e = ::erfc(x) - p;
		double d = 1.12837916709551257390 * ::exp(-x * x);
		if (d == 0) break;
		x += e / (d - x * e);
	}
	return y < 1 ? x : -x;
}
__GOCUDA_HOST double erfinv(double y) {
	if (!(y >= -1 && y <= 1)) return __builtin_nan("");
	if (y == 1) return __builtin_inf();
	if (y == -1) return -__builtin_inf();
	if (y > 0.5) return erfcinv(1 - y);
	if (y < -0.5) return -erfcinv(1 + y);
	double x = 0.88622692545275801365 * y;
	for (int i = 0; i < 6; i++) {
		double e = ::erf(x) - y;
		double d = 1.12837916709551257390 * ::exp(-x * x);
		x -= e / (d + x * e);
	}
	return x;
}
__GOCUDA_HOST double normcdf(double x) { return 0.5 * ::erfc(-0.70710678118654752440 * x); }
__GOCUDA_HOST double normcdfinv(double p) { return -1.41421356237309504880 * erfcinv(2 * p); }

/* Modified Bessel functions of the first kind by their power series; every term is positive. */
__GOCUDA_HOST double cyl_bessel_i0(double x) {
	double q = x * x / 4, t = 1, s = 1;
	for (int k = 1; k < 2000 && t > s * 1e-17; k++) s += t *= q / ((double)k * k);
	return s;
}
__GOCUDA_HOST double cyl_bessel_i1(double x) {
	double q = x * x / 4, t = x / 2, s = t;
	for (int k = 1; k < 2000 && __builtin_fabs(t) > __builtin_fabs(s) * 1e-17; k++) s += t *= q / ((double)k * (k + 1));
	return s;
}
__GOCUDA_HOST double norm3d(double x, double y, double z) { return ::hypot(::hypot(x, y), z); }
__GOCUDA_HOST double norm4d(double x, double y, double z, double w) { return ::hypot(::hypot(x, y), ::hypot(z, w)); }
__GOCUDA_HOST double rnorm3d(double x, double y, double z) { return 1 / norm3d(x, y, z); }
__GOCUDA_HOST double rnorm4d(double x, double y, double z, double w) { return 1 / norm4d(x, y, z, w); }
__GOCUDA_HOST double norm(int n, const double *x) {
	double r = 0;
	for (int i = 0; i < n; i++) r = ::hypot(r, x[i]);
	return r;
}
__GOCUDA_HOST double rnorm(int n, const double *x) { return 1 / norm(n, x); }

#define __GOCUDA_HOST1(name)                                                  \
	__GOCUDA_HOST float name##f(float x) { return (float)name((double)x); }   \
	__GOCUDA_HOST float name(float x) { return name##f(x); }
__GOCUDA_HOST1(rsqrt)
__GOCUDA_HOST1(rcbrt)
__GOCUDA_HOST1(sinpi)
__GOCUDA_HOST1(cospi)
__GOCUDA_HOST1(erfcx)
__GOCUDA_HOST1(erfinv)
__GOCUDA_HOST1(erfcinv)
__GOCUDA_HOST1(normcdf)
__GOCUDA_HOST1(normcdfinv)
__GOCUDA_HOST1(cyl_bessel_i0)
__GOCUDA_HOST1(cyl_bessel_i1)
#undef __GOCUDA_HOST1
__GOCUDA_HOST float rhypotf(float x, float y) { return (float)rhypot((double)x, (double)y); }
__GOCUDA_HOST float rhypot(float x, float y) { return rhypotf(x, y); }
__GOCUDA_HOST float norm3df(float x, float y, float z) { return (float)norm3d(x, y, z); }
__GOCUDA_HOST float norm4df(float x, float y, float z, float w) { return (float)norm4d(x, y, z, w); }
__GOCUDA_HOST float rnorm3df(float x, float y, float z) { return (float)rnorm3d(x, y, z); }
__GOCUDA_HOST float rnorm4df(float x, float y, float z, float w) { return (float)rnorm4d(x, y, z, w); }
__GOCUDA_HOST float normf(int n, const float *x) {
	double r = 0;
	for (int i = 0; i < n; i++) r = ::hypot(r, x[i]);
	return (float)r;
}
__GOCUDA_HOST float rnormf(int n, const float *x) {
	double r = 0;
	for (int i = 0; i < n; i++) r = ::hypot(r, x[i]);
	return (float)(1 / r);
}
__GOCUDA_HOST void sincospif(float x, float *s, float *c) {
	double ds, dc;
	sincospi((double)x, &ds, &dc);
	*s = (float)ds, *c = (float)dc;
}
__GOCUDA_HOST void sincospi(float x, float *s, float *c) { sincospif(x, s, c); }
#if defined(__GLIBC__)
__GOCUDA_HOST void sincos(float x, float *s, float *c) { ::sincosf(x, s, c); }
__GOCUDA_HOST float exp10(float x) { return ::exp10f(x); }
#else
__GOCUDA_HOST double exp10(double x) { return ::pow(10.0, x); }
__GOCUDA_HOST float exp10f(float x) { return (float)::pow(10.0, (double)x); }
__GOCUDA_HOST float exp10(float x) { return exp10f(x); }
__GOCUDA_HOST void sincos(double x, double *s, double *c) { *s = ::sin(x), *c = ::cos(x); }
__GOCUDA_HOST void sincosf(float x, float *s, float *c) { *s = ::sinf(x), *c = ::cosf(x); }
__GOCUDA_HOST void sincos(float x, float *s, float *c) { sincosf(x, s, c); }
#endif

#undef __GOCUDA_HOST
#endif
