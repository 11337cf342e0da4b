// c = a * b for square matrices of n x n floats. Blocks of t x t threads; each block loads two tiles at a time into dynamic shared memory.
extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n) {
	extern __shared__ float tiles[];
	int t = blockDim.x, x = threadIdx.x, y = threadIdx.y;
	float *left = tiles, *right = tiles + t * t;
	int row = blockIdx.y * t + y, col = blockIdx.x * t + x;
	float sum = 0;
	for (int k = 0; k < n; k += t) {
		left[y * t + x] = row < n && k + x < n ? a[row * n + k + x] : 0;
		right[y * t + x] = k + y < n && col < n ? b[(k + y) * n + col] : 0;
		__syncthreads();
		for (int i = 0; i < t; i++) sum += left[y * t + i] * right[i * t + x];
		__syncthreads();
	}
	if (row < n && col < n) c[row * n + col] = sum;
}
