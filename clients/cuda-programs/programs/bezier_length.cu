// Lengths of Bezier curves by Simpson's rule in double precision, with a class that both sides use.
#include "check.h"

struct Bezier {
	double2 p[4];
	__host__ __device__ double speed(double t) const {
		double u = 1 - t, a = 3 * u * u, b = 6 * u * t, c = 3 * t * t;
		double dx = a * (p[1].x - p[0].x) + b * (p[2].x - p[1].x) + c * (p[3].x - p[2].x);
		double dy = a * (p[1].y - p[0].y) + b * (p[2].y - p[1].y) + c * (p[3].y - p[2].y);
		return sqrt(dx * dx + dy * dy);
	}
	__host__ __device__ double length(int steps) const {
		double h = 1.0 / steps, sum = speed(0) + speed(1);
		for (int i = 1; i < steps; i++) sum += (i % 2 ? 4 : 2) * speed(i * h);
		return sum * h / 3;
	}
};

__global__ void lengths(const Bezier *b, double *out, int n, int steps) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = b[i].length(steps);
}

int main() {
	const int n = 200;
	std::vector<Bezier> b(n);
	std::vector<double> got(n);
	unsigned seed = 101;
	for (auto &c : b)
		for (auto &p : c.p) p = make_double2(lcg(seed) % 100, lcg(seed) % 100);
	b[0] = {{{0, 0}, {1, 1}, {2, 2}, {3, 3}}}; // a straight line
	Bezier *db;
	double *dout;
	CHECK(cudaMalloc(&db, n * sizeof(Bezier)));
	CHECK(cudaMalloc(&dout, n * 8));
	CHECK(cudaMemcpy(db, b.data(), n * sizeof(Bezier), cudaMemcpyHostToDevice));
	lengths<<<2, 128>>>(db, dout, n, 32);
	CHECK(cudaMemcpy(got.data(), dout, n * 8, cudaMemcpyDeviceToHost));
	bool ok = near(got[0], 3 * sqrt(2.0), 1e-12);
	for (int i = 0; i < n; i++) ok &= near(got[i], b[i].length(32), 1e-12);
	return verdict(ok);
}
