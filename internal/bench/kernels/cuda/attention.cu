#include "shim.h"
#include "mma.h"
/* softmax(scale Q K^T) V for heads of `length` rows of 64 halves, in one pass over K and V: a block has 64 queries of a head, a warp 16 of them. */
static __shared__ u32x4 sq[512], sk[512], sv[512]; /* 64 rows of eight chunks of 16 bytes */
static __device__ inline void load_matrices_transposed(u32 *x, u32 p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(p) : "memory");
}
static __device__ inline void mma(float *x, const u32 *y, const u32 *z) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
      : "+f"(x[0]), "+f"(x[1]), "+f"(x[2]), "+f"(x[3]) : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(z[0]), "r"(z[1]));
}
static __device__ inline u32 pair(float low, float high) {
  u32 p;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(p) : "f"(high), "f"(low));
  return p;
}
static __device__ inline u32 place(u32 row, u32 chunk) { return (row * 8 + (chunk ^ (row & 7))) * 16; }
static __device__ inline void copy_tile(u32x4 *to, const u8 *from) {
  for (u32 i = 0; i < 4; i++) {
    u32 id = tid_x + 128 * i, r = id >> 3, ch = id & 7;
    to[r * 8 + (ch ^ (r & 7))] = *(const u32x4 *)(from + id * 16);
  }
}
KERNEL attention(float *__restrict__ out, const u8 *__restrict__ q, const u8 *__restrict__ k, const u8 *__restrict__ v, int length, float scale) {
  u32 lane = tid_x & 31, warp = tid_x >> 5;
  u64 head = (u64)bid_y * length * 128;
  copy_tile(sq, q + head + (u64)bid_x * 64 * 128);
  __syncthreads();
  u32 fq[4][4], pk = SHARED_ADDRESS(sk), pv = SHARED_ADDRESS(sv);
  for (u32 i = 0; i < 4; i++) load_matrices(fq[i], SHARED_ADDRESS(sq) + place(warp * 16 + (lane & 15), i * 2 + (lane >> 4)));
  float o[8][4] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {0, 0}, f = scale * 1.4426950408889634f;
  for (int at = 0; at < length; at += 64) {
    __syncthreads();
    copy_tile(sk, k + head + (u64)at * 128);
    copy_tile(sv, v + head + (u64)at * 128);
    __syncthreads();
    float s[8][4] = {};
    for (u32 i = 0; i < 4; i++)
      for (u32 j = 0; j < 4; j++) {
        u32 b[4];
        load_matrices(b, pk + place(j * 16 + (lane & 7) + (lane >> 4) * 8, i * 2 + (lane >> 3 & 1)));
        mma(s[2 * j], fq[i], b);
        mma(s[2 * j + 1], fq[i], b + 2);
      }
    for (u32 h = 0; h < 2; h++) { /* a thread has parts of two rows; four threads have a row */
      float m = most[h];
      for (u32 j = 0; j < 8; j++) m = __nvvm_fmax_f(m, __nvvm_fmax_f(s[j][2 * h], s[j][2 * h + 1]));
      m = __nvvm_fmax_f(m, shfl_xor(m, 1));
      m = __nvvm_fmax_f(m, shfl_xor(m, 2));
      float old = __nvvm_ex2_approx_f((most[h] - m) * f);
      most[h] = m;
      sum[h] *= old;
      for (u32 j = 0; j < 8; j++)
        for (u32 e = 2 * h; e < 2 * h + 2; e++) {
          sum[h] += s[j][e] = __nvvm_ex2_approx_f((s[j][e] - m) * f);
          o[j][e] *= old;
        }
    }
    for (u32 i = 0; i < 4; i++) {
      u32 p[4] = {pair(s[2 * i][0], s[2 * i][1]), pair(s[2 * i][2], s[2 * i][3]), pair(s[2 * i + 1][0], s[2 * i + 1][1]), pair(s[2 * i + 1][2], s[2 * i + 1][3])};
      for (u32 j = 0; j < 4; j++) {
        u32 b[4];
        load_matrices_transposed(b, pv + place(i * 16 + (lane & 15), j * 2 + (lane >> 4)));
        mma(o[2 * j], p, b);
        mma(o[2 * j + 1], p, b + 2);
      }
    }
  }
  for (u32 h = 0; h < 2; h++) {
    float s = sum[h] + shfl_xor(sum[h], 1);
    s = 1.0f / (s + shfl_xor(s, 2));
    u64 row = ((u64)bid_y * length + bid_x * 64 + warp * 16 + (lane >> 2) + h * 8) * 64 + (lane & 3) * 2;
    for (u32 j = 0; j < 8; j++)
      for (u32 e = 0; e < 2; e++) out[row + j * 8 + e] = o[j][2 * h + e] * s;
  }
}
