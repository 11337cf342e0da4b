/* Plain C + OpenMP forms of the problems of cases_image.c: 64 pixels at a time, in vectors but for the loads. */
#include "native.h"

enum { PART = 64 };
/* Where coordinates lie, in an image of width w: the texels before and behind, times step, and how far between them. */
static inline void place(const float *x, int w, int step, int *i0, int *i1, float *f) {
#pragma omp simd
  for (int k = 0; k < PART; k++) {
    int i = (int)x[k], j;
    i -= i > x[k]; /* floorf is not made vectors of without -fno-trapping-math */
    j = i + 1;
    f[k] = x[k] - i;
    i = i < 0 ? 0 : i;
    j = j < 0 ? 0 : j;
    i0[k] = (i < w ? i : w - 1) * step;
    i1[k] = (j < w ? j : w - 1) * step;
  }
}
void nat_bilinear(float *restrict out, const float *restrict image, int w, float h, float c, float s) {
#pragma omp parallel for schedule(static)
  for (int j = 0; j < w; j++)
    for (int i0 = 0; i0 < w; i0 += PART) {
      float y = j + 0.5f - h, x0 = h - 0.5f - s * y, y0 = h - 0.5f + c * y, fx[PART], fy[PART], v[4][PART], *o = out + (long)j * w + i0;
      int l0[PART], l1[PART], t0[PART], t1[PART];
#pragma omp simd
      for (int k = 0; k < PART; k++) {
        float x = i0 + k + 0.5f - h;
        v[0][k] = c * x + x0;
        v[1][k] = s * x + y0;
      }
      place(v[0], w, 1, l0, l1, fx);
      place(v[1], w, w, t0, t1, fy);
      for (int k = 0; k < PART; k++) {
        v[0][k] = image[t0[k] + l0[k]]; v[1][k] = image[t0[k] + l1[k]];
        v[2][k] = image[t1[k] + l0[k]]; v[3][k] = image[t1[k] + l1[k]];
      }
#pragma omp simd
      for (int k = 0; k < PART; k++) {
        float top = v[0][k] + fx[k] * (v[1][k] - v[0][k]), bottom = v[2][k] + fx[k] * (v[3][k] - v[2][k]);
        o[k] = top + fy[k] * (bottom - top);
      }
    }
}
/* In integers, with weights of eight bits: two channels in each word, and the sums of four products in 16 bits each. */
void nat_bilinear_rgba(uint32_t *restrict out, const uint32_t *restrict image, int w, float d, float c, float s) {
  const uint32_t even = 0x00ff00ff;
#pragma omp parallel for schedule(static)
  for (int j = 0; j < w; j++)
    for (int i0 = 0; i0 < w; i0 += PART) {
      float y = (j + 0.5f) * d - 0.5f, x0 = 0.5f - s * y, y0 = 0.5f + c * y, fx[PART], fy[PART], cx[PART], cy[PART];
      int l0[PART], l1[PART], t0[PART], t1[PART];
      uint32_t v[4][PART], *o = out + (long)j * w + i0;
#pragma omp simd
      for (int k = 0; k < PART; k++) {
        float x = (i0 + k + 0.5f) * d - 0.5f;
        cx[k] = (c * x + x0) * w - 0.5f;
        cy[k] = (s * x + y0) * w - 0.5f;
      }
      place(cx, w, 1, l0, l1, fx);
      place(cy, w, w, t0, t1, fy);
      for (int k = 0; k < PART; k++) {
        v[0][k] = image[t0[k] + l0[k]]; v[1][k] = image[t0[k] + l1[k]];
        v[2][k] = image[t1[k] + l0[k]]; v[3][k] = image[t1[k] + l1[k]];
      }
#pragma omp simd
      for (int k = 0; k < PART; k++) {
        uint32_t x = (uint32_t)(int)(fx[k] * 256 + 0.5f), u = (uint32_t)(int)(fy[k] * 256 + 0.5f);
        uint32_t w3 = (u * x + 128) >> 8, w2 = u - w3, w1 = x - w3, w0 = 256 - u - w1;
        uint32_t lo = (v[0][k] & even) * w0 + (v[1][k] & even) * w1 + (v[2][k] & even) * w2 + (v[3][k] & even) * w3 + 0x00800080;
        uint32_t hi = (v[0][k] >> 8 & even) * w0 + (v[1][k] >> 8 & even) * w1 + (v[2][k] >> 8 & even) * w2 + (v[3][k] >> 8 & even) * w3 + 0x00800080;
        o[k] = (lo >> 8 & even) | (hi & ~even);
      }
    }
}
