/* Problems of tensor cores: matrix products of small types. */
#include "make.h"

/* ---- C = A B with B stored by columns. Elements are multiples of 1/1024 (f16), 1/128 (bf16) or integers: exact in their type, as their products are in float. ---- */
static uint16_t half_bits(float x, int bf16) {
  uint32_t u;
  memcpy(&u, &x, 4);
  if (bf16) return u >> 16;
  return x == 0 ? 0 : (u >> 16 & 0x8000) | ((u >> 13 & 0x3ffff) - (112u << 10));
}
static float level(long i, uint32_t seed, int levels) { return ((float)(mix(i, seed) >> 8 & (2 * levels - 1)) - levels) / levels; }
void *halves(long n, uint32_t seed, int levels, int bf16) {
  uint16_t *p = zbuf(n * 2);
  for (long i = 0; i < n; i++) p[i] = half_bits(level(i, seed, levels), bf16);
  return p;
}
static int v_half(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float);
  int levels = !strcmp(c->name, "matmul_bf16") ? 128 : 1024;
  long n = c->n, samples = n * n < 4096 ? n * n : 4096;
  for (long s = 0; s < samples; s++) {
    long at = samples == n * n ? s : mix(s, 77) % (n * n), i = at / n, j = at % n;
    double w = 0, mag = 0;
    for (long k = 0; k < n; k++) { double t = (double)level(i * n + k, 21, levels) * level(j * n + k, 22, levels); w += t; mag += fabs(t); }
    if (!close_to(o[at], w, 0, 1e-5 * mag)) FAIL("at %ld,%ld: %g not %g", i, j, o[at], w);
  }
  return 0;
}
static int v_s8(const Case *c, char *msg, size_t len) {
  const int32_t *o = BUFP(c, 0, int32_t);
  const int8_t *a = BUFP(c, 1, int8_t), *b = BUFP(c, 2, int8_t);
  long n = c->n, samples = n * n < 4096 ? n * n : 4096;
  for (long s = 0; s < samples; s++) {
    long at = samples == n * n ? s : mix(s, 77) % (n * n), i = at / n, j = at % n;
    int32_t w = 0;
    for (long k = 0; k < n; k++) w += a[i * n + k] * b[j * n + k];
    if (o[at] != w) FAIL("at %ld,%ld: %d not %d", i, j, o[at], w);
  }
  return 0;
}
static void n_f16(const Case *c) { nat_matmul_half(BUFP(c, 0, float), BUFP(c, 1, uint16_t), BUFP(c, 2, uint16_t), c->n, 0); }
static void n_bf16(const Case *c) { nat_matmul_half(BUFP(c, 0, float), BUFP(c, 1, uint16_t), BUFP(c, 2, uint16_t), c->n, 1); }
static void n_s8(const Case *c) { nat_matmul_s8(BUFP(c, 0, int32_t), BUFP(c, 1, int8_t), BUFP(c, 2, int8_t), c->n); }
void m_matmul(Case *c, int sz) {
  long n = c->n = sz == SZ_FULL ? 1024 : sz == SZ_SMALL ? 128 : 64;
  int s8 = !strcmp(c->name, "matmul_s8"), bf16 = !strcmp(c->name, "matmul_bf16");
  c->work = 2.0 * n * n * n; c->unit = s8 ? "ops" : "flops";
  addbuf(c, zbuf(n * n * 4), n * n * 4, OUT);
  for (int k = 0; k < 2; k++) {
    if (s8) {
      int8_t *p = zbuf(n * n);
      for (long i = 0; i < n * n; i++) p[i] = mix(i, 21 + k) >> 8;
      addbuf(c, p, n * n, IN);
    } else addbuf(c, halves(n * n, 21 + k, bf16 ? 128 : 1024, bf16), n * n * 2, IN);
  }
  addi(c, n);
  shape(c, n / 64, n / 64, 128, 1);
  c->verify = s8 ? v_s8 : v_half;
  c->native = s8 ? n_s8 : bf16 ? n_bf16 : n_f16;
}

/* ---- attention: heads of rows of 64 halves ---- */
enum { DIM = 64 };
static int v_attention(const Case *c, char *msg, size_t len) {
  const float *o = BUFP(c, 0, float);
  int length = c->arg[4].v.i;
  double p[1024], scale = c->arg[5].v.f;
  for (long row = 0; row < c->n; row += c->n > 512 ? 61 : 1) {
    long head = row / length * length;
    double sum = 0;
    for (int j = 0; j < length; j++) {
      double s = 0;
      for (int d = 0; d < DIM; d++) s += (double)level(row * DIM + d, 30, 1024) * level((head + j) * DIM + d, 31, 1024);
      sum += p[j] = exp(s * scale);
    }
    for (int d = 0; d < DIM; d++) {
      double w = 0, mag = 0;
      for (int j = 0; j < length; j++) { double t = p[j] / sum * level((head + j) * DIM + d, 32, 1024); w += t; mag += fabs(t); }
      if (!close_to(o[row * DIM + d], w, 0, 1e-3 * mag)) FAIL("row %ld at %d: %g not %g", row, d, o[row * DIM + d], w);
    }
  }
  return 0;
}
static void n_attention(const Case *c) {
  nat_attention(BUFP(c, 0, float), BUFP(c, 1, uint16_t), BUFP(c, 2, uint16_t), BUFP(c, 3, uint16_t), c->grid[1], c->arg[4].v.i, c->arg[5].v.f);
}
void m_attention(Case *c, int sz) {
  int length = sz == SZ_FULL ? 1024 : sz == SZ_SMALL ? 256 : 128, heads = sz == SZ_FULL ? 8 : 2;
  long n = c->n = (long)heads * length, size = n * DIM;
  c->work = 4.0 * size * length; c->unit = "flops";
  addbuf(c, zbuf(size * 4), size * 4, OUT);
  for (int k = 0; k < 3; k++) addbuf(c, halves(size, 30 + k, 1024, 0), size * 2, IN);
  addi(c, length); addf(c, 0.5f);
  shape(c, length / 64, heads, 128, 1);
  c->verify = v_attention; c->native = n_attention;
}
