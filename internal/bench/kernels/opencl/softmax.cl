/* A row of 1,024 a group. */
float over_group(float v, __local float *part, bool add) {
  int t = get_local_id(0);
  barrier(CLK_LOCAL_MEM_FENCE);
  part[t] = v;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int d = 128; d; d >>= 1) {
    if (t < d) part[t] = add ? part[t] + part[t + d] : fmax(part[t], part[t + d]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  return part[0];
}
__kernel void softmax(__global float *restrict out, __global const float *restrict in) {
  __local float part[256];
  size_t row = get_group_id(0) * 1024 + get_local_id(0);
  float x[4], m, s = 0;
  for (int i = 0; i < 4; i++) x[i] = in[row + i * 256];
  m = over_group(fmax(fmax(x[0], x[1]), fmax(x[2], x[3])), part, false);
  for (int i = 0; i < 4; i++) s += x[i] = exp(x[i] - m);
  s = 1.0f / over_group(s, part, true);
  for (int i = 0; i < 4; i++) out[row + i * 256] = x[i] * s;
}
