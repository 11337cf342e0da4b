/* softmax(scale Q K^T) V for heads of `length` rows of 64 halves: 128 work-items have 64 queries of a head; two have a query, and half of the result's columns each. */
__kernel __attribute__((reqd_work_group_size(128, 1, 1)))
void attention(__global float *restrict out, __global const half *restrict q, __global const half *restrict k, __global const half *restrict v, int length, float scale) {
  __local float sk[64][64], sv[64][64];
  int t = get_local_id(0), part = t >> 6;
  size_t head = (size_t)get_group_id(1) * length * 64, row = head + (get_group_id(0) * 64 + (t & 63)) * 64;
  float x[64], o[32], most = -1e30f, sum = 0;
  for (int d = 0; d < 64; d++) x[d] = vload_half(row + d, q) * scale;
  for (int d = 0; d < 32; d++) o[d] = 0;
  for (int at = 0; at < length; at += 64) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = t; i < 64 * 64; i += 128) {
      sk[i >> 6][i & 63] = vload_half(head + at * 64 + i, k);
      sv[i >> 6][i & 63] = vload_half(head + at * 64 + i, v);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < 64; j++) {
      float s = 0;
      for (int d = 0; d < 64; d++) s += x[d] * sk[j][d];
      float m = fmax(most, s), old = exp(most - m), p = exp(s - m);
      most = m;
      sum = sum * old + p;
      for (int d = 0; d < 32; d++) o[d] = o[d] * old + p * sv[j][part * 32 + d];
    }
  }
  for (int d = 0; d < 32; d++) out[row + part * 32 + d] = o[d] / sum;
}
