/* The matrix product by mma.sync, for any type: tiles of 64 x 64, four warps of 32 x 32, rows of 64 bytes of A and of B in shared memory, read by ldmatrix. B is stored by columns.
   MMA is the instruction, with rows of A and B of 16 bytes a matrix; SUM the type of C and R its constraint; SIZE the bytes of an element. */
typedef u32 u32x4 __attribute__((ext_vector_type(4)));
#define SHARED_ADDRESS(p) ((u32)(u64)(__attribute__((address_space(3))) const void *)(p))
static __device__ inline void load_matrices(u32 *x, u32 p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];" : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(p) : "memory");
}
#define MATMUL(NAME, MMA, SUM, R, SIZE)                                                                                       \
  static __shared__ u32x4 sa[256], sb[256];                                                                                   \
  KERNEL NAME(SUM *__restrict__ c, const u8 *__restrict__ a, const u8 *__restrict__ b, int n) {                               \
    u32 t = tid_x, lane = t & 31, warp = t >> 5;                                                                              \
    u32 row0 = bid_y * 64, col0 = bid_x * 64, wm = (warp & 1) * 32, wn = (warp >> 1) * 32, bytes = n * SIZE;                  \
    SUM d[2][4][4] = {};                                                                                                      \
    u32 pa = SHARED_ADDRESS(sa), pb = SHARED_ADDRESS(sb);                                                                     \
    for (u32 k = 0; k < bytes; k += 64) {                                                                                     \
      for (u32 i = 0; i < 2; i++) { /* 64 rows of four chunks of 16 bytes, where no two of eight rows meet in a bank */       \
        u32 id = t + 128 * i, r = id >> 2, ch = id & 3, at = r * 4 + (ch ^ (r >> 1 & 3));                                     \
        sa[at] = *(const u32x4 *)(a + (u64)(row0 + r) * bytes + k + ch * 16);                                                 \
        sb[at] = *(const u32x4 *)(b + (u64)(col0 + r) * bytes + k + ch * 16);                                                 \
      }                                                                                                                       \
      __syncthreads();                                                                                                        \
      for (u32 kk = 0; kk < 2; kk++) {                                                                                        \
        u32 fa[2][4], fb[2][4];                                                                                               \
        for (u32 i = 0; i < 2; i++) {                                                                                         \
          u32 r = wm + i * 16 + (lane & 15), ch = kk * 2 + (lane >> 4);                                                       \
          load_matrices(fa[i], pa + (r * 4 + (ch ^ (r >> 1 & 3))) * 16);                                                      \
          r = wn + i * 16 + (lane & 7) + (lane >> 4) * 8, ch = kk * 2 + (lane >> 3 & 1);                                      \
          load_matrices(fb[i], pb + (r * 4 + (ch ^ (r >> 1 & 3))) * 16);                                                      \
        }                                                                                                                     \
        for (u32 i = 0; i < 2; i++)                                                                                           \
          for (u32 j = 0; j < 4; j++) {                                                                                       \
            SUM *x = d[i][j];                                                                                                 \
            u32 *y = fa[i], *z = &fb[j >> 1][(j & 1) * 2];                                                                    \
            asm(MMA " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"                                                  \
                : "+" R(x[0]), "+" R(x[1]), "+" R(x[2]), "+" R(x[3]) : "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(z[0]), "r"(z[1])); \
          }                                                                                                                   \
      }                                                                                                                       \
      __syncthreads();                                                                                                        \
    }                                                                                                                         \
    for (u32 i = 0; i < 2; i++)                                                                                               \
      for (u32 j = 0; j < 4; j++)                                                                                             \
        for (u32 r = 0; r < 4; r++)                                                                                           \
          c[(u64)(row0 + wm + i * 16 + (lane >> 2) + (r >> 1) * 8) * n + col0 + wn + j * 8 + (lane & 3) * 2 + (r & 1)] = d[i][j][r]; \
  }
