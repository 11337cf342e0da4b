/* What the problems are made with: data, arguments, checks. */
#ifndef MAKE_H
#define MAKE_H
#include "bench.h"
#include "native.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- data: the same on every host, from the index alone ---- */
static inline uint32_t mix(uint32_t i, uint32_t seed) {
  uint32_t x = i * 0x9E3779B1u + seed;
  x ^= x >> 16; x *= 0x85ebca6bu; x ^= x >> 13; x *= 0xc2b2ae35u; x ^= x >> 16;
  return x;
}
static inline float frand(uint32_t i, uint32_t seed) { return (mix(i, seed) >> 8) * (1.0f / 16777216.0f); }
static inline float *fbuf(long n, uint32_t seed, float lo, float hi) {
  float *p = aligned_alloc(128, (n * 4 + 127) & ~127L);
  for (long i = 0; i < n; i++) p[i] = lo + (hi - lo) * frand(i, seed);
  return p;
}
static inline void *zbuf(size_t bytes) {
  void *p = aligned_alloc(128, (bytes + 127) & ~127ul);
  memset(p, 0, bytes);
  return p;
}
static inline void addbuf(Case *c, void *p, size_t bytes, int dir) {
  Buf *b = &c->buf[c->nbuf];
  *b = (Buf){p, bytes, dir, NULL};
  if (dir == INOUT) { b->init = malloc(bytes); memcpy(b->init, p, bytes); }
  c->arg[c->narg++] = (Arg){.kind = A_BUF, .buf = c->nbuf++};
}
static inline void addimage(Case *c, void *p, int width, int rgba) {
  addbuf(c, p, (size_t)width * width * 4, IN);
  Arg *a = &c->arg[c->narg - 1];
  a->kind = A_IMAGE; a->width = width; a->rgba = rgba;
}
static inline void addi(Case *c, int v) { c->arg[c->narg++] = (Arg){.kind = A_I32, .v.i = v}; }
static inline void addu(Case *c, uint32_t v) { c->arg[c->narg++] = (Arg){.kind = A_U32, .v.u = v}; }
static inline void addf(Case *c, float v) { c->arg[c->narg++] = (Arg){.kind = A_F32, .v.f = v}; }
static inline void addq(Case *c, uint64_t v) { c->arg[c->narg++] = (Arg){.kind = A_U64, .v.q = v}; }
static inline void shape(Case *c, unsigned gx, unsigned gy, unsigned bx, unsigned by) {
  c->grid[0] = gx; c->grid[1] = gy; c->grid[2] = 1;
  c->block[0] = bx; c->block[1] = by; c->block[2] = 1;
}
static inline int close_to(double got, double want, double rel, double abs_) {
  return fabs(got - want) <= abs_ + rel * fabs(want); /* false for NaN */
}
#define BUFP(c, k, T) ((T *)(c)->buf[k].host)
#define FAIL(...) do { snprintf(msg, len, __VA_ARGS__); return 1; } while (0)

/* The problems in files of their own. */
void m_matmul(Case *, int size), m_attention(Case *, int), m_rows(Case *, int), m_stencil7(Case *, int), m_half_pairs(Case *, int), m_scan(Case *, int), m_radix(Case *, int), m_bilinear(Case *, int);
void *halves(long n, uint32_t seed, int levels, int bf16);
#endif
