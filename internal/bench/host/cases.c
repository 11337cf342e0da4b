/* The problems: sizes, inputs, launch shapes, and checks against a double (or exact) reference. */
#include "make.h"

/* ---- vecadd, saxpy ---- */
static int v_vecadd(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *a = BUFP(c, 1, float), *b = BUFP(c, 2, float);
  for (long i = 0; i < c->n; i++)
    if (!close_to(o[i], (double)a[i] + b[i], 1e-6, 0)) FAIL("at %ld: %g", i, o[i]);
  return 0;
}
static void n_vecadd(const Case *c) { nat_vecadd(BUFP(c, 0, float), BUFP(c, 1, float), BUFP(c, 2, float), c->n); }
static void m_vecadd(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 16 << 20 : sz == SZ_SMALL ? 1 << 20 : 1 << 14;
  c->work = 12.0 * n; c->unit = "bytes";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, fbuf(n, 1, -1, 1), n * 4, IN);
  addbuf(c, fbuf(n, 2, 0.5, 2), n * 4, IN);
  addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_vecadd; c->native = n_vecadd;
}
static int v_saxpy(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *y = c->buf[0].init, *x = BUFP(c, 1, float);
  for (long i = 0; i < c->n; i++)
    if (!close_to(o[i], (double)0.3f * x[i] + y[i], 1e-6, 1e-7)) FAIL("at %ld: %g", i, o[i]);
  return 0;
}
static void n_saxpy(const Case *c) { nat_saxpy(BUFP(c, 0, float), BUFP(c, 1, float), 0.3f, c->n); }
static void m_saxpy(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 16 << 20 : sz == SZ_SMALL ? 1 << 20 : 1 << 14;
  c->work = 12.0 * n; c->unit = "bytes"; c->idem = 0;
  addbuf(c, fbuf(n, 3, -1, 1), n * 4, INOUT);
  addbuf(c, fbuf(n, 4, -1, 1), n * 4, IN);
  addf(c, 0.3f); addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_saxpy; c->native = n_saxpy;
}

/* ---- mandelbrot: float and double disagree on a few boundary pixels ---- */
#define MB_MAX 256
static int v_mandel(const Case *c, char *msg, size_t len) {
  const int *o = BUFP(c, 0, int);
  int w = c->arg[1].v.i, h = c->arg[2].v.i;
  float x0 = c->arg[3].v.f, y0 = c->arg[4].v.f, dx = c->arg[5].v.f, dy = c->arg[6].v.f;
  long differ = 0, far = 0; double sum = 0, want = 0;
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      double cx = (double)x0 + (double)x * dx, cy = (double)y0 + (double)y * dy, zx = 0, zy = 0;
      int it = 0;
      while (it < MB_MAX && zx * zx + zy * zy <= 4.0) {
        double t = zx * zx - zy * zy + cx;
        zy = 2 * zx * zy + cy; zx = t; it++;
      }
      int g = o[y * w + x];
      if (g < 0 || g > MB_MAX) FAIL("pixel %d,%d: %d", x, y, g);
      differ += g != it; far += abs(g - it) > 2; sum += g; want += it;
    }
  if (differ > 0.02 * w * h || !close_to(sum, want, 0.002, 0)) FAIL("%ld pixels differ (%ld by more than 2)", differ, far);
  return 0;
}
static void n_mandel(const Case *c) {
  nat_mandelbrot(BUFP(c, 0, int), c->arg[1].v.i, c->arg[2].v.i, c->arg[3].v.f, c->arg[4].v.f, c->arg[5].v.f, c->arg[6].v.f, MB_MAX);
}
static void m_mandel(Case *c, int sz) {
  int w = sz == SZ_FULL ? 2048 : sz == SZ_SMALL ? 256 : 64;
  c->n = w; c->unit = "pixels"; c->work = (double)w * w;
  addbuf(c, zbuf((size_t)w * w * 4), (size_t)w * w * 4, OUT);
  addi(c, w); addi(c, w);
  addf(c, -2.0f); addf(c, -1.25f); addf(c, 2.5f / w); addf(c, 2.5f / w);
  addi(c, MB_MAX);
  shape(c, w / 16, w / 16, 16, 16);
  c->verify = v_mandel; c->native = n_mandel;
}

