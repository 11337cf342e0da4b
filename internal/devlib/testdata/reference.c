/* Compares results with libquadmath: reference NAME ARGS SINGLE, and on the standard input records of ARGS arguments
 * and the result, doubles all. Prints the largest difference from the correctly rounded result in units in the last
 * place, the largest error itself, the record it belongs to, and the largest absolute error of arguments beyond 8. */
#include <math.h>
#include <quadmath.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef __float128 Q;

static Q erfcx(Q x) {
	if (x < 60)
		return expq(x * x) * erfcq(x);
	Q s = 1, t = 1;
	for (int i = 1; i < 20; i++)
		s += t *= -(2 * i - 1) / (2 * x * x);
	return s / (x * sqrtq(M_PIq));
}
static Q exp2_(Q x) { return exp2q(x); }
static Q exp10_(Q x) { return powq(10, x); }
static Q rcbrt(Q x) { return 1 / cbrtq(x); }
static Q rsqrt_(Q x) { return 1 / sqrtq(x); }
static Q turn(Q x, int quarter) {
	Q k = rintq(x * 2), r = (x - k / 2) * M_PIq;
	int n = ((int)fmodq(k, 4) + 4 + quarter) & 3;
	Q v = n & 1 ? cosq(r) : sinq(r);
	return n & 2 ? -v : v;
}
static Q sinpi_(Q x) { return turn(x, 0); }
static Q cospi_(Q x) { return turn(x, 1); }
static Q normcdf(Q x) { return erfcq(-x * M_SQRT1_2q) / 2; }
static Q erfcinv(Q y) {
	if (y > 1)
		return -erfcinv(2 - y);
	if (y == 1)
		return 0;
	if (!(y > 0))
		return y == 0 ? HUGE_VALQ : nanq("");
	Q v = y > 0.1Q ? (1 - y) * 0.886Q : sqrtq(-logq(y));
	for (int i = 0; i < 60; i++) {
		Q e = erfcq(v), d = M_2_SQRTPIq * expq(-v * v), s = y > 0.1Q ? (e - y) / d : (logq(e) - logq(y)) * e / d;
		v += s;
		if (fabsq(s) < 1e-32Q * fabsq(v))
			break;
	}
	return v;
}
static Q erfinv(Q x) {
	if (!(fabsq(x) <= 1))
		return nanq("");
	if (fabsq(x) >= 0.5Q)
		return x > 0 ? erfcinv(1 - x) : -erfcinv(1 + x);
	Q v = x * 0.886Q;
	for (int i = 0; i < 60 && x != 0; i++) {
		Q s = (erfq(v) - x) / (M_2_SQRTPIq * expq(-v * v));
		v -= s;
		if (fabsq(s) <= 1e-32Q * fabsq(v))
			break;
	}
	return v;
}
static Q normcdfinv(Q p) { return -erfcinv(2 * p) * M_SQRT2q; }
static Q bessel_i(int n, Q x) {
	Q t = n ? x / 2 : 1, s = 0, z = x * x / 4;
	for (int k = 1; k < 3000; k++) {
		s += t;
		t *= z / k / (k + n);
		if (fabsq(t) < 1e-36Q * fabsq(s))
			break;
	}
	return s + t;
}
static Q i0(Q x) { return bessel_i(0, x); }
static Q i1(Q x) { return bessel_i(1, x); }
static Q jn_(Q n, Q x) { return jnq((int)n, x); }
static Q yn_(Q n, Q x) { return ynq((int)n, x); }
static Q norm4(Q a, Q b, Q c, Q d) {
	return isinfq(a) || isinfq(b) || isinfq(c) || isinfq(d) ? HUGE_VALQ : sqrtq(a * a + b * b + c * c + d * d);
}
static Q norm3(Q a, Q b, Q c) { return norm4(a, b, c, 0); }
static Q rnorm3(Q a, Q b, Q c) { return 1 / norm3(a, b, c); }
static Q rnorm4(Q a, Q b, Q c, Q d) { return 1 / norm4(a, b, c, d); }
static Q rhypot(Q a, Q b) { return 1 / hypotq(a, b); }

