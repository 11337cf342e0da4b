#include "shim.h"
/* An image turned about its centre: h is half its width, c and s are the cosine and the sine. Coordinates are in texels. */
KERNEL bilinear(float *__restrict__ out, u64 image, int w, float h, float c, float s) {
  int i = bid_x * bdim_x + tid_x, j = bid_y * bdim_y + tid_y;
  float x = i + 0.5f - h, y = j + 0.5f - h, r, g, b, a;
  asm("tex.2d.v4.f32.f32 {%0,%1,%2,%3}, [%4, {%5,%6}];" : "=f"(r), "=f"(g), "=f"(b), "=f"(a) : "l"(image), "f"(c * x - s * y + h), "f"(s * x + c * y + h));
  out[j * w + i] = r;
}