/* ---- nbody ---- */
static int v_nbody(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *p = BUFP(c, 1, float);
  long n = c->n, step = n / 128;
  for (long i = 0; i < n; i += step) {
    double a[3] = {0, 0, 0}, mag = 0;
    for (long j = 0; j < n; j++) {
      double r[3], d2 = c->arg[3].v.f;
      for (int k = 0; k < 3; k++) { r[k] = (double)p[4 * j + k] - p[4 * i + k]; d2 += r[k] * r[k]; }
      double s = p[4 * j + 3] / (d2 * sqrt(d2));
      for (int k = 0; k < 3; k++) { a[k] += r[k] * s; mag += fabs(r[k] * s); }
    }
    for (int k = 0; k < 3; k++)
      if (!close_to(o[4 * i + k], a[k], 1e-4, 1e-5 * mag)) FAIL("body %ld axis %d: %g not %g", i, k, o[4 * i + k], a[k]);
  }
  return 0;
}
static void n_nbody(const Case *c) { nat_nbody(BUFP(c, 0, float), BUFP(c, 1, float), c->n, c->arg[3].v.f); }
static void m_nbody(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 8192 : sz == SZ_SMALL ? 1024 : 256;
  c->work = (double)n * n; c->unit = "interactions";
  addbuf(c, zbuf(n * 16), n * 16, OUT);
  addbuf(c, fbuf(n * 4, 5, 0.01f, 1), n * 16, IN);
  addi(c, n); addf(c, 0.01f);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_nbody; c->native = n_nbody;
}

/* ---- sgemm ---- */
static int v_gemm(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *a = BUFP(c, 1, float), *b = BUFP(c, 2, float);
  long n = c->n, samples = n * n < 8192 ? n * n : 8192;
  for (long s = 0; s < samples; s++) {
    long at = samples == n * n ? s : mix(s, 77) % (n * n), i = at / n, j = at % n;
    double w = 0, mag = 0;
    for (long k = 0; k < n; k++) { double t = (double)a[i * n + k] * b[k * n + j]; w += t; mag += fabs(t); }
    if (!close_to(o[at], w, 0, 2e-6 * mag)) FAIL("at %ld,%ld: %g not %g", i, j, o[at], w);
  }
  return 0;
}
static void n_naive(const Case *c) { nat_sgemm_naive(BUFP(c, 0, float), BUFP(c, 1, float), BUFP(c, 2, float), c->n); }
static void n_tiled(const Case *c) { nat_sgemm_tiled(BUFP(c, 0, float), BUFP(c, 1, float), BUFP(c, 2, float), c->n); }
static void m_gemm(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 1024 : sz == SZ_SMALL ? 128 : 64;
  c->work = 2.0 * n * n * n; c->unit = "flops";
  addbuf(c, zbuf(n * n * 4), n * n * 4, OUT);
  addbuf(c, fbuf(n * n, 6, -1, 1), n * n * 4, IN);
  addbuf(c, fbuf(n * n, 7, -1, 1), n * n * 4, IN);
  addi(c, n);
  shape(c, n / 16, n / 16, 16, 16);
  c->verify = v_gemm;
  c->native = !strcmp(c->name, "sgemm_naive") ? n_naive : n_tiled;
}

/* ---- reductions: one partial sum for every 512 elements ---- */
static int v_reduce(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *x = BUFP(c, 1, float);
  for (long b = 0; b < c->n / 512; b++) {
    double w = 0;
    for (int k = 0; k < 512; k++) w += x[b * 512 + k];
    if (!close_to(o[b], w, 2e-6, 0)) FAIL("block %ld: %g not %g", b, o[b], w);
  }
  return 0;
}
static void n_reduce(const Case *c) { nat_reduce(BUFP(c, 0, float), BUFP(c, 1, float), c->n); }
static void m_reduce(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 16 << 20 : sz == SZ_SMALL ? 1 << 18 : 1 << 14;
  c->work = n; c->unit = "elements";
  addbuf(c, zbuf(n / 512 * 4), n / 512 * 4, OUT);
  addbuf(c, fbuf(n, 8, 0, 1), n * 4, IN);
  addi(c, n);
  shape(c, n / 512, 1, 256, 1);
  c->verify = v_reduce; c->native = n_reduce;
}

