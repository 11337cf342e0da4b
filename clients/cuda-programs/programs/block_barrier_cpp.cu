// cuda::barrier in shared memory: the phases of a relaxation.
#include "check.h"
#include <cuda/barrier>
#include <utility>

__global__ void relax(float *p, int n, int rounds, int *phases) {
	using Barrier = cuda::barrier<cuda::thread_scope_block>;
	alignas(Barrier) __shared__ unsigned char storage[sizeof(Barrier)]; // clang takes no shared object with a constructor
	Barrier &bar = *reinterpret_cast<Barrier *>(storage);
	__shared__ float s[2][128];
	int t = threadIdx.x;
	if (t == 0) init(&bar, blockDim.x);
	s[0][t] = p[t];
	__syncthreads();
	for (int r = 0; r < rounds; r++) {
		float *a = s[r & 1], *b = s[~r & 1];
		b[t] = (a[(t + 1) % n] + a[(t + n - 1) % n]) * 0.5f;
		auto token = bar.arrive();
		bar.wait(std::move(token));
		if (t == 0) ++*phases;
	}
	p[t] = s[rounds & 1][t];
}

int main() {
	const int n = 128, rounds = 9;
	float a[n], b[n], got[n], *p;
	int *phases, h = 0;
	for (int i = 0; i < n; i++) a[i] = i * 37 % 64 * 16;
	CHECK(cudaMalloc(&p, sizeof a));
	CHECK(cudaMalloc(&phases, 4));
	CHECK(cudaMemset(phases, 0, 4));
	CHECK(cudaMemcpy(p, a, sizeof a, cudaMemcpyHostToDevice));
	relax<<<1, n>>>(p, n, rounds, phases);
	CHECK(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&h, phases, 4, cudaMemcpyDeviceToHost));
	for (int r = 0; r < rounds; r++) {
		for (int i = 0; i < n; i++) b[i] = (a[(i + 1) % n] + a[(i + n - 1) % n]) * 0.5f;
		std::swap(a, b);
	}
	bool ok = h == rounds;
	for (int i = 0; i < n; i++) ok &= got[i] == a[i];
	return verdict(ok);
}
