// The Ising model with checkerboard updates and a counter-based generator: the same on both sides, bit by bit.
#include "check.h"
#include <cstdint>

__host__ __device__ uint32_t draw(uint32_t site, uint32_t sweep) {
	uint32_t v = site * 0x9E3779B9u ^ sweep * 0x85EBCA6Bu;
	v = (v ^ v >> 16) * 0x7feb352du;
	v = (v ^ v >> 15) * 0x846ca68bu;
	return v ^ v >> 16;
}
// limits are thresholds for flipping against the field of the four neighbours
__host__ __device__ void site(signed char *s, int x, int y, int n, uint32_t sweep, const uint32_t *limit) {
	int sum = s[y * n + (x + 1) % n] + s[y * n + (x + n - 1) % n] + s[(y + 1) % n * n + x] + s[(y + n - 1) % n * n + x];
	int e = sum * s[y * n + x]; // -4 to 4
	if (draw(y * n + x, sweep) <= limit[(e + 4) / 2]) s[y * n + x] = -s[y * n + x];
}
struct Limits { uint32_t of[5]; };
__global__ void update(signed char *s, int n, int colour, uint32_t sweep, Limits limits) {
	int i = blockIdx.x * blockDim.x + threadIdx.x, y = i / (n / 2), x = i % (n / 2) * 2 + (y + colour) % 2;
	if (y < n) site(s, x, y, n, sweep, limits.of);
}

int main() {
	const int n = 32, sweeps = 12;
	std::vector<signed char> s(n * n), got(n * n);
	for (int i = 0; i < n * n; i++) s[i] = draw(i, 999) & 1 ? 1 : -1;
	Limits limits;
	for (int k = 0; k < 5; k++) limits.of[k] = (uint32_t)fmin(4294967295.0, 4294967295.0 * exp(-2 * 0.44 * (2 * k - 4)));
	signed char *d;
	CHECK(cudaMalloc(&d, n * n));
	CHECK(cudaMemcpy(d, s.data(), n * n, cudaMemcpyHostToDevice));
	for (int t = 0; t < sweeps; t++)
		for (int colour = 0; colour < 2; colour++) {
			update<<<n * n / 2 / 64, 64>>>(d, n, colour, 2 * t + colour, limits);
			for (int y = 0; y < n; y++)
				for (int x = (y + colour) % 2; x < n; x += 2) site(s.data(), x, y, n, 2 * t + colour, limits.of);
		}
	CHECK(cudaMemcpy(got.data(), d, n * n, cudaMemcpyDeviceToHost));
	int up = 0;
	for (int v : got) up += v > 0;
	printf("%d of %d up\n", up, n * n);
	return verdict(got == s);
}
