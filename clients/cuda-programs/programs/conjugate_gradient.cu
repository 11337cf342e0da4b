// Conjugate gradients for a Poisson problem: sparse product, dot products, updates, in managed memory.
#include "check.h"

const int w = 24, n = w * w;

__global__ void product(const double *x, double *y) { // the five-point operator
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	int c = i % w, r = i / w;
	double v = 4 * x[i];
	if (c > 0) v -= x[i - 1];
	if (c < w - 1) v -= x[i + 1];
	if (r > 0) v -= x[i - w];
	if (r < w - 1) v -= x[i + w];
	y[i] = v;
}
__global__ void dot(const double *a, const double *b, double *out) {
	__shared__ double s[128];
	double v = 0;
	for (int i = threadIdx.x; i < n; i += 128) v += a[i] * b[i];
	s[threadIdx.x] = v;
	for (int d = 64; d; d /= 2) {
		__syncthreads();
		if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
	}
	if (threadIdx.x == 0) *out = s[0];
}
__global__ void axpy(double a, const double *x, double *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] += a * x[i];
}
__global__ void xpay(const double *x, double a, double *y) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) y[i] = x[i] + a * y[i];
}

int main() {
	double *x, *r, *p, *q, *s;
	for (double **v : {&x, &r, &p, &q}) CHECK(cudaMallocManaged(v, n * sizeof(double)));
	CHECK(cudaMallocManaged(&s, 16));
	std::vector<double> b(n);
	for (int i = 0; i < n; i++) {
		b[i] = r[i] = p[i] = (i * 7 % 11) - 5 + (i == 100 ? 50 : 0);
		x[i] = 0;
	}
	auto inner = [&](const double *a, const double *b) {
		dot<<<1, 128>>>(a, b, s);
		CHECK(cudaDeviceSynchronize());
		return *s;
	};
	const int blocks = (n + 63) / 64;
	double rr = inner(r, r), first = rr;
	int rounds = 0;
	while (rr > 1e-20 * first && rounds < 200) {
		product<<<blocks, 64>>>(p, q);
		double alpha = rr / inner(p, q);
		axpy<<<blocks, 64>>>(alpha, p, x);
		axpy<<<blocks, 64>>>(-alpha, q, r);
		double next = inner(r, r);
		xpay<<<blocks, 64>>>(r, next / rr, p);
		rr = next;
		rounds++;
	}
	CHECK(cudaDeviceSynchronize());
	double worst = 0;
	for (int i = 0; i < n; i++) {
		int c = i % w, k = i / w;
		double v = 4 * x[i] - (c > 0 ? x[i - 1] : 0) - (c < w - 1 ? x[i + 1] : 0) - (k > 0 ? x[i - w] : 0) - (k < w - 1 ? x[i + w] : 0);
		worst = fmax(worst, fabs(v - b[i]));
	}
	printf("%d rounds, residual %g\n", rounds, worst);
	return verdict(rounds < 120 && worst < 1e-7);
}
