/* Plain C + OpenMP forms of matrix products: blocks of C in registers, panels of B packed for the cache. */
#include "native.h"
#include <stdlib.h>
#include <string.h>

/* A block has ROWS rows and two vectors: as many sums as the registers hold, and enough to hide the latency of an addition. */
#if defined(__AVX512F__)
enum { LANES = 16, ROWS = 8 };
#elif defined(__AVX__)
enum { LANES = 8, ROWS = 4 };
#else
enum { LANES = 4, ROWS = 4 };
#endif
enum { COLS = 2 * LANES, DEPTH = 256, STRIP = 64 };
typedef float vec __attribute__((vector_size(4 * LANES), aligned(4)));

/* rows x COLS of C from A and a packed panel of B, depth deep; more says that C holds sums already. */
static void block(float *restrict C, long ldc, const float *restrict A, long lda, const float *restrict panel, int depth, int more) {
  vec s[ROWS][2];
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++)
    for (int h = 0; h < 2; h++)
      s[r][h] = more ? *(const vec *)(C + r * ldc + h * LANES) : (vec){0};
  for (int k = 0; k < depth; k++) {
    vec b0 = *(const vec *)(panel + k * COLS), b1 = *(const vec *)(panel + k * COLS + LANES);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
      float a = A[r * lda + k];
      s[r][0] += a * b0; s[r][1] += a * b1;
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < ROWS; r++)
    for (int h = 0; h < 2; h++)
      *(vec *)(C + r * ldc + h * LANES) = s[r][h];
}
/* C = A B; transposed says that B is stored by columns. */
static void gemm(float *restrict C, const float *restrict A, const float *restrict B, int n, int transposed) {
#pragma omp parallel for collapse(2) schedule(static)
  for (int i0 = 0; i0 < n; i0 += STRIP)
    for (int j0 = 0; j0 < n; j0 += COLS)
      for (int k0 = 0; k0 < n; k0 += DEPTH) {
        float panel[DEPTH * COLS] __attribute__((aligned(64)));
        int depth = n - k0 < DEPTH ? n - k0 : DEPTH;
        if (transposed)
          for (int j = 0; j < COLS; j++)
            for (int k = 0; k < depth; k++) panel[k * COLS + j] = B[(long)(j0 + j) * n + k0 + k];
        else
          for (int k = 0; k < depth; k++) memcpy(panel + k * COLS, B + (long)(k0 + k) * n + j0, sizeof(float) * COLS);
        for (int i = i0; i < i0 + STRIP; i += ROWS)
          block(C + (long)i * n + j0, n, A + (long)i * n + k0, n, panel, depth, k0 > 0);
      }
}
void nat_sgemm_tiled(float *restrict C, const float *restrict A, const float *restrict B, int n) { gemm(C, A, B, n, 0); }

/* Integer arithmetic, which every processor has; the numbers here are normal or zero. */
static inline void widen_one(float *to, uint32_t h) {
  uint32_t e = h & 0x7fff, bits = (h & 0x8000) << 16 | (e ? (e << 13) + (112u << 23) : 0);
  memcpy(to, &bits, 4);
}
/* Halves are made floats once: there are n * n of them and n * n * n products. */
static void widen(float *restrict to, const uint16_t *restrict from, long n, int bf16) {
  if (bf16) {
#pragma omp parallel for simd schedule(static)
    for (long i = 0; i < n; i++) {
      uint32_t bits = (uint32_t)from[i] << 16;
      memcpy(to + i, &bits, 4);
    }
    return;
  }
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < n; i++) widen_one(to + i, from[i]);
}
void nat_matmul_half(float *restrict C, const uint16_t *A, const uint16_t *B, int n, int bf16) {
  static float *a, *b;
  static long have;
  long size = (long)n * n;
  if (have < size) {
    a = aligned_alloc(64, size * sizeof *a); b = aligned_alloc(64, size * sizeof *b); have = size;
  }
  widen(a, A, size, bf16);
  widen(b, B, size, bf16);
  gemm(C, a, b, n, 1);
}
/* Sums of products of pairs of 16-bit integers are one instruction. */
void nat_matmul_s8(int32_t *restrict C, const int8_t *A, const int8_t *B, int n) {
  static int16_t *a, *b;
  static long have;
  long size = (long)n * n;
  if (have < size) {
    a = aligned_alloc(64, size * sizeof *a); b = aligned_alloc(64, size * sizeof *b); have = size;
  }
#pragma omp parallel for simd schedule(static)
  for (long i = 0; i < size; i++) { a[i] = A[i]; b[i] = B[i]; }
#pragma omp parallel for collapse(2) schedule(static)
  for (int i0 = 0; i0 < n; i0 += STRIP)
    for (int j = 0; j < n; j += 2)
      for (int i = i0; i < i0 + STRIP; i += 2) {
        const int16_t *a0 = a + (long)i * n, *a1 = a0 + n, *b0 = b + (long)j * n, *b1 = b0 + n;
        int32_t s00 = 0, s01 = 0, s10 = 0, s11 = 0;
#pragma omp simd reduction(+ : s00, s01, s10, s11)
        for (int k = 0; k < n; k++) {
          s00 += a0[k] * b0[k]; s01 += a0[k] * b1[k]; s10 += a1[k] * b0[k]; s11 += a1[k] * b1[k];
        }
        int32_t *c = C + (long)i * n + j;
        c[0] = s00; c[1] = s01; c[n] = s10; c[n + 1] = s11;
      }
}

