// A cooperative launch: the whole grid synchronizes between the steps of a Jacobi iteration.
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void jacobi(double *a, double *b, int n, int rounds) {
	cg::grid_group grid = cg::this_grid();
	for (int r = 0; r < rounds; r++) {
		for (int i = grid.thread_rank(); i < n; i += grid.size())
			b[i] = i == 0 || i == n - 1 ? a[i] : 0.5 * (a[i - 1] + a[i + 1]);
		grid.sync();
		double *t = a;
		a = b;
		b = t;
	}
}

int main() {
	int n = 500, rounds = 31, supported = 0;
	CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
	if (!supported) return verdict(false);
	std::vector<double> a(n), b(n), got(n);
	for (int i = 0; i < n; i++) a[i] = i % 17 * 8;
	double *da, *db;
	CHECK(cudaMalloc(&da, n * sizeof(double)));
	CHECK(cudaMalloc(&db, n * sizeof(double)));
	CHECK(cudaMemcpy(da, a.data(), n * sizeof(double), cudaMemcpyHostToDevice));
	void *args[] = {&da, &db, &n, &rounds};
	CHECK(cudaLaunchCooperativeKernel(jacobi, dim3(6), dim3(64), args, 0, 0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(got.data(), rounds % 2 ? db : da, n * sizeof(double), cudaMemcpyDeviceToHost));
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < n; i++) b[i] = i == 0 || i == n - 1 ? a[i] : 0.5 * (a[i - 1] + a[i + 1]);
		std::swap(a, b);
	}
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= near(got[i], a[i], 1e-13);
	// more blocks than fit at once are refused
	ok &= cudaLaunchCooperativeKernel(jacobi, dim3(1 << 20), dim3(1024), args, 0, 0) == cudaErrorCooperativeLaunchTooLarge;
	cudaGetLastError();
	cudaFree(da);
	cudaFree(db);
	return verdict(ok);
}
