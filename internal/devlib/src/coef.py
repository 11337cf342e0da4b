#!/usr/bin/env python3
"""Writes coef.h: the polynomials of the device math library, fitted here by Remez's exchange algorithm.

    python3 coef.py > coef.h      needs mpmath (1.4.1 was used); a few minutes

A polynomial approximates f on [a, b] with the smallest largest error weighted by w (1/f for relative errors). Its
coefficients are rounded one after the other, each followed by a new fit of the rest, so that rounding costs little.
The line above each table says the largest weighted error, as a power of two, of the rounded polynomial.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve
import mpmath as m

mp.dps = 50


def dbl(x):
    return mpf(float(x))


def flt(x):
    import struct
    return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])


def remez(f, w, a, b, n, known=(), rounds=12):
    """Fit coefficients len(known)..n of a polynomial whose first ones are known; returns all and the error."""
    free = list(range(len(known), n + 1))
    k = len(free)
    grid = [(a + b) / 2 - (b - a) / 2 * m.cos(m.pi * i / (16 * (k + 1))) for i in range(16 * (k + 1) + 1)]
    fv = [f(x) for x in grid]
    wv = [w(x) for x in grid]
    rest = [fv[i] - m.polyval(list(reversed(known)) or [mpf(0)], grid[i]) for i in range(len(grid))]
    # an end where all free terms vanish carries no equation
    usable = [i for i in range(len(grid)) if not (free[0] > 0 and abs(grid[i]) < (b - a) / 1000)]
    at = [usable[round(j * (len(usable) - 1) / k)] for j in range(k + 1)] if k else [usable[-1]]
    best = None
    for _ in range(rounds):
        A = matrix(k + 1, k + 1)
        B = matrix(k + 1, 1)
        for r, i in enumerate(at):
            for c, e in enumerate(free):
                A[r, c] = grid[i] ** e * wv[i]
            A[r, k] = (-1) ** r
            B[r] = rest[i] * wv[i]
        s = lu_solve(A, B)
        coef = list(known) + [s[c] for c in range(k)]
        part = [s[c] for c in range(k)]
        err = [(rest[i] - grid[i] ** free[0] * m.polyval(list(reversed(part)), grid[i])) * wv[i]
               for i in range(len(grid))]
        worst = max(abs(e) for e in err)
        if best is None or worst < best[1]:
            best = (coef, worst)
        if worst <= abs(s[k]) * mpf("1.02"):
            break
        # the largest error of each run of one sign
        peaks, cur = [], usable[0]
        for i in usable[1:]:
            if (err[i] >= 0) == (err[cur] >= 0):
                if abs(err[i]) > abs(err[cur]):
                    cur = i
            else:
                peaks.append(cur)
                cur = i
        peaks.append(cur)
        while len(peaks) > k + 1:
            if abs(err[peaks[0]]) < abs(err[peaks[-1]]):
                peaks.pop(0)
            else:
                peaks.pop()
        if len(peaks) < k + 1:
            break
        at = peaks
    return best


def fit(name, f, a, b, n, w=None, rnd=dbl, known=None, refit=0, comment=""):
    """One table. refit: how many leading coefficients are rounded one by one."""
    a, b = mpf(a), mpf(b)
    if w is None:
        w = lambda x: 1 / f(x)
    fixed = list(known or [])
    for _ in range(refit):
        c, _e = remez(f, w, a, b, n, fixed)
        fixed.append(rnd(c[len(fixed)]))
        if len(fixed) > n:
            break
    c, _e = remez(f, w, a, b, n, fixed) if len(fixed) <= n else (fixed, 0)
    c = [rnd(x) for x in c]
    worst = mpf(0)
    for i in range(1, 400):
        x = a + (b - a) * i / 400
        worst = max(worst, abs((m.polyval(list(reversed(c)), x) - f(x)) * w(x)))
    typ, suffix = ("double", "") if rnd is dbl else ("float", "f")
    out = ["/* %s on [%s, %s]: 2^%.1f */" % (comment or name, m.nstr(a, 6), m.nstr(b, 6),
                                             float(m.log(worst, 2)) if worst else -999)]
    out.append("TABLE %s %s[%d] = {" % (typ, name, len(c)))
    vals = [float(x).hex() + suffix for x in c]
    line = "\t"
    for v in vals:
        if len(line) + len(v) > 100:
            out.append(line.rstrip())
            line = "\t"
        line += v + ", "
    out.append(line.rstrip())
    out.append("};")
    text = "\n".join(out)
    print(text, flush=True)
    sys.stderr.write("%s deg %d: 2^%.1f\n" % (name, n, float(m.log(worst, 2)) if worst else -999))
    return c


def odd(f, z0=None):
    """(f(x)/x - 1)/x^2 as a function of z = x^2, by its limit at 0."""
    def g(z):
        z = max(z, mpf(10) ** -24)
        x = m.sqrt(z)
        return (f(x) / x - 1) / z
    return g


def at0(g, x0="1e-20"):
    return lambda x: g(x if abs(x) > mpf(x0) else mpf(x0))


def high(f):
    """Evaluates with twice the digits: the differences that f takes cancel."""
    def g(x):
        with mp.workdps(110):
            return f(x)
    return g


one = lambda x: mpf(1)
PI = m.pi


def erfcinv(y):
    """The inverse of erfc, for 0 < y <= 1, by Newton's method on the logarithm."""
    if y > mpf("0.01"):
        v = m.erfinv(1 - y)
    else:
        v = m.sqrt(-m.log(y))
    for _ in range(60):
        e = m.erfc(v)
        d = (m.log(e) - m.log(y)) * e / (2 / m.sqrt(PI) * m.exp(-v * v))
        v += d
        if abs(d) < mpf(10) ** -45:
            break
    return v