static const struct {
	const char *name;
	void *f;
} table[] = {
    {"acos", acosq}, {"acosh", acoshq}, {"asin", asinq}, {"asinh", asinhq}, {"atan", atanq}, {"atanh", atanhq},
    {"cbrt", cbrtq}, {"cos", cosq}, {"cosh", coshq}, {"cospi", cospi_}, {"erf", erfq}, {"erfc", erfcq},
    {"erfcinv", erfcinv}, {"erfcx", erfcx}, {"erfinv", erfinv}, {"exp", expq}, {"exp10", exp10_},
    {"exp2", exp2_}, {"expm1", expm1q}, {"j0", j0q}, {"j1", j1q}, {"lgamma", lgammaq}, {"log", logq},
    {"log10", log10q}, {"log1p", log1pq}, {"log2", log2q}, {"normcdf", normcdf}, {"rcbrt", rcbrt},
    {"rsqrt", rsqrt_}, {"sin", sinq}, {"sinh", sinhq}, {"sinpi", sinpi_}, {"sqrt", sqrtq}, {"tan", tanq},
    {"tanh", tanhq}, {"tgamma", tgammaq}, {"y0", y0q}, {"y1", y1q}, {"normcdfinv", normcdfinv},
    {"cyl_bessel_i0", i0}, {"cyl_bessel_i1", i1}, {"atan2", atan2q}, {"fmod", fmodq}, {"hypot", hypotq},
    {"pow", powq}, {"remainder", remainderq}, {"rhypot", rhypot}, {"jn", jn_}, {"yn", yn_}, {"norm3d", norm3},
    {"rnorm3d", rnorm3}, {"norm4d", norm4}, {"rnorm4d", rnorm4},
};

static double ulp(double x, int single) {
	int e;
	frexp(x, &e);
	int least = single ? -149 : -1074, p = e - (single ? 24 : 53);
	return ldexp(1, p < least ? least : p);
}

int main(int argc, char **argv) {
	if (argc < 4)
		return 2;
	int args = atoi(argv[2]), single = atoi(argv[3]);
	void *f = 0;
	for (unsigned i = 0; i < sizeof table / sizeof *table; i++)
		if (!strcmp(table[i].name, argv[1]))
			f = table[i].f;
	if (!f)
		return 3;
	double v[5], worst = 0, error = 0, far = 0;
	long at = -1, n = 0;
	for (; fread(v, 8, args + 1, stdin) == (size_t)args + 1; n++) {
		double got = v[args];
		Q q = args == 1   ? ((Q(*)(Q))f)(v[0])
		      : args == 2 ? ((Q(*)(Q, Q))f)(v[0], v[1])
		      : args == 3 ? ((Q(*)(Q, Q, Q))f)(v[0], v[1], v[2])
		                  : ((Q(*)(Q, Q, Q, Q))f)(v[0], v[1], v[2], v[3]);
		double want = single ? (double)(float)q : (double)q;
		if (got == want || (got != got && want != want))
			continue;
		double u, e;
		if (got != got || want != want)
			u = e = INFINITY;
		else if (isinf(got) || isinf(want)) { /* the largest number is one unit from infinity */
			double big = single ? (double)3.40282346638528859812e38f : 1.79769313486231570815e308;
			u = e = fabs(isinf(got) ? want : got) == big ? 1 : INFINITY;
		} else {
			u = (double)(fabsq((Q)got - want) / ulp(want, single));
			e = (double)(fabsq((Q)got - q) / ulp(want, single));
		}
		if (fabs(v[args - 1]) >= 8 && fabs(got - want) > far)
			far = fabs((double)((Q)got - q));
		if (u > worst || (u == worst && e > error)) {
			worst = u;
			error = e;
			at = n;
		}
	}
	printf("%g %g %ld %ld %g\n", worst, error, at, n, far);
	return 0;
}
