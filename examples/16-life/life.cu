// One generation of Conway's Game of Life on a torus. Rows are pitch bytes apart.
extern "C" __global__ void life(const unsigned char *now, unsigned char *next, unsigned long long pitch, int width, int height) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= width || y >= height) return;
	int n = 0;
	for (int dy = -1; dy <= 1; dy++)
		for (int dx = -1; dx <= 1; dx++)
			n += now[(y + dy + height) % height * pitch + (x + dx + width) % width];
	int alive = now[y * pitch + x];
	next[y * pitch + x] = n == 3 || alive && n == 4; // n has the cell itself
}
