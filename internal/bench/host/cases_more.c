/* Problems of rows, doubles, halves, prefix sums and sorting. */
#include "make.h"

/* ---- rows of 1,024: softmax, layer norm ---- */
enum { ROW = 1024 };
static int v_softmax(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *x = BUFP(c, 1, float);
  for (long r = 0; r < c->n; r += c->n > 64 ? 31 : 1) {
    double s = 0;
    for (int i = 0; i < ROW; i++) s += exp(x[r * ROW + i]);
    for (int i = 0; i < ROW; i++)
      if (!close_to(o[r * ROW + i], exp(x[r * ROW + i]) / s, 1e-5, 0)) FAIL("row %ld at %d: %g", r, i, o[r * ROW + i]);
  }
  return 0;
}
static void n_softmax(const Case *c) { nat_softmax(BUFP(c, 0, float), BUFP(c, 1, float), c->n); }
static int v_layernorm(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float), *x = BUFP(c, 1, float), *g = BUFP(c, 2, float), *b = BUFP(c, 3, float);
  for (long r = 0; r < c->n; r += c->n > 64 ? 31 : 1) {
    double s = 0, v = 0;
    for (int i = 0; i < ROW; i++) s += x[r * ROW + i];
    s /= ROW;
    for (int i = 0; i < ROW; i++) v += (x[r * ROW + i] - s) * (x[r * ROW + i] - s);
    v = 1 / sqrt(v / ROW + c->arg[4].v.f);
    for (int i = 0; i < ROW; i++)
      if (!close_to(o[r * ROW + i], (x[r * ROW + i] - s) * v * g[i] + b[i], 1e-5, 1e-5)) FAIL("row %ld at %d: %g", r, i, o[r * ROW + i]);
  }
  return 0;
}
static void n_layernorm(const Case *c) { nat_layernorm(BUFP(c, 0, float), BUFP(c, 1, float), BUFP(c, 2, float), BUFP(c, 3, float), c->arg[4].v.f, c->n); }
void m_rows(Case *c, int sz) {
  int norm = !strcmp(c->name, "layernorm");
  long n = c->n = sz == SZ_FULL ? 8192 : sz == SZ_SMALL ? 256 : 16, size = n * ROW;
  c->work = size; c->unit = "elements";
  addbuf(c, zbuf(size * 4), size * 4, OUT);
  addbuf(c, fbuf(size, 23, -4, 4), size * 4, IN);
  if (norm) {
    addbuf(c, fbuf(ROW, 24, 0.5f, 2), ROW * 4, IN);
    addbuf(c, fbuf(ROW, 25, -1, 1), ROW * 4, IN);
    addf(c, 1e-5f);
  }
  shape(c, n, 1, 256, 1);
  c->verify = norm ? v_layernorm : v_softmax; c->native = norm ? n_layernorm : n_softmax;
}

/* ---- seven points of a cube of doubles ---- */
static double from_bits(uint64_t u) { double d; memcpy(&d, &u, 8); return d; }
static uint64_t to_bits(double d) { uint64_t u; memcpy(&u, &d, 8); return u; }
static int v_stencil7(const Case *c, char *msg, size_t len) {
  const double *o = BUFP(c, 0, double), *x = BUFP(c, 1, double);
  long n = c->n, p = n * n;
  for (long k = 0; k < n * p; k++) {
    long i = k % n, j = k / n % n, l = k / p;
    double w = 0;
    if (i > 0 && j > 0 && l > 0 && i < n - 1 && j < n - 1 && l < n - 1)
      w = 0.4 * x[k] + 0.1 * (x[k - p] + x[k + p] + x[k - 1] + x[k + 1] + x[k - n] + x[k + n]);
    if (!close_to(o[k], w, 1e-14, 1e-15)) FAIL("at %ld,%ld,%ld: %g not %g", l, j, i, o[k], w);
  }
  return 0;
}
static void n_stencil7(const Case *c) { nat_stencil7(BUFP(c, 0, double), BUFP(c, 1, double), c->n, from_bits(c->arg[3].v.q), from_bits(c->arg[4].v.q)); }
void m_stencil7(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 256 : sz == SZ_SMALL ? 64 : 32, size = n * n * n;
  double *x = zbuf(size * 8);
  for (long i = 0; i < size; i++) x[i] = mix(i, 26) * (1.0 / 4294967296);
  c->work = size; c->unit = "points";
  addbuf(c, zbuf(size * 8), size * 8, INOUT); /* the border keeps its zeros */
  addbuf(c, x, size * 8, IN);
  addi(c, n); addq(c, to_bits(0.4)); addq(c, to_bits(0.1));
  shape(c, n / 32, n / 8, 32, 8);
  c->verify = v_stencil7; c->native = n_stencil7;
}

