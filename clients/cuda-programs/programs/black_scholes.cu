// Prices of European options, and the parity of put and call.
#include "check.h"

__device__ float normal(float d) {
	const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
	float k = 1 / (1 + 0.2316419f * fabsf(d));
	float c = 0.39894228f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
	return d > 0 ? 1 - c : c;
}
__global__ void price(const float *S, const float *X, const float *T, float *call, float *put, float r, float v, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	float root = sqrtf(T[i]), d1 = (logf(S[i] / X[i]) + (r + 0.5f * v * v) * T[i]) / (v * root), d2 = d1 - v * root;
	float n1 = normal(d1), n2 = normal(d2), discount = expf(-r * T[i]);
	call[i] = S[i] * n1 - X[i] * discount * n2;
	put[i] = X[i] * discount * (1 - n2) - S[i] * (1 - n1);
}

int main() {
	const int n = 1000;
	const float r = 0.02f, v = 0.30f;
	std::vector<float> S(n), X(n), T(n), call(n), put(n);
	unsigned seed = 41;
	for (int i = 0; i < n; i++) {
		S[i] = 5 + (lcg(seed) % 2500) / 100.0f;
		X[i] = 1 + (lcg(seed) % 9900) / 100.0f;
		T[i] = 0.25f + (lcg(seed) % 975) / 100.0f;
	}
	float *d[5];
	for (float *&p : d) CHECK(cudaMalloc(&p, n * 4));
	CHECK(cudaMemcpy(d[0], S.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d[1], X.data(), n * 4, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(d[2], T.data(), n * 4, cudaMemcpyHostToDevice));
	price<<<(n + 127) / 128, 128>>>(d[0], d[1], d[2], d[3], d[4], r, v, n);
	CHECK(cudaMemcpy(call.data(), d[3], n * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(put.data(), d[4], n * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		double d1 = (log((double)S[i] / X[i]) + (r + 0.5 * v * v) * T[i]) / (v * sqrt((double)T[i])), d2 = d1 - v * sqrt((double)T[i]);
		auto cdf = [](double x) { return 0.5 * erfc(-x / sqrt(2.0)); };
		double want = S[i] * cdf(d1) - X[i] * exp(-(double)r * T[i]) * cdf(d2);
		ok &= fabs(call[i] - want) < 2e-4 * (1 + X[i] / 10);
		ok &= fabs(call[i] - put[i] - (S[i] - X[i] * exp(-(double)r * T[i]))) < 1e-4 * (1 + X[i] / 10);
	}
	return verdict(ok);
}
