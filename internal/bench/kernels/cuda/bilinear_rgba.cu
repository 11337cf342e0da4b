#include "shim.h"
/* As bilinear.cu, with four channels of 8 bits, coordinates from 0 to 1, and d one over the width. */
static __device__ inline u32 level(float v) { return (u32)(v * 255 + 0.5f); }
KERNEL bilinear_rgba(u32 *__restrict__ out, u64 image, int w, float d, float c, float s) {
  int i = bid_x * bdim_x + tid_x, j = bid_y * bdim_y + tid_y;
  float x = (i + 0.5f) * d - 0.5f, y = (j + 0.5f) * d - 0.5f, r, g, b, a;
  asm("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(image), "f"(c * x - s * y + 0.5f), "f"(s * x + c * y + 0.5f));
  out[j * w + i] = level(r) | level(g) << 8 | level(b) << 16 | level(a) << 24;
}
