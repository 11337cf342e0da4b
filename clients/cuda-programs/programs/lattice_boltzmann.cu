// A lattice Boltzmann step (D2Q9) on a torus, many times: mass is kept, and densities match the host's.
#include "check.h"

__constant__ int cx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, cy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ double wt[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};
static const int hx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, hy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
static const double hw[9] = {4.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 9, 1.0 / 36, 1.0 / 36, 1.0 / 36, 1.0 / 36};

template <class X, class W> __host__ __device__ void cell(const double *f, double *g, int i, int w, int h, const X *cx, const X *cy, const W *wt, double omega) {
	int x = i % w, y = i / w, n = w * h;
	double v[9], rho = 0, ux = 0, uy = 0;
	for (int k = 0; k < 9; k++) { // from where it streams
		v[k] = f[k * n + (y - cy[k] + h) % h * w + (x - cx[k] + w) % w];
		rho += v[k];
		ux += v[k] * cx[k];
		uy += v[k] * cy[k];
	}
	ux /= rho;
	uy /= rho;
	for (int k = 0; k < 9; k++) {
		double cu = 3 * (cx[k] * ux + cy[k] * uy), eq = wt[k] * rho * (1 + cu + 0.5 * cu * cu - 1.5 * (ux * ux + uy * uy));
		g[k * n + i] = v[k] + omega * (eq - v[k]);
	}
}
__global__ void step(const double *f, double *g, int w, int h, double omega) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < w * h) cell(f, g, i, w, h, cx, cy, wt, omega);
}

int main() {
	const int w = 24, h = 20, n = w * h, steps = 8;
	std::vector<double> f(9 * n), g(9 * n), got(9 * n);
	double mass = 0, after = 0;
	for (int i = 0; i < n; i++)
		for (int k = 0; k < 9; k++) mass += f[k * n + i] = hw[k] * (1 + 0.1 * sin(i % w * 0.5) * cos(i / w * 0.7) + (k == 1 ? 0.05 : 0));
	double *a, *b;
	CHECK(cudaMalloc(&a, 72 * n));
	CHECK(cudaMalloc(&b, 72 * n));
	CHECK(cudaMemcpy(a, f.data(), 72 * n, cudaMemcpyHostToDevice));
	for (int s = 0; s < steps; s++) {
		step<<<(n + 63) / 64, 64>>>(a, b, w, h, 1.2);
		std::swap(a, b);
		for (int i = 0; i < n; i++) cell(f.data(), g.data(), i, w, h, hx, hy, hw, 1.2);
		std::swap(f, g);
	}
	CHECK(cudaMemcpy(got.data(), a, 72 * n, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 9 * n; i++) {
		ok &= fabs(got[i] - f[i]) < 1e-12;
		after += got[i];
	}
	return verdict(ok && fabs(after - mass) < 1e-9);
}
