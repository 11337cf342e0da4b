// y = a*x + y, as a template and as a function of C.
#include <cstdio>

template <class T> __global__ void axpy(T a, const T *__restrict__ x, T *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
}
template __global__ void axpy<float>(float, const float *, float *, int);

extern "C" __global__ void saxpy(float a, const float *x, float *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = a * x[i] + y[i];
	if (i == 0 && n < 0) printf("%d elements\n", n);
}
