#include "shim.h"
/* Seven points of a cube of doubles: a thread goes up a column. */
KERNEL stencil7_f64(double *__restrict__ out, const double *__restrict__ in, int n, double a, double b) {
  int x = bid_x * bdim_x + tid_x, y = bid_y * bdim_y + tid_y;
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
  u64 plane = (u64)n * n, i = plane + (u64)y * n + x;
  double below = in[i - plane], here = in[i];
  for (int z = 1; z < n - 1; z++, i += plane) {
    double above = in[i + plane];
    out[i] = a * here + b * (below + above + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    below = here;
    here = above;
  }
}