enum { DIM = 64, QUERIES = 4, LONGEST = 1024 };
/* Four queries at a time: their scores with all keys, by columns of K, then the sum of the rows of V. */
void nat_attention(float *restrict out, const uint16_t *Q, const uint16_t *K, const uint16_t *V, int heads, int length, float scale) {
  static float *q, *k, *v;
  static long have;
  long size = (long)heads * length * DIM;
  if (have < size) {
    q = aligned_alloc(64, size * sizeof *q); k = aligned_alloc(64, size * sizeof *k); v = aligned_alloc(64, size * sizeof *v); have = size;
  }
  widen(q, Q, size, 0);
  widen(v, V, size, 0);
#pragma omp parallel for collapse(2) schedule(static)
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < length; i++)
      for (int d = 0; d < DIM; d++) widen_one(k + ((long)h * DIM + d) * length + i, K[((long)h * length + i) * DIM + d]);
#pragma omp parallel for collapse(2) schedule(static)
  for (int h = 0; h < heads; h++)
    for (int i = 0; i < length; i += QUERIES) {
      float s[QUERIES][LONGEST] __attribute__((aligned(64))), inverse[QUERIES];
      const float *x = q + ((long)h * length + i) * DIM, *keys = k + (long)h * DIM * length, *values = v + (long)h * length * DIM;
      for (int j0 = 0; j0 < length; j0 += 64) {
        float sum[QUERIES][64] = {{0}};
        for (int d = 0; d < DIM; d++)
#pragma GCC unroll 4
          for (int r = 0; r < QUERIES; r++)
            for (int j = 0; j < 64; j++) sum[r][j] += x[r * DIM + d] * keys[(long)d * length + j0 + j];
        for (int r = 0; r < QUERIES; r++) memcpy(s[r] + j0, sum[r], sizeof sum[r]);
      }
      for (int r = 0; r < QUERIES; r++) {
        float m = s[r][0], sum = 0;
#pragma omp simd reduction(max : m)
        for (int j = 0; j < length; j++) m = s[r][j] > m ? s[r][j] : m;
#pragma omp simd reduction(+ : sum)
        for (int j = 0; j < length; j++) { s[r][j] = exp_negative((s[r][j] - m) * scale); sum += s[r][j]; }
        inverse[r] = 1 / sum;
      }
      float o[QUERIES][DIM] = {{0}};
      for (int j = 0; j < length; j++)
#pragma GCC unroll 4
        for (int r = 0; r < QUERIES; r++)
          for (int d = 0; d < DIM; d++) o[r][d] += s[r][j] * values[(long)j * DIM + d];
      for (int r = 0; r < QUERIES; r++)
        for (int d = 0; d < DIM; d++) out[((long)h * length + i + r) * DIM + d] = o[r][d] * inverse[r];
    }
}