def erfinv_w(w):
    """erfinv(x)/x where w = -log(1-x^2)."""
    if w == 0:
        return m.sqrt(PI) / 2
    q = m.exp(-w)
    x = m.sqrt(-m.expm1(-w))
    y = q / (1 + x)
    return erfcinv(y) / x if w > mpf("1e-6") else m.erfinv(x) / x


def tail(s):
    """erfcinv(y) where s^2 = -log(y(2-y))."""
    w = s * s
    q = m.exp(-w)
    return erfcinv(q / (1 + m.sqrt(1 - q)))


def erfcx_t(K):
    def g(t):
        if t >= 1:
            return 2 / m.sqrt(PI)
        x = K * (1 + t) / (1 - t)
        if x > 40:  # asymptotic series
            s, term = mpf(1), mpf(1)
            for i in range(1, 60):
                term *= -(2 * i - 1) / (2 * x * x)
                s += term
                if abs(term) < mpf(10) ** -48:
                    break
            return (1 + 2 * x) * s / (x * m.sqrt(PI))
        return (1 + 2 * x) * m.exp(x * x) * m.erfc(x)
    return g


def zeros():
    return ([m.besseljzero(0, 1), m.besseljzero(0, 2)], [m.besseljzero(1, 1), m.besseljzero(1, 2)],
            [m.besselyzero(0, 1), m.besselyzero(0, 2), m.besselyzero(0, 3)], [m.besselyzero(1, 1), m.besselyzero(1, 2)])


def phase(n, what):
    def g(s):
        x = 8 / m.sqrt(max(s, mpf("1e-22")))
        j, y = m.besselj(n, x), m.bessely(n, x)
        if what == "M":
            return m.sqrt((j * j + y * y) * PI * x / 2)
        h = m.mpc(j, y) * m.expj(-(x - PI / 4 - n * PI / 2))
        return x * m.arg(h)
    return g


def pair(name, x):
    hi = dbl(x)
    print("#define %s_H %s" % (name, float(hi).hex()))
    print("#define %s_L %s" % (name, float(dbl(x - hi)).hex()))


