// Four threads of the host share the device, each with the per-thread stream and memory of its own.
#include "check.h"
#include <thread>

__global__ void powers(unsigned *p, unsigned base, int n) {
	int i = threadIdx.x;
	unsigned v = 1;
	for (int k = 0; k < i % n; k++) v *= base;
	p[i] = v;
}

static void work(unsigned base, bool *ok) {
	unsigned *p, host[96];
	CHECK(cudaSetDevice(0));
	CHECK(cudaMalloc(&p, sizeof host));
	*ok = true;
	for (int round = 1; round < 6; round++) {
		powers<<<1, 96, 0, cudaStreamPerThread>>>(p, base + round, 8 + round);
		CHECK(cudaMemcpyAsync(host, p, sizeof host, cudaMemcpyDeviceToHost, cudaStreamPerThread));
		CHECK(cudaStreamSynchronize(cudaStreamPerThread));
		for (int i = 0; i < 96; i++) {
			unsigned want = 1;
			for (int k = 0; k < i % (8 + round); k++) want *= base + round;
			*ok &= host[i] == want;
		}
	}
	CHECK(cudaFree(p));
}

int main() {
	bool ok[4] = {};
	std::vector<std::thread> threads;
	for (int t = 0; t < 4; t++) threads.emplace_back(work, 3 + 10 * t, &ok[t]);
	for (auto &t : threads) t.join();
	return verdict(ok[0] && ok[1] && ok[2] && ok[3]);
}