/* ---- arithmetic of halves: 64 steps whose errors fade ---- */
static double half_value(uint16_t h) {
  int e = h >> 10 & 31;
  double m = e ? ldexp(1024 + (h & 1023), e - 25) : ldexp(h & 1023, -24);
  return h >> 15 ? -m : m;
}
static int v_half_pairs(const Case *c, char *msg, size_t len) {
  const uint16_t *o = BUFP(c, 0, uint16_t), *in = BUFP(c, 1, uint16_t);
  for (long i = 0; i < 2 * c->n; i += c->n > 65536 ? 101 : 1) {
    double x = half_value(in[i]), y = x;
    for (int k = 0; k < 64; k++) { double t = y * -0.625 + x; y = t > t * 0.5 ? t : t * 0.5; }
    if (!close_to(half_value(o[i]), y, 0, 5e-3)) FAIL("at %ld: %g not %g", i, half_value(o[i]), y);
  }
  return 0;
}
static void n_half_pairs(const Case *c) { nat_half_pairs(BUFP(c, 0, uint16_t), BUFP(c, 1, uint16_t), -0.625f, 0.5f, 2 * c->n); }
void m_half_pairs(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 4 << 20 : sz == SZ_SMALL ? 1 << 16 : 1 << 13;
  c->work = 2.0 * n * 64; c->unit = "steps";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, halves(2 * n, 27, 1024, 0), n * 4, IN);
  addu(c, 0xb900b900u); addu(c, 0x38003800u); addi(c, n);
  shape(c, n / 256, 1, 256, 1);
  c->verify = v_half_pairs; c->native = n_half_pairs;
}

/* ---- an inclusive prefix sum ---- */
static int v_scan(const Case *c, char *msg, size_t len) {
  const uint32_t *o = BUFP(c, 0, uint32_t), *x = BUFP(c, 1, uint32_t);
  uint32_t s = 0;
  for (long i = 0; i < c->n; i++) if (o[i] != (s += x[i])) FAIL("at %ld: %u not %u", i, o[i], s);
  return 0;
}
static void n_scan(const Case *c) { nat_scan(BUFP(c, 0, uint32_t), BUFP(c, 1, uint32_t), c->n); }
static uint32_t *words(long n, uint32_t seed) {
  uint32_t *x = zbuf(n * 4);
  for (long i = 0; i < n; i++) x[i] = mix(i, seed);
  return x;
}
void m_scan(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 16 << 20 : sz == SZ_SMALL ? 1 << 18 : 1 << 14, blocks = n / 2048;
  c->work = n; c->unit = "elements";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, words(n, 28), n * 4, IN);
  addbuf(c, zbuf(blocks * 8), blocks * 8, INOUT);
  addbuf(c, zbuf(4), 4, INOUT);
  shape(c, blocks, 1, 256, 1);
  c->verify = v_scan; c->native = n_scan;
}

/* ---- the scatter of a pass of a radix sort ---- */
enum { SHIFT = 8 };
static int v_radix(const Case *c, char *msg, size_t len) {
  const uint32_t *o = BUFP(c, 0, uint32_t), *x = BUFP(c, 1, uint32_t);
  uint32_t at[257] = {0};
  for (long i = 0; i < c->n; i++) at[(x[i] >> SHIFT & 255) + 1]++;
  for (int d = 0; d < 256; d++) at[d + 1] += at[d];
  for (long i = 0; i < c->n; i++) {
    uint32_t k = at[x[i] >> SHIFT & 255]++;
    if (o[k] != x[i]) FAIL("at %u: %u not %u", k, o[k], x[i]);
  }
  return 0;
}
static void n_radix(const Case *c) { nat_radix(BUFP(c, 0, uint32_t), BUFP(c, 1, uint32_t), BUFP(c, 2, uint32_t), SHIFT, c->grid[0]); }
void m_radix(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 8 << 20 : sz == SZ_SMALL ? 1 << 18 : 1 << 14, blocks = n / 2048;
  uint32_t *x = words(n, 29), *offsets = zbuf(blocks * 1024), at = 0;
  for (long i = 0; i < n; i++) offsets[i / 2048 * 256 + (x[i] >> SHIFT & 255)]++;
  for (int d = 0; d < 256; d++)
    for (long b = 0; b < blocks; b++) {
      uint32_t count = offsets[b * 256 + d];
      offsets[b * 256 + d] = at;
      at += count;
    }
  c->work = n; c->unit = "keys";
  addbuf(c, zbuf(n * 4), n * 4, OUT);
  addbuf(c, x, n * 4, IN);
  addbuf(c, offsets, blocks * 1024, IN);
  addi(c, SHIFT);
  shape(c, blocks, 1, 256, 1);
  c->verify = v_radix; c->native = n_radix;
}
