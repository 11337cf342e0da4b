// A step of heat that spreads over a plate: rows from first on, of a part with a row of its neighbours at either end.
extern "C" __global__ void heat(const float *in, float *out, int width, int first, int rows) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = first + blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= first + rows) return;
	const float *p = in + (long long)y * width + x;
	float left = x > 0 ? p[-1] : 0, right = x + 1 < width ? p[1] : 0;
	out[(long long)y * width + x] = *p + 0.2f * (left + right + p[-width] + p[width] - 4 * *p);
}
