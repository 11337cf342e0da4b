// new and delete in a kernel: arrays and objects with constructors and destructors.
#include "check.h"

__device__ int alive;

class Series {
	int n;
	double *terms;
public:
	__device__ explicit Series(int n) : n(n), terms(new double[n]) {
		atomicAdd(&alive, 1);
		for (int i = 0; i < n; i++) terms[i] = 1.0 / (1 << i);
	}
	__device__ ~Series() {
		delete[] terms;
		atomicAdd(&alive, -1);
	}
	__device__ double sum() const {
		double s = 0;
		for (int i = 0; i < n; i++) s += terms[i];
		return s;
	}
};

__global__ void run(double *out, int *seen) {
	__shared__ Series *shared;
	if (threadIdx.x == 0) shared = new Series(8);
	Series *mine = new Series(threadIdx.x + 1);
	__syncthreads();
	if (threadIdx.x == 0) *seen = alive;
	out[threadIdx.x] = mine->sum() + shared->sum();
	delete mine;
	__syncthreads();
	if (threadIdx.x == 0) delete shared;
}

int main() {
	const int n = 24;
	double *out, host[n];
	int *seen, s, left = -1;
	CHECK(cudaMalloc(&out, sizeof host));
	CHECK(cudaMalloc(&seen, sizeof(int)));
	run<<<1, n>>>(out, seen);
	CHECK(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&s, seen, sizeof s, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpyFromSymbol(&left, alive, sizeof left));
	bool ok = s == n + 1 && left == 0;
	for (int i = 0; i < n; i++) ok &= host[i] == 2 - 1.0 / (1 << i) + 2 - 1.0 / 128;
	return verdict(ok);
}