/* ---- histograms of bytes ---- */
static int v_hist(const Case *c, char *msg, size_t len) {
  const uint32_t *o = BUFP(c, 0, uint32_t); const uint8_t *x = BUFP(c, 1, uint8_t);
  uint32_t want[256] = {0};
  for (long i = 0; i < c->n; i++) want[x[i]]++;
  for (int b = 0; b < 256; b++) if (o[b] != want[b]) FAIL("bin %d: %u not %u", b, o[b], want[b]);
  return 0;
}
static void n_hist(const Case *c) { nat_hist(BUFP(c, 0, uint32_t), BUFP(c, 1, uint8_t), c->n); }
static void m_hist(Case *c, int sz) {
  int shared = !strcmp(c->name, "hist_shared");
  long n = c->n = sz == SZ_FULL ? 16 << 20 : sz == SZ_SMALL ? 1 << 20 : 1 << 16;
  c->work = n; c->unit = "elements"; c->idem = 0;
  uint32_t *x = zbuf(n);
  for (long i = 0; i < n / 4; i++) x[i] = mix(i, 9);
  addbuf(c, zbuf(1024), 1024, INOUT);
  addbuf(c, x, n, IN);
  addi(c, n / 4);
  if (shared) shape(c, sz == SZ_FULL ? 256 : sz == SZ_SMALL ? 64 : 16, 1, 256, 1);
  else shape(c, n / 4 / 256, 1, 256, 1);
  c->verify = v_hist; c->native = n_hist;
}

/* ---- transpose ---- */
static int v_transpose(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *x = BUFP(c, 1, float);
  long n = c->n;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) if (o[i * n + j] != x[j * n + i]) FAIL("at %ld,%ld", i, j);
  return 0;
}
static void n_transpose(const Case *c) { nat_transpose(BUFP(c, 0, float), BUFP(c, 1, float), c->n); }
static void m_transpose(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 4096 : sz == SZ_SMALL ? 512 : 128;
  c->work = 8.0 * n * n; c->unit = "bytes";
  addbuf(c, zbuf(n * n * 4), n * n * 4, OUT);
  addbuf(c, fbuf(n * n, 10, -1, 1), n * n * 4, IN);
  addi(c, n);
  shape(c, n / 32, n / 32, 32, 8);
  c->verify = v_transpose; c->native = n_transpose;
}

/* ---- stencil ---- */
static int v_stencil(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *x = BUFP(c, 1, float);
  long n = c->n; double a = c->arg[4].v.f, b = c->arg[5].v.f;
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++) {
      long k = i * n + j; double w = 0;
      if (i > 0 && j > 0 && i < n - 1 && j < n - 1)
        w = a * x[k] + b * ((double)x[k - 1] + x[k + 1] + x[k - n] + x[k + n]);
      if (!close_to(o[k], w, 1e-5, 1e-6)) FAIL("at %ld,%ld: %g not %g", i, j, o[k], w);
    }
  return 0;
}
static void n_stencil(const Case *c) { nat_stencil5(BUFP(c, 0, float), BUFP(c, 1, float), c->n, c->n, 0.5f, 0.125f); }
static void m_stencil(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 4096 : sz == SZ_SMALL ? 512 : 128;
  c->work = (double)n * n; c->unit = "points";
  addbuf(c, zbuf(n * n * 4), n * n * 4, INOUT); /* the border keeps its zeros */
  addbuf(c, fbuf(n * n, 11, -1, 1), n * n * 4, IN);
  addi(c, n); addi(c, n); addf(c, 0.5f); addf(c, 0.125f);
  shape(c, n / 32, n / 8, 32, 8);
  c->verify = v_stencil; c->native = n_stencil;
}

/* ---- black-scholes ---- */
static double cndd(double d) { return 0.5 * erfc(-d * M_SQRT1_2); }
static int v_bs(const Case *c, char *msg, size_t len) {
  const float *call = BUFP(c, 0, float), *put = BUFP(c, 1, float), *S = BUFP(c, 2, float), *X = BUFP(c, 3, float), *T = BUFP(c, 4, float);
  double R = c->arg[5].v.f, V = c->arg[6].v.f;
  for (long i = 0; i < c->n; i += c->n > 65536 ? 13 : 1) {
    double sq = sqrt(T[i]), d1 = (log((double)S[i] / X[i]) + (R + 0.5 * V * V) * T[i]) / (V * sq), d2 = d1 - V * sq;
    double e = exp(-R * T[i]), wc = S[i] * cndd(d1) - X[i] * e * cndd(d2), wp = X[i] * e * cndd(-d2) - S[i] * cndd(-d1);
    if (!close_to(call[i], wc, 1e-4, 1e-3) || !close_to(put[i], wp, 1e-4, 1e-3)) FAIL("option %ld: %g %g not %g %g", i, call[i], put[i], wc, wp);
  }
  return 0;
}
static void n_bs(const Case *c) {
  nat_blackscholes(BUFP(c, 0, float), BUFP(c, 1, float), BUFP(c, 2, float), BUFP(c, 3, float), BUFP(c, 4, float), 0.02f, 0.3f, c->n);
}
static void m_bs(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 4 << 20 : sz == SZ_SMALL ? 1 << 16 : 1 << 13;
  c->work = n; c->unit = "options";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, fbuf(n, 12, 5, 30), n * 4, IN);
  addbuf(c, fbuf(n, 13, 1, 100), n * 4, IN);
  addbuf(c, fbuf(n, 14, 0.25f, 10), n * 4, IN);
  addf(c, 0.02f); addf(c, 0.3f); addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_bs; c->native = n_bs;
}

