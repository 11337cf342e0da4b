// Philox 4x32-10 in kernels against the published algorithm on the host; normal numbers by Box and Muller.
#include "check.h"
#include <curand_kernel.h>

__global__ void draw(unsigned long long seed, uint4 *out, float4 *normal, double2 *d) {
	int i = threadIdx.x;
	curandStatePhilox4_32_10_t s;
	curand_init(seed, i, 0, &s);
	out[i] = curand4(&s);
	normal[i] = curand_normal4(&s);
	d[i] = curand_uniform2_double(&s);
}

static void philox(unsigned c[4], unsigned k0, unsigned k1) {
	for (int r = 0; r < 10; r++) {
		unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
		unsigned n[4] = {(unsigned)(b >> 32) ^ c[1] ^ k0, (unsigned)b, (unsigned)(a >> 32) ^ c[3] ^ k1, (unsigned)a};
		for (int i = 0; i < 4; i++) c[i] = n[i];
		k0 += 0x9E3779B9u;
		k1 += 0xBB67AE85u;
	}
}

int main() {
	const int n = 64;
	const unsigned long long seed = 0x123456789abcdefull;
	uint4 *o, h[n];
	float4 *f, g[n];
	double2 *d, u[n];
	CHECK(cudaMalloc(&o, sizeof h));
	CHECK(cudaMalloc(&f, sizeof g));
	CHECK(cudaMalloc(&d, sizeof u));
	draw<<<1, n>>>(seed, o, f, d);
	CHECK(cudaMemcpy(h, o, sizeof h, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(g, f, sizeof g, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(u, d, sizeof u, cudaMemcpyDeviceToHost));
	bool ok = true;
	double sum = 0, squares = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned c[4] = {0, 0, i, 0}; // the subsequence stands in the upper half of the counter
		philox(c, (unsigned)seed, (unsigned)(seed >> 32));
		ok &= h[i].x == c[0] && h[i].y == c[1] && h[i].z == c[2] && h[i].w == c[3];
		unsigned e[4] = {1, 0, i, 0};
		philox(e, (unsigned)seed, (unsigned)(seed >> 32));
		for (int k = 0; k < 2; k++) {
			float a = e[2 * k] * 2.3283064e-10f + 2.3283064e-10f / 2, b = (e[2 * k + 1] * 2.3283064e-10f + 2.3283064e-10f / 2) * 6.2831855f;
			float r = sqrtf(-2 * logf(a)), x = k ? g[i].z : g[i].x, y = k ? g[i].w : g[i].y;
			ok &= near(x, r * sin(b), 1e-4) && near(y, r * cos(b), 1e-4);
			sum += x + y;
			squares += x * x + y * y;
		}
		ok &= u[i].x > 0 && u[i].x <= 1 && u[i].y > 0 && u[i].y <= 1 && u[i].x != u[i].y;
	}
	printf("mean %f, variance %f\n", sum / (4 * n), squares / (4 * n));
	return verdict(ok && fabs(sum / (4 * n)) < 0.3 && fabs(squares / (4 * n) - 1) < 0.4);
}
