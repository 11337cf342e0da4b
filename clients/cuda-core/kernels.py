"""PTX texts."""
import importlib.util, pathlib

_spec = importlib.util.spec_from_file_location("driver_kernels", pathlib.Path(__file__).resolve().parent.parent / "cuda-bindings" / "kernels.py")
_texts = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_texts)
BASIC, CALLER, CALLEE, CLUSTER, CONDITION, MANAGED, TEXTURE, TOGETHER, TRAP = (getattr(_texts, n) for n in "BASIC CALLER CALLEE CLUSTER CONDITION MANAGED TEXTURE TOGETHER TRAP".split())

SAXPY = r"""
template <typename T>
__global__ void saxpy(const T a, const T *x, const T *y, T *out, size_t n)
{
	size_t i = threadIdx.x + (size_t)blockIdx.x * blockDim.x;
	if (i < n) out[i] = a * x[i] + y[i];
}
"""

# squares, a reduction with shared memory and atomics, constants and macros
CPP = r"""
#ifndef FACTOR
#define FACTOR 1
#endif
extern "C" __global__ void square(int *p, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] = FACTOR * p[i] * p[i];
}
extern "C" __global__ void total(const int *p, int n, unsigned long long *out)
{
	extern __shared__ unsigned long long part[];
	unsigned long long s = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) s += p[i];
	part[threadIdx.x] = s;
	__syncthreads();
	for (unsigned d = blockDim.x / 2; d; d /= 2) {
		if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
		__syncthreads();
	}
	if (!threadIdx.x) atomicAdd(out, part[0]);
}
struct Body { float x, y, z; double m; };
extern "C" __global__ void move(Body b, float dt, Body *out, bool twice, char c)
{
	b.x += dt; b.m *= twice ? 2 : 1; b.z = c;
	*out = b;
}
"""
