__kernel void stencil7_f64(__global double *restrict out, __global const double *restrict in, int n, double a, double b) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x == 0 || y == 0 || x == n - 1 || y == n - 1) return;
  size_t plane = (size_t)n * n, i = plane + (size_t)y * n + x;
  double below = in[i - plane], here = in[i];
  for (int z = 1; z < n - 1; z++, i += plane) {
    double above = in[i + plane];
    out[i] = a * here + b * (below + above + in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
    below = here;
    here = above;
  }
}