def doubles():
    fit("exp_p", high(at0(lambda r: (m.exp(r) - 1 - r) / r ** 2)), "-0.3466", "0.3466", 10, one)
    fit("sin_s", high(odd(m.sin)), 0, "0.6169", 6, one)
    fit("cos_c", high(at0(lambda z: (m.cos(m.sqrt(z)) - 1 + z / 2) / z ** 2)), 0, "0.6169", 6, one)
    fit("log_q", high(at0(lambda z: ((2 * m.atanh(m.sqrt(z) / 2) / m.sqrt(z) - 1) / z - mpf(1) / 12) / z)),
        0, "0.1178", 8, one)
    fit("atan_a", high(odd(m.atan)), 0, 1, 20, one)
    fit("asin_r", high(odd(m.asin)), 0, "0.2501", 13, one)
    fit("asinh_r", high(odd(m.asinh)), 0, "0.2501", 13, one)
    fit("sinh_s", high(odd(m.sinh)), 0, "1.001", 7, one)
    fit("tanh_t", high(odd(m.tanh)), 0, "0.3026", 11, one)
    fit("erf_e", high(at0(lambda z: m.erf(m.sqrt(z)) / m.sqrt(z) - 1)), 0, 1, 14, one)
    fit("erfcx_p", erfcx_t(mpf(4)), -1, 1, 26, one)
    fit("lgam_b", at0(lambda t: m.loggamma(2 + t) / t, "1e-25"), "-0.76", "0.5", 23)
    fit("gam_g", lambda t: m.gamma(2 + t), "-0.5", "0.5", 20)
    fit("erfinv_c", erfinv_w, 0, "6.25", 23)
    fit("erfinv_t1", lambda v: tail(v + mpf("3.25")), "-0.76", "0.76", 18)
    fit("erfinv_t2", lambda v: tail(v + mpf("5.05")), "-1.06", "1.06", 16)
    fit("erfinv_t3", lambda v: tail(v + mpf("9.5")), "-3.5", "3.5", 20)
    fit("erfinv_t4", lambda v: tail(v + 20), "-7.1", "7.4", 20)
    j0z, j1z, y0z, y1z = zeros()
    for n, z in (("J0_Z1", j0z[0]), ("J0_Z2", j0z[1]), ("J1_Z1", j1z[0]), ("J1_Z2", j1z[1]), ("Y0_Z1", y0z[0]),
                 ("Y0_Z2", y0z[1]), ("Y0_Z3", y0z[2]), ("Y1_Z1", y1z[0]), ("Y1_Z2", y1z[1])):
        pair(n, z)

    fit("j0_a", lambda v: m.besselj(0, m.sqrt(8 * (1 + v))) / (8 * (1 + v) - j0z[0] ** 2), -1, 1, 13)
    fit("j0_b", lambda v: m.besselj(0, 2 * v + 6) / (2 * v + 6 - j0z[1]), -1, 1, 17)
    fit("j1_a", at0(lambda v: (m.besselj(1, m.sqrt(8 * (1 + v))) / m.sqrt(8 * (1 + v)) if v > -1 else mpf(1) / 2)
                    / (8 * (1 + v) - j1z[0] ** 2)), -1, 1, 13)
    fit("j1_b", lambda v: m.besselj(1, 2 * v + 6) / ((2 * v + 6 - j1z[0]) * (2 * v + 6 - j1z[1])), -1, 1, 17)
    fit("y0_r", at0(lambda u: m.bessely(0, m.sqrt(u)) - 2 / PI * m.log(m.sqrt(u)) * m.besselj(0, m.sqrt(u)), "1e-30"),
        0, "0.25", 7, one)
    fit("y0_a", lambda v: m.bessely(0, (v + 3) / 4) / ((v + 3) / 4 - y0z[0]), -1, 1, 22)
    fit("y0_b", lambda v: m.bessely(0, (v + 3) / 2) / ((v + 3) / 2 - y0z[0]), -1, 1, 22)
    fit("y0_c", lambda v: m.bessely(0, v + 3) / (v + 3 - y0z[1]), -1, 1, 22)
    fit("y0_d", lambda v: m.bessely(0, 2 * v + 6) / ((2 * v + 6 - y0z[1]) * (2 * v + 6 - y0z[2])), -1, 1, 23)

    def y1r(u):
        with mp.workdps(120):
            x = m.sqrt(u if u != 0 else mpf("1e-30"))
            return (m.bessely(1, x) - 2 / PI * (m.log(x) * m.besselj(1, x) - 1 / x)) / x
    fit("y1_r", y1r, 0, 1, 9, one)
    fit("y1_b", lambda v: m.bessely(1, (v + 3) / 2) / ((v + 3) / 2 - y1z[0]), -1, 1, 22)
    fit("y1_c", lambda v: m.bessely(1, v + 3) / (v + 3 - y1z[0]), -1, 1, 22)
    fit("y1_d", lambda v: m.bessely(1, 2 * v + 6) / (2 * v + 6 - y1z[1]), -1, 1, 23)
    for n in (0, 1):
        fit("bes_m%d" % n, phase(n, "M"), 0, 1, 14)
        fit("bes_t%d" % n, phase(n, "T"), 0, 1, 14)
    fit("i0_a", lambda z: m.besseli(0, 8 * m.sqrt(z)), 0, 1, 20)
    fit("i1_a", at0(lambda z: m.besseli(1, 8 * m.sqrt(z)) / (8 * m.sqrt(z)), "1e-40"), 0, 1, 20)
    lim = 1 / m.sqrt(2 * PI)
    for n in (0, 1):
        fit("i%d_b" % n, lambda t: m.besseli(n, 8 / t) * m.exp(-8 / t) * m.sqrt(8 / t) if t > mpf("1e-6")
            else lim * (1 - (4 * n * n - 1) * t / 64), 0, 1, 22)


