#include "shim.h"
/* The scatter of one pass of a radix sort, stable, by 8 bits: a block of 256 threads has 2,048 keys, a warp 256 of them in a row. offsets has for each block where
   its first key of each digit goes. */
KERNEL radix(u32 *__restrict__ out, const u32 *__restrict__ in, const u32 *__restrict__ offsets, int shift) {
  static __shared__ u32 count[8][256];
  u32 t = tid_x, lane = t & 31, warp = t >> 5, key[8], rank[8];
  for (u32 w = 0; w < 8; w++) count[w][t] = 0;
  __syncthreads();
  u64 base = (u64)bid_x * 2048 + warp * 256 + lane;
  for (int i = 0; i < 8; i++) {
    key[i] = in[base + i * 32];
    u32 digit = key[i] >> shift & 255, peers;
    asm volatile("match.any.sync.b32 %0, %1, 0xffffffff;" : "=r"(peers) : "r"(digit));
    u32 before = peers & ((1u << lane) - 1), have = count[warp][digit];
    rank[i] = have + __builtin_popcount(before);
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
    if (!before) count[warp][digit] = have + __builtin_popcount(peers);
    asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
  }
  __syncthreads();
  u32 at = offsets[bid_x * 256 + t];
  for (u32 w = 0; w < 8; w++) {
    u32 n = count[w][t];
    count[w][t] = at;
    at += n;
  }
  __syncthreads();
  for (int i = 0; i < 8; i++) out[count[warp][key[i] >> shift & 255] + rank[i]] = key[i];
}
