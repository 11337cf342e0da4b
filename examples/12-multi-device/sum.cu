// Adds up x into *total: a tree in each block, an atomic between blocks.
extern "C" __global__ void sum(const int *x, int n, unsigned long long *total)
{
	__shared__ unsigned long long part[256];
	unsigned long long v = 0;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		v += x[i];
	part[threadIdx.x] = v;
	__syncthreads();
	for (int half = blockDim.x / 2; half > 0; half /= 2) {
		if (threadIdx.x < half)
			part[threadIdx.x] += part[threadIdx.x + half];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		atomicAdd(total, part[0]);
}
