#include "shim.h"
/* 64 steps y = max(a y + x, b (a y + x)) in pairs of halves; a and b are pairs, too. */
KERNEL half_pairs(u32 *__restrict__ out, const u32 *__restrict__ in, u32 a, u32 b, int n) {
  int i = bid_x * bdim_x + tid_x;
  if (i >= n) return;
  u32 x = in[i], y = x, t;
  for (int k = 0; k < 64; k++) {
    asm("fma.rn.f16x2 %0, %1, %2, %3;" : "=r"(t) : "r"(y), "r"(a), "r"(x));
    asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(y) : "r"(t), "r"(b));
    asm("max.f16x2 %0, %1, %2;" : "=r"(y) : "r"(t), "r"(y));
  }
  out[i] = y;
}
