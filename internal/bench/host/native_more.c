/* Plain C + OpenMP forms of the problems of cases_more.c. */
#include "native.h"
#include <math.h>
#include <omp.h>
#include <string.h>

enum { ROW = 1024 };
void nat_softmax(float *restrict out, const float *restrict in, int rows) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; r++) {
    const float *x = in + (long)r * ROW;
    float *o = out + (long)r * ROW, m = x[0], s = 0;
#pragma omp simd reduction(max : m)
    for (int i = 0; i < ROW; i++) m = x[i] > m ? x[i] : m;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < ROW; i++) { o[i] = exp_negative(x[i] - m); s += o[i]; }
    s = 1 / s;
#pragma omp simd
    for (int i = 0; i < ROW; i++) o[i] *= s;
  }
}
void nat_layernorm(float *restrict out, const float *restrict in, const float *restrict scale, const float *restrict shift, float eps, int rows) {
#pragma omp parallel for schedule(static)
  for (int r = 0; r < rows; r++) {
    const float *x = in + (long)r * ROW;
    float *o = out + (long)r * ROW, s = 0, v = 0;
#pragma omp simd reduction(+ : s)
    for (int i = 0; i < ROW; i++) s += x[i];
    s /= ROW;
#pragma omp simd reduction(+ : v)
    for (int i = 0; i < ROW; i++) v += (x[i] - s) * (x[i] - s);
    v = 1 / sqrtf(v / ROW + eps);
#pragma omp simd
    for (int i = 0; i < ROW; i++) o[i] = (x[i] - s) * v * scale[i] + shift[i];
  }
}
void nat_stencil7(double *restrict out, const double *restrict in, int n, double a, double b) {
  long plane = (long)n * n;
#pragma omp parallel for collapse(2) schedule(static)
  for (int z = 1; z < n - 1; z++)
    for (int y = 1; y < n - 1; y++) {
      const double *x = in + z * plane + (long)y * n;
      double *o = out + z * plane + (long)y * n;
#pragma omp simd
      for (int i = 1; i < n - 1; i++) o[i] = a * x[i] + b * (x[i - plane] + x[i + plane] + x[i - 1] + x[i + 1] + x[i - n] + x[i + n]);
    }
}
/* In floats, 64 at a time: few processors calculate with halves. What is below the normal halves becomes zero. */
void nat_half_pairs(uint16_t *restrict out, const uint16_t *restrict in, float a, float b, long n) {
#pragma omp parallel for schedule(static)
  for (long i0 = 0; i0 < n; i0 += 64) {
    float x[64], y[64];
#pragma omp simd
    for (int l = 0; l < 64; l++) {
      uint32_t h = in[i0 + l], e = h & 0x7fff, u = (h & 0x8000) << 16 | (e ? (e << 13) + (112u << 23) : 0);
      memcpy(x + l, &u, 4);
      y[l] = x[l];
    }
    for (int k = 0; k < 64; k++)
#pragma omp simd
      for (int l = 0; l < 64; l++) {
        float t = y[l] * a + x[l], s = t * b;
        y[l] = t > s ? t : s;
      }
#pragma omp simd
    for (int l = 0; l < 64; l++) {
      uint32_t u;
      memcpy(&u, y + l, 4);
      uint32_t m = (u & 0x7fffffff) + 0xfff + (u >> 13 & 1);
      out[i0 + l] = (u >> 16 & 0x8000) | (m < 113u << 23 ? 0 : (m >> 13) - (112u << 10));
    }
  }
}
/* Each thread adds its part up, then makes the sums of it. */
void nat_scan(uint32_t *restrict out, const uint32_t *restrict in, long n) {
  static uint32_t part[1025];
#pragma omp parallel num_threads(omp_get_max_threads() < 1024 ? omp_get_max_threads() : 1024)
  {
    int t = omp_get_thread_num(), all = omp_get_num_threads();
    long from = n * t / all, to = n * (t + 1) / all;
    uint32_t s = 0;
#pragma omp simd reduction(+ : s)
    for (long i = from; i < to; i++) s += in[i];
    part[t + 1] = s;
#pragma omp barrier
    s = 0;
    for (int k = 1; k <= t; k++) s += part[k];
#pragma omp simd reduction(inscan, + : s)
    for (long i = from; i < to; i++) {
      s += in[i];
#pragma omp scan inclusive(s)
      out[i] = s;
    }
  }
}
void nat_radix(uint32_t *restrict out, const uint32_t *restrict in, const uint32_t *restrict offsets, int shift, int blocks) {
#pragma omp parallel for schedule(static)
  for (int b = 0; b < blocks; b++) {
    uint32_t at[256];
    memcpy(at, offsets + b * 256L, sizeof at);
    for (int i = 0; i < 2048; i++) {
      uint32_t x = in[b * 2048L + i];
      out[at[x >> shift & 255]++] = x;
    }
  }
}
