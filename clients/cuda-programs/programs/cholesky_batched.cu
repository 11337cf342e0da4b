// Cholesky decompositions of many small matrices, one per warp.
#include "check.h"

template <int N> __global__ void cholesky(float *matrices, int count, int *bad) {
	int m = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
	if (m >= count) return;
	float *a = matrices + m * N * N;
	for (int k = 0; k < N; k++) {
		float pivot = a[k * N + k];
		if (pivot <= 0) {
			if (lane == 0) atomicAdd(bad, 1);
			return;
		}
		float root = sqrtf(pivot);
		__syncwarp();
		if (lane >= k && lane < N) a[lane * N + k] /= root;
		__syncwarp();
		for (int j = k + 1; j < N; j++)
			if (lane >= j && lane < N) a[lane * N + j] -= a[lane * N + k] * a[j * N + k];
		__syncwarp();
	}
}

int main() {
	const int N = 12, count = 21;
	std::vector<float> L(count * N * N), A(count * N * N), got(count * N * N);
	for (int m = 0; m < count; m++) {
		float *l = &L[m * N * N], *a = &A[m * N * N];
		for (int i = 0; i < N; i++)
			for (int j = 0; j <= i; j++) l[i * N + j] = i == j ? 2 + (i + m) % 3 : ((i * 5 + j * 3 + m) % 7 - 3) * 0.25f;
		for (int i = 0; i < N; i++)
			for (int j = 0; j < N; j++)
				for (int k = 0; k <= std::min(i, j); k++) a[i * N + j] += l[i * N + k] * l[j * N + k];
	}
	A[20 * N * N + 0] = -1; // not positive definite
	float *d;
	int *bad, wrong = -1;
	CHECK(cudaMalloc(&d, A.size() * 4));
	CHECK(cudaMalloc(&bad, 4));
	CHECK(cudaMemset(bad, 0, 4));
	CHECK(cudaMemcpy(d, A.data(), A.size() * 4, cudaMemcpyHostToDevice));
	cholesky<N><<<(count + 3) / 4, 128>>>(d, count, bad);
	CHECK(cudaMemcpy(got.data(), d, A.size() * 4, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&wrong, bad, 4, cudaMemcpyDeviceToHost));
	bool ok = wrong == 1;
	for (int m = 0; m < 20; m++)
		for (int i = 0; i < N; i++)
			for (int j = 0; j <= i; j++) ok &= near(got[(m * N + i) * N + j], L[(m * N + i) * N + j], 2e-5);
	return verdict(ok);
}
