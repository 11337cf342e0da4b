/* The scatter of one pass of a radix sort, stable: eight work-items count 256 keys in a row each, since OpenCL has no vote of those with the same digit. */
__kernel void radix(__global uint *restrict out, __global const uint *restrict in, __global const uint *restrict offsets, int shift) {
  __local uint count[8][256];
  __local ushort rank[2048];
  uint t = get_local_id(0);
  size_t base = get_group_id(0) * 2048;
  for (uint w = 0; w < 8; w++) count[w][t] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (t < 8)
    for (uint i = t * 256; i < t * 256 + 256; i++) rank[i] = count[t][in[base + i] >> shift & 255]++;
  barrier(CLK_LOCAL_MEM_FENCE);
  uint at = offsets[get_group_id(0) * 256 + t];
  for (uint w = 0; w < 8; w++) {
    uint n = count[w][t];
    count[w][t] = at;
    at += n;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = t; i < 2048; i += 256) {
    uint key = in[base + i];
    out[count[i >> 8][key >> shift & 255] + rank[i]] = key;
  }
}
