#include "shim.h"
/* An inclusive prefix sum in one launch: a block of 256 threads has 2,048 words and looks back at the sums of those before it. A state is a sum, with 2 (the block alone) or
   3 (all up to it) and the number of the launch above it; tickets give blocks their order and count launches. */
static __device__ inline u32 warp_scan(u32 v, u32 lane) {
  for (u32 d = 1; d < 32; d <<= 1) {
    u32 w = __nvvm_shfl_sync_up_i32(0xffffffffu, v, d, 0);
    if (lane >= d) v += w;
  }
  return v;
}
KERNEL scan(u32 *__restrict__ out, const u32 *__restrict__ in, u64 *state, u32 *tickets) {
  static __shared__ u32 ticket, before, warps[8];
  u32 t = tid_x, lane = t & 31, blocks = gdim_x;
  if (t == 0) ticket = __atomic_fetch_add(tickets, 1, __ATOMIC_RELAXED);
  __syncthreads();
  u32 block = ticket % blocks;
  u64 launch = (u64)(ticket / blocks) << 34, base = (u64)block * 2048 + t * 8;
  u32 x[8], s = 0;
  for (int i = 0; i < 8; i++) x[i] = s += in[base + i];
  u32 sum = warp_scan(s, lane);
  if (lane == 31) warps[t >> 5] = sum;
  __syncthreads();
  u32 own = 0, all = 0;
  for (u32 w = 0; w < 8; w++) {
    if (w < t >> 5) own += warps[w];
    all += warps[w];
  }
  if (t == 0) {
    u32 sums = 0;
    if (block) {
      u64 mine = launch | (u64)2 << 32 | all;
      asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(state + block), "l"(mine) : "memory");
      for (u32 at = block - 1;;) {
        u64 w;
        asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(w) : "l"(state + at) : "memory");
        if ((w >> 34) << 34 != launch || !(w >> 33 & 1)) continue;
        sums += (u32)w;
        if (w >> 32 & 1) break;
        at--;
      }
    }
    u64 mine = launch | (u64)3 << 32 | (u32)(sums + all);
    asm volatile("st.release.gpu.u64 [%0], %1;" ::"l"(state + block), "l"(mine) : "memory");
    before = sums;
  }
  __syncthreads();
  u32 add = before + own + sum - s;
  for (int i = 0; i < 8; i++) out[base + i] = x[i] + add;
}
