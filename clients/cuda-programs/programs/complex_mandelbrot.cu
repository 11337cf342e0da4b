// cuComplex: the Mandelbrot set, and complex arithmetic against std::complex.
#include "check.h"
#include <complex>
#include <cuComplex.h>

__global__ void mandelbrot(int *out, int w, int h, int limit) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x >= w || y >= h) return;
	cuDoubleComplex c = make_cuDoubleComplex(x * 3.0 / w - 2.25, y * 2.5 / h - 1.25), z = make_cuDoubleComplex(0, 0);
	int n = 0;
	while (n < limit && cuCreal(z) * cuCreal(z) + cuCimag(z) * cuCimag(z) < 4) {
		z = cuCadd(cuCmul(z, z), c);
		n++;
	}
	out[y * w + x] = n;
}
__global__ void arithmetic(const cuFloatComplex *a, const cuFloatComplex *b, cuFloatComplex *out, int n) {
	int i = threadIdx.x;
	if (i >= n) return;
	cuFloatComplex *o = out + i * 5;
	o[0] = cuCsubf(cuCmulf(a[i], b[i]), cuCaddf(a[i], b[i]));
	o[1] = cuCdivf(a[i], b[i]);
	o[2] = make_cuFloatComplex(cuCabsf(a[i]), cuCrealf(b[i]));
	o[3] = cuConjf(a[i]);
	o[4] = cuCfmaf(a[i], b[i], o[3]);
}

int main() {
	const int w = 60, h = 40, limit = 60, n = 50;
	static int got[h][w];
	int *d;
	CHECK(cudaMalloc(&d, sizeof got));
	mandelbrot<<<dim3(8, 5), dim3(8, 8)>>>(d, w, h, limit);
	CHECK(cudaMemcpy(got, d, sizeof got, cudaMemcpyDeviceToHost));
	int differ = 0;
	for (int y = 0; y < h; y++)
		for (int x = 0; x < w; x++) {
			std::complex<double> c(x * 3.0 / w - 2.25, y * 2.5 / h - 1.25), z;
			int k = 0;
			while (k < limit && std::norm(z) < 4) {
				z = z * z + c;
				k++;
			}
			differ += k != got[y][x];
		}
	printf("%d pixels differ\n", differ); // a point on the border may: fused multiplications
	bool ok = differ <= 6;
	cuFloatComplex a[n], b[n], r[n][5], *da, *db, *dr;
	for (int i = 0; i < n; i++) {
		a[i] = make_cuFloatComplex(i - 20.5f, 3 - 0.5f * i);
		b[i] = make_cuFloatComplex(2 + i % 5, i % 7 - 3.0f);
	}
	CHECK(cudaMalloc(&da, sizeof a));
	CHECK(cudaMalloc(&db, sizeof b));
	CHECK(cudaMalloc(&dr, sizeof r));
	CHECK(cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice));
	arithmetic<<<1, 64>>>(da, db, dr, n);
	CHECK(cudaMemcpy(r, dr, sizeof r, cudaMemcpyDeviceToHost));
	for (int i = 0; i < n; i++) {
		std::complex<double> x(a[i].x, a[i].y), y(b[i].x, b[i].y);
		const std::complex<double> want[5] = {x * y - (x + y), x / y, {std::abs(x), y.real()}, std::conj(x), x * y + std::conj(x)};
		for (int k = 0; k < 5; k++) ok &= near(r[i][k].x, want[k].real(), 1e-5) && near(r[i][k].y, want[k].imag(), 1e-5);
	}
	return verdict(ok);
}
