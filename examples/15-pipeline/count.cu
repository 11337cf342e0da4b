// Adds to histogram[v] how often the byte v is in text. One atomic for each value and block: the block counts in shared memory first.
extern "C" __global__ void histogram(const unsigned char *text, int n, unsigned long long *histogram) {
	__shared__ unsigned int part[256];
	for (int i = threadIdx.x; i < 256; i += blockDim.x) part[i] = 0;
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(&part[text[i]], 1);
	__syncthreads();
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		if (part[i] != 0) atomicAdd(&histogram[i], part[i]);
}
