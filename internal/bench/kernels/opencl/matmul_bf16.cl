/* C = A B, B stored by columns: tiles of 64 x 64, 128 work-items with a column of 32 sums each. */
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void matmul_bf16(__global float *restrict c, __global const ushort *restrict a, __global const ushort *restrict b, int n) {
  __local float sa[64][32], sb[32][64];
  int t = get_local_id(0), col = t & 63, part = t >> 6;
  int row0 = get_group_id(1) * 64, col0 = get_group_id(0) * 64;
  float s[32];
  for (int r = 0; r < 32; r++) s[r] = 0;
  for (int k = 0; k < n; k += 32) {
    for (int i = t; i < 64 * 32; i += 128) {
      int r = i >> 5, kk = i & 31;
      sa[r][kk] = as_float((uint)a[(size_t)(row0 + r) * n + k + kk] << 16);
      sb[kk][r] = as_float((uint)b[(size_t)(col0 + r) * n + k + kk] << 16);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int kk = 0; kk < 32; kk++) {
      float y = sb[kk][col];
      for (int r = 0; r < 32; r++) s[r] += sa[part * 32 + r][kk] * y;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int r = 0; r < 32; r++) c[(size_t)(row0 + part * 32 + r) * n + col0 + col] = s[r];
}
