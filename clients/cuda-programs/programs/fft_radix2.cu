// A fast Fourier transform in shared memory, there and back, against the slow sum.
#include "check.h"

const int n = 256;

__global__ void fft(float2 *data, int sign) {
	__shared__ float2 s[n];
	float2 *signal = data + blockIdx.x * n;
	int t = threadIdx.x;
	for (int i = t; i < n; i += blockDim.x) s[__brev(i) >> 24] = signal[i];
	for (int half = 1; half < n; half *= 2) {
		__syncthreads();
		int k = t % half, a = t / half * 2 * half + k, b = a + half;
		float sn, cs;
		sincospif((float)sign * k / half, &sn, &cs);
		float2 v = make_float2(s[b].x * cs - s[b].y * sn, s[b].x * sn + s[b].y * cs), u = s[a];
		s[a] = make_float2(u.x + v.x, u.y + v.y);
		s[b] = make_float2(u.x - v.x, u.y - v.y);
	}
	__syncthreads();
	float scale = sign > 0 ? 1.0f / n : 1.0f;
	for (int i = t; i < n; i += blockDim.x) signal[i] = make_float2(s[i].x * scale, s[i].y * scale);
}

int main() {
	const int batch = 4;
	std::vector<float2> h(batch * n), f(batch * n), back(batch * n);
	for (int i = 0; i < batch * n; i++) h[i] = make_float2((i * 37 % 101) / 50.0f - 1, (i * 53 % 89) / 44.0f - 1);
	float2 *d;
	CHECK(cudaMalloc(&d, h.size() * 8));
	CHECK(cudaMemcpy(d, h.data(), h.size() * 8, cudaMemcpyHostToDevice));
	fft<<<batch, n / 2>>>(d, -1);
	CHECK(cudaMemcpy(f.data(), d, h.size() * 8, cudaMemcpyDeviceToHost));
	fft<<<batch, n / 2>>>(d, 1);
	CHECK(cudaMemcpy(back.data(), d, h.size() * 8, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int b = 0; b < batch; b++)
		for (int k = 0; k < n; k++) {
			double re = 0, im = 0;
			for (int i = 0; i < n; i++) {
				double a = -2 * M_PI * (i * k % n) / n, c = cos(a), s = sin(a);
				re += h[b * n + i].x * c - h[b * n + i].y * s;
				im += h[b * n + i].x * s + h[b * n + i].y * c;
			}
			ok &= fabs(f[b * n + k].x - re) < 2e-4 && fabs(f[b * n + k].y - im) < 2e-4;
			ok &= fabs(back[b * n + k].x - h[b * n + k].x) < 1e-5 && fabs(back[b * n + k].y - h[b * n + k].y) < 1e-5;
		}
	return verdict(ok);
}
