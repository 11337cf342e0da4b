// Coefficients of a polynomial in constant memory, replaced between launches.
#include "check.h"

__constant__ double coefficient[6];
__constant__ int degree = 2; // an initial value

__global__ void evaluate(const double *x, double *y, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	double r = 0;
	for (int k = degree; k >= 0; k--) r = r * x[i] + coefficient[k];
	y[i] = r;
}

int main() {
	const int n = 500;
	std::vector<double> x(n), y(n);
	for (int i = 0; i < n; i++) x[i] = i / 64.0 - 3; // exact in binary, small powers too
	double *dx, *dy;
	CHECK(cudaMalloc(&dx, n * sizeof(double)));
	CHECK(cudaMalloc(&dy, n * sizeof(double)));
	CHECK(cudaMemcpy(dx, x.data(), n * sizeof(double), cudaMemcpyHostToDevice));
	bool ok = true;
	const double sets[2][6] = {{1, -2, 3, 0, 0, 0}, {4, 0, -1, 2, 0.5, 1}};
	for (int s = 0; s < 2; s++) {
		CHECK(cudaMemcpyToSymbol(coefficient, sets[s], sizeof sets[s]));
		int d = s == 0 ? 2 : 5;
		if (s == 1) CHECK(cudaMemcpyToSymbol(degree, &d, sizeof d, 0, cudaMemcpyHostToDevice));
		evaluate<<<4, 128>>>(dx, dy, n);
		CHECK(cudaMemcpy(y.data(), dy, n * sizeof(double), cudaMemcpyDeviceToHost));
		for (int i = 0; i < n; i++) {
			double want = 0;
			for (int k = d; k >= 0; k--) want = want * x[i] + sets[s][k];
			ok &= near(y[i], want, 1e-13);
		}
	}
	// one element, by its offset
	double minus = -7;
	CHECK(cudaMemcpyToSymbol(coefficient, &minus, sizeof minus, 3 * sizeof(double)));
	double back[6];
	CHECK(cudaMemcpyFromSymbol(back, coefficient, sizeof back));
	ok &= back[3] == -7 && back[2] == -1 && back[4] == 0.5;
	cudaFree(dx);
	cudaFree(dy);
	return verdict(ok);
}
