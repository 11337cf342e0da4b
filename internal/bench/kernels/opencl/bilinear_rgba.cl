__kernel void bilinear_rgba(__global uint *restrict out, __read_only image2d_t image, int w, float d, float c, float s) {
  const sampler_t linear = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
  int i = get_global_id(0), j = get_global_id(1);
  float x = (i + 0.5f) * d - 0.5f, y = (j + 0.5f) * d - 0.5f;
  uint4 v = convert_uint4(read_imagef(image, linear, (float2)(c * x - s * y + 0.5f, s * x + c * y + 0.5f)) * 255.0f + 0.5f);
  out[j * w + i] = v.x | v.y << 8 | v.z << 16 | v.w << 24;
}
