/* A row of 1,024 a group. */
float sum_group(float v, __local float *part) {
  int t = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  part[t] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d; d >>= 1) {
    if (t < d) part[t] += part[t + d];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return part[0];
}
__kernel void layernorm(__global float *restrict out, __global const float *restrict in, __global const float *restrict scale, __global const float *restrict shift, float eps) {
  __local float part[256];
  int t = get_local_id(0);
  size_t row = get_group_id(0) * 1024 + t;
  float x[4], s = 0, v = 0;
  for (int i = 0; i < 4; i++) s += x[i] = in[row + i * 256];
  s = sum_group(s, part) * (1.0f / 1024);
  for (int i = 0; i < 4; i++) { x[i] -= s; v += x[i] * x[i]; }
  v = rsqrt(sum_group(v, part) * (1.0f / 1024) + eps);
  for (int i = 0; i < 4; i++) out[row + i * 256] = x[i] * v * scale[t + i * 256] + shift[t + i * 256];
}