def floats():
    F = dict(rnd=flt)
    fit("expm1f_p", high(at0(lambda r: (m.exp(r) - 1 - r) / r ** 2)), "-0.3466", "0.3466", 5, one, **F)
    fit("logf_p", high(at0(lambda f: (m.log(1 + f) - f + f * f / 2) / f ** 3)), "-0.2929", "0.4143", 8,
        lambda f: abs(f) + mpf("0.02"), **F)
    fit("sinf_s", high(odd(m.sin)), 0, "0.6169", 3, one, refit=2, **F)
    fit("cosf_c", high(at0(lambda z: (m.cos(m.sqrt(z)) - 1 + z / 2) / z ** 2)), 0, "0.6169", 3, one, refit=2, **F)
    fit("tanf_t", high(odd(m.tan)), 0, "0.6169", 6, one, refit=3, **F)
    fit("atanf_a", high(odd(m.atan)), 0, 1, 9, one, refit=4, **F)
    fit("asinf_r", high(odd(m.asin)), 0, "0.2501", 5, one, refit=3, **F)
    fit("asinhf_r", high(odd(m.asinh)), 0, "0.2501", 5, one, refit=3, **F)
    fit("sinhf_s", high(odd(m.sinh)), 0, "1.001", 3, one, refit=2, **F)
    fit("tanhf_t", high(odd(m.tanh)), 0, "0.3026", 4, one, refit=3, **F)
    fit("erff_e", high(at0(lambda z: m.erf(m.sqrt(z)) / m.sqrt(z) - 1)), 0, 1, 6, one, refit=3, **F)
    fit("erff_l", lambda v: m.log(m.erfc(v + mpf("2.5")), 2), "-1.5", "1.5", 7, lambda v: m.erfc(v + mpf("2.5")), **F)
    fit("erfcxf_p", erfcx_t(mpf(4)), -1, 1, 14, one, **F)
    fit("log2f_q", high(at0(lambda z: (m.atanh(m.sqrt(z) / 2) * 2 / m.sqrt(z) - 1) / z)), 0, "0.1178", 3, one,
        refit=2, **F)


def bits():
    """The bits of 2/pi after the point."""
    with mp.workprec(1400):
        v = int(m.floor(2 / m.pi * mpf(2) ** 1280))
    w = ["0x%016xull" % ((v >> (1280 - 64 * (i + 1))) & (2 ** 64 - 1)) for i in range(20)]
    print("#define TWO_OVER_PI \\\n\t" + ", \\\n\t".join(", ".join(w[i:i + 4]) for i in range(0, 20, 4)))


print("/* Code generated by coef.py; DO NOT EDIT. Fitted by Remez's algorithm; see there. */")
(doubles if "double" in sys.argv else floats if "float" in sys.argv else lambda: (doubles(), floats(), bits()))()
