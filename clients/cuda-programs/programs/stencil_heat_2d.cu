// The heat equation in two dimensions, explicit steps in double precision, buffers in turn.
#include "check.h"

#define AT(a, x, y) (a)[(y) * w + (x)]

__global__ void heat(const double *u, double *v, int w, int h, double r) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h) return;
	if (x == 0 || y == 0 || x == w - 1 || y == h - 1) AT(v, x, y) = AT(u, x, y);
	else AT(v, x, y) = AT(u, x, y) + r * (AT(u, x - 1, y) + AT(u, x + 1, y) + AT(u, x, y - 1) + AT(u, x, y + 1) - 4 * AT(u, x, y));
}

int main() {
	const int w = 60, h = 45, steps = 25;
	const double r = 0.2;
	std::vector<double> u(w * h), v(w * h), got(w * h);
	for (int x = 0; x < w; x++) u[x] = 100;
	u[20 * w + 30] = 1000;
	double *a, *b;
	CHECK(cudaMalloc(&a, w * h * 8));
	CHECK(cudaMalloc(&b, w * h * 8));
	CHECK(cudaMemcpy(a, u.data(), w * h * 8, cudaMemcpyHostToDevice));
	for (int s = 0; s < steps; s++) {
		heat<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(a, b, w, h, r);
		std::swap(a, b);
		for (int y = 0; y < h; y++)
			for (int x = 0; x < w; x++) {
				bool edge = x == 0 || y == 0 || x == w - 1 || y == h - 1;
				AT(v, x, y) = AT(u, x, y) + (edge ? 0 : r * (AT(u, x - 1, y) + AT(u, x + 1, y) + AT(u, x, y - 1) + AT(u, x, y + 1) - 4 * AT(u, x, y)));
			}
		std::swap(u, v);
	}
	CHECK(cudaMemcpy(got.data(), a, w * h * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < w * h; i++) ok &= near(got[i], u[i], 1e-12);
	return verdict(ok);
}
