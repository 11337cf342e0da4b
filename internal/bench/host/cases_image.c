/* Images that are turned, by bilinear sampling. */
#include "make.h"

#define COS 0.8f
#define SIN 0.6f
static int clamp(int i, int w) { return i < 0 ? 0 : i >= w ? w - 1 : i; }
/* The texels between which a pixel lies, and where; the tolerance is 2^-8 for each direction: a texture unit's weights have eight fractional bits. */
static void turned(int w, long at, long texel[4], double *x, double *y) {
  double h = w / 2.0, i = at % w + 0.5 - h, j = at / w + 0.5 - h;
  *x = COS * i - SIN * j + h - 0.5;
  *y = SIN * i + COS * j + h - 0.5;
  int l = floor(*x), t = floor(*y);
  for (int k = 0; k < 4; k++) texel[k] = (long)clamp(t + k / 2, w) * w + clamp(l + k % 2, w);
  *x -= l; *y -= t;
}
static double between(const double v[4], double x, double y) { return (1 - y) * ((1 - x) * v[0] + x * v[1]) + y * ((1 - x) * v[2] + x * v[3]); }
static int v_bilinear(const Case *c, char *msg, size_t len) {
  for (long at = 0; at < c->n * c->n; at++) {
    long texel[4];
    double x, y, v[4];
    turned(c->n, at, texel, &x, &y);
    for (int k = 0; k < 4; k++) v[k] = BUFP(c, 1, float)[texel[k]];
    if (!close_to(BUFP(c, 0, float)[at], between(v, x, y), 0, 1.0 / 128)) FAIL("at %ld: %g not %g", at, BUFP(c, 0, float)[at], between(v, x, y));
  }
  return 0;
}
static int v_rgba(const Case *c, char *msg, size_t len) {
  for (long at = 0; at < c->n * c->n; at++) {
    long texel[4];
    double x, y, v[4];
    turned(c->n, at, texel, &x, &y);
    for (int ch = 0; ch < 4; ch++) {
      for (int k = 0; k < 4; k++) v[k] = BUFP(c, 1, uint8_t)[4 * texel[k] + ch];
      int g = BUFP(c, 0, uint8_t)[4 * at + ch];
      if (!close_to(g, between(v, x, y), 0, 255.0 / 128 + 0.5)) FAIL("at %ld, channel %d: %d not %g", at, ch, g, between(v, x, y));
    }
  }
  return 0;
}
static void n_bilinear(const Case *c) { nat_bilinear(BUFP(c, 0, float), BUFP(c, 1, float), c->n, c->arg[3].v.f, COS, SIN); }
static void n_rgba(const Case *c) { nat_bilinear_rgba(BUFP(c, 0, uint32_t), BUFP(c, 1, uint32_t), c->n, c->arg[3].v.f, COS, SIN); }
void m_bilinear(Case *c, int sz) {
  int rgba = !strcmp(c->name, "bilinear_rgba");
  long w = c->n = sz == SZ_FULL ? 1024 : sz == SZ_SMALL ? 128 : 64;
  c->work = w * w; c->unit = "pixels";
  addbuf(c, zbuf(w * w * 4), w * w * 4, OUT);
  if (rgba) {
    uint32_t *x = zbuf(w * w * 4);
    for (long i = 0; i < w * w; i++) x[i] = mix(i, 31);
    addimage(c, x, w, 1);
  } else
    addimage(c, fbuf(w * w, 30, 0, 1), w, 0);
  addi(c, w); addf(c, rgba ? 1 / (float)w : w / 2.0f); addf(c, COS); addf(c, SIN);
  shape(c, w / 32, w / 8, 32, 8);
  c->verify = rgba ? v_rgba : v_bilinear; c->native = rgba ? n_rgba : n_bilinear;
}
