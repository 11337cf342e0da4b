// Loads and stores with cache operators, __ldg, and prefetches by inline PTX.
#include "check.h"

__global__ void run(const float *__restrict__ a, const int4 *b, const double *c, float *x, int4 *y, double *z, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	asm volatile("prefetch.global.L2 [%0];" ::"l"(a + (i + 32) % n));
	float u = __ldg(a + i) + __ldcg(a + (i + 1) % n) + __ldcs(a + (i + 2) % n) + __ldca(a + (i + 3) % n);
	int4 v = __ldg(b + i);
	double w = __ldlu(c + i) + __ldcv(c + (i + 1) % n);
	__stcs(x + i, u);
	__stcg(y + i, make_int4(v.w, v.z, v.y, v.x));
	__stwt(z + i, w);
	if (i == 0) __stwb(x, u + 1);
}

int main() {
	const int n = 500;
	std::vector<float> a(n), x(n);
	std::vector<int4> b(n), y(n);
	std::vector<double> c(n), z(n);
	for (int i = 0; i < n; i++) {
		a[i] = i;
		b[i] = make_int4(i, i + 1, -i, i * i);
		c[i] = i * 0.5;
	}
	float *da, *dx;
	int4 *db, *dy;
	double *dc, *dz;
	CHECK(cudaMalloc(&da, n * 4)); CHECK(cudaMalloc(&dx, n * 4));
	CHECK(cudaMalloc(&db, n * 16)); CHECK(cudaMalloc(&dy, n * 16));
	CHECK(cudaMalloc(&dc, n * 8)); CHECK(cudaMalloc(&dz, n * 8));
	CHECK(cudaMemcpy(da, a.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b.data(), n * 16, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dc, c.data(), n * 8, cudaMemcpyHostToDevice));
	run<<<4, 128>>>(da, db, dc, dx, dy, dz, n);
	CHECK(cudaMemcpy(x.data(), dx, n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(y.data(), dy, n * 16, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(z.data(), dz, n * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		ok &= x[i] == a[i] + a[(i + 1) % n] + a[(i + 2) % n] + a[(i + 3) % n] + (i == 0);
		ok &= y[i].x == i * i && y[i].y == -i && y[i].z == i + 1 && y[i].w == i && z[i] == c[i] + c[(i + 1) % n];
	}
	return verdict(ok);
}
