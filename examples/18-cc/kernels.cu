// Kernels that gocuda cc -go makes callable from Go: a template, a function of C, and one with a reduction.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

template <class T> __global__ void axpy(T a, const T *x, T *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void axpy<float>(float, const float *, float *, int);
template __global__ void axpy<double>(double, const double *, double *, int);

extern "C" __global__ void sum(const float *x, float *out, int n) {
	namespace cg = cooperative_groups;
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	float s = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += x[i];
	s = cg::reduce(warp, s, cg::plus<float>());
	if (warp.thread_rank() == 0) atomicAdd(out, s);
}
