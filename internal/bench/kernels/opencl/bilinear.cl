__kernel void bilinear(__global float *restrict out, __read_only image2d_t image, int w, float h, float c, float s) {
  const sampler_t linear = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
  int i = get_global_id(0), j = get_global_id(1);
  float x = i + 0.5f - h, y = j + 0.5f - h;
  out[j * w + i] = read_imagef(image, linear, (float2)(c * x - s * y + h, s * x + c * y + h)).x;
}
