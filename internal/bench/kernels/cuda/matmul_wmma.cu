#include "shim.h"
/* Four warps of 32 x 32 make a tile of 64 x 64; fragments come from global memory. B is stored by columns. */
enum { ROW, COL };
KERNEL matmul_wmma(float *__restrict__ c, const unsigned short *__restrict__ a, const unsigned short *__restrict__ b, int n) {
  int warp = tid_x >> 5, row = bid_y * 64 + (warp & 1) * 32, col = bid_x * 64 + (warp >> 1) * 32;
  float d[2][2][8] = {};
  for (int k = 0; k < n; k += 16) {
    int fa[2][8], fb[2][8];
    for (int i = 0; i < 2; i++) {
      __hmma_m16n16k16_ld_a(fa[i], (const int *)(a + (u64)(row + i * 16) * n + k), n, ROW);
      __hmma_m16n16k16_ld_b(fb[i], (const int *)(b + (u64)(col + i * 16) * n + k), n, COL);
    }
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++) __hmma_m16n16k16_mma_f32f32(d[i][j], fa[i], fb[j], d[i][j], 1, 0);
  }
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) __hmma_m16n16k16_st_c_f32(c + (u64)(row + i * 16) * n + col + j * 16, d[i][j], n, ROW);
}
