// Writes one element behind the end, far enough to leave all memory that a device maps.
extern "C" __global__ void overrun(int *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= n)
		x[(long long)i << 34] = i; // 64 GiB apart
}
