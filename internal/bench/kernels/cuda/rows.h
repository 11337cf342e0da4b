/* Sums and maxima over a block of 256 threads: shuffles in a warp, shared memory between warps. Every thread gets the result. */
template <typename F> static __device__ inline float over_block(float v, F f) {
  static __shared__ float part[8];
  for (int d = 16; d; d >>= 1) v = f(v, shfl_xor(v, d));
  __syncthreads();
  if ((tid_x & 31) == 0) part[tid_x >> 5] = v;
  __syncthreads();
  v = part[tid_x & 7];
  for (int d = 4; d; d >>= 1) v = f(v, shfl_xor(v, d));
  return v;
}
struct Add { __device__ float operator()(float a, float b) const { return a + b; } };
struct Max { __device__ float operator()(float a, float b) const { return __nvvm_fmax_f(a, b); } };