/* ---- integer hashes ---- */
#define H_ITERS 128
#define H_SEED 0x0123456789abcdefull
static int v_hash(const Case *c, char *msg, size_t len) {
  const uint64_t *o = BUFP(c, 0, uint64_t);
  for (long i = 0; i < c->n; i += c->n > 65536 ? 101 : 1) {
    uint64_t x = H_SEED + (uint64_t)i * 0x9E3779B97F4A7C15ull, h = 0xcbf29ce484222325ull;
    for (int k = 0; k < H_ITERS; k++) {
      x ^= x << 13; x ^= x >> 7; x ^= x << 17;
      h += x; h = (h << 31) | (h >> 33); h *= 0x100000001b3ull; h ^= h >> 29;
    }
    if (o[i] != (h ^ x)) FAIL("at %ld", i);
  }
  return 0;
}
static void n_hash(const Case *c) { nat_hash64(BUFP(c, 0, uint64_t), H_SEED, H_ITERS, c->n); }
static void m_hash(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 1 << 20 : sz == SZ_SMALL ? 1 << 14 : 1 << 10;
  c->work = (double)n * H_ITERS; c->unit = "rounds";
  addbuf(c, zbuf(n * 8), n * 8, OUT);
  addq(c, H_SEED); addi(c, H_ITERS); addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_hash; c->native = n_hash;
}
/* textbook SHA-256, written apart from the kernels' macro */
static uint32_t sha_ref(uint32_t seed, uint32_t i) {
  static uint32_t K[64];
  if (!K[0]) { /* first 32 bits of the fractional parts of the cube roots of the first 64 primes */
    int k = 0;
    for (int p = 2; k < 64; p++) {
      int prime = 1;
      for (int d = 2; d * d <= p; d++) if (p % d == 0) prime = 0;
      if (prime) { long double r = cbrtl((long double)p); K[k++] = (uint32_t)((r - floorl(r)) * 4294967296.0L); }
    }
  }
  uint32_t w[64] = {seed ^ i, i * 0x9E3779B1u, 0x80000000u}, s[8] = {0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au, 0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u};
  w[15] = 64;
#define RR(x, r) (((x) >> (r)) | ((x) << (32 - (r))))
  for (int t = 16; t < 64; t++)
    w[t] = w[t - 16] + (RR(w[t - 15], 7) ^ RR(w[t - 15], 18) ^ (w[t - 15] >> 3)) + w[t - 7] + (RR(w[t - 2], 17) ^ RR(w[t - 2], 19) ^ (w[t - 2] >> 10));
  for (int t = 0; t < 64; t++) {
    uint32_t t1 = s[7] + (RR(s[4], 6) ^ RR(s[4], 11) ^ RR(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[t] + w[t];
    uint32_t t2 = (RR(s[0], 2) ^ RR(s[0], 13) ^ RR(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    memmove(s + 1, s, 28);
    s[4] += t1; s[0] = t1 + t2;
  }
  return s[0] + 0x6a09e667u;
}
static int v_sha(const Case *c, char *msg, size_t len) {
  const uint32_t *o = BUFP(c, 0, uint32_t);
  for (long i = 0; i < c->n; i += c->n > 65536 ? 101 : 1) if (o[i] != sha_ref(12345, i)) FAIL("at %ld", i);
  return 0;
}
static void n_sha(const Case *c) { nat_sha256(BUFP(c, 0, uint32_t), 12345, c->n); }
static void m_sha(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 1 << 20 : sz == SZ_SMALL ? 1 << 14 : 1 << 10;
  c->work = n; c->unit = "hashes";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addu(c, 12345); addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_sha; c->native = n_sha;
}

/* ---- launch latency ---- */
static int v_store(const Case *c, char *msg, size_t len) {
  const uint32_t *o = BUFP(c, 0, uint32_t);
  for (long i = 0; i < c->n; i++) if (o[i] != c->arg[1].v.u + i) FAIL("at %ld: %u", i, o[i]);
  return 0;
}
static void n_store(const Case *c) { nat_store(BUFP(c, 0, uint32_t), c->arg[1].v.u, c->n); }
static void m_store(Case *c, int sz) {
  c->unit = "launches"; c->work = 1; c->file = c->kernel = "store";
  c->verify = v_store; c->native = n_store;
  if (!strcmp(c->name, "store_1")) shape(c, 1, 1, 32, 1);
  else if (!strcmp(c->name, "store_1_batch")) { shape(c, 1, 1, 32, 1); c->launches = sz == SZ_FULL ? 1000 : 10; }
  else shape(c, sz == SZ_FULL ? 10000 : 100, 1, 256, 1);
  c->n = c->grid[0];
  addbuf(c, zbuf(c->n * 4), c->n * 4, OUT);
  addu(c, 0x9E3779B1u);
}

/* ---- big generated kernels ---- */
#ifndef BIG50K /* compiling it takes gcc a minute */
void big50k_ref(uint32_t *out, const uint32_t *in, int i, int mask) { exit(6); }
void nat_big50k(uint32_t *out, const uint32_t *in, int n) { exit(6); }
#endif
static int v_big(const Case *c, char *msg, size_t len) {
  void (*ref)(uint32_t *, const uint32_t *, int, int) = !strcmp(c->name, "big5k") ? big5k_ref : big50k_ref;
  const uint32_t *o = BUFP(c, 0, uint32_t), *x = BUFP(c, 1, uint32_t);
  for (long i = 0; i < c->n; i += c->n > 512 ? 31 : 1) {
    uint32_t w;
    ref(&w, x, i, 4095);
    if (o[i] != w) FAIL("at %ld: %u not %u", i, o[i], w);
  }
  return 0;
}
static void n_big(const Case *c) {
  (!strcmp(c->name, "big5k") ? nat_big5k : nat_big50k)(BUFP(c, 0, uint32_t), BUFP(c, 1, uint32_t), c->n);
}
static void m_big(Case *c, int sz) {
  int five = !strcmp(c->name, "big5k");
  long n = c->n = sz == SZ_FULL ? (five ? 1 << 17 : 1 << 14) : sz == SZ_SMALL ? 1024 : 256;
  c->unit = "threads"; c->work = n;
  uint32_t *x = zbuf(4096 * 4);
  for (int i = 0; i < 4096; i++) x[i] = mix(i, 15);
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, x, 4096 * 4, IN);
  addi(c, n); addi(c, 4095);
  shape(c, n / 128, 1, 128, 1);
  c->verify = v_big; c->native = n_big;
}

static const struct { const char *name; void (*make)(Case *, int); } table[] = {
  {"vecadd", m_vecadd}, {"saxpy", m_saxpy}, {"mandelbrot", m_mandel}, {"nbody", m_nbody},
  {"sgemm_naive", m_gemm}, {"sgemm_tiled", m_gemm}, {"reduce_shared", m_reduce}, {"reduce_shfl", m_reduce},
  {"hist_shared", m_hist}, {"hist_global", m_hist}, {"transpose", m_transpose}, {"stencil5", m_stencil},
  {"blackscholes", m_bs}, {"hash64", m_hash}, {"sha256", m_sha},
  {"matmul_f16", m_matmul}, {"matmul_bf16", m_matmul}, {"matmul_s8", m_matmul}, {"matmul_wmma", m_matmul},
  {"attention", m_attention}, {"softmax", m_rows}, {"layernorm", m_rows}, {"stencil7_f64", m_stencil7}, {"half_pairs", m_half_pairs}, {"scan", m_scan}, {"radix", m_radix}, {"bilinear", m_bilinear}, {"bilinear_rgba", m_bilinear},
  {"store_1", m_store}, {"store_1_batch", m_store}, {"store_10k", m_store},
  {"big5k", m_big}, {"big50k", m_big},
};
const int case_count = sizeof table / sizeof *table;
Case *case_make(int k, int size) {
  Case *c = calloc(1, sizeof *c);
  c->name = c->file = c->kernel = table[k].name;
  c->launches = 1; c->idem = 1;
  table[k].make(c, size);
  return c;
}
const char *case_name(int k) { return table[k].name; }
void case_reset(Case *c) {
  for (int i = 0; i < c->nbuf; i++) {
    if (c->buf[i].dir == INOUT) memcpy(c->buf[i].host, c->buf[i].init, c->buf[i].bytes);
    else if (c->buf[i].dir == OUT) memset(c->buf[i].host, 0, c->buf[i].bytes);
  }
}
void case_free(Case *c) {
  for (int i = 0; i < c->nbuf; i++) { free(c->buf[i].host); free(c->buf[i].init); }
  free(c);
}
