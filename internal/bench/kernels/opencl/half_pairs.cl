/* In floats: few devices of OpenCL calculate with halves. */
float2 floats(uint pair) { return vload_half2(0, (half *)&pair); }
__kernel void half_pairs(__global uint *restrict out, __global const uint *restrict in, uint a, uint b, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float2 x = floats(in[i]), y = x, fa = floats(a), fb = floats(b);
  for (int k = 0; k < 64; k++) {
    float2 t = y * fa + x;
    y = fmax(t, t * fb);
  }
  vstore_half2(y, i, (__global half *)out);
}
