// Writes one element behind the end, far enough to leave the allocation.
extern "C" __global__ void overrun(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= n)
		x[i * 1024 * 1024] = i;
}
