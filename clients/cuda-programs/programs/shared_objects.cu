// __shared__ variables whose types have constructors, which no one calls: a barrier, a pipeline's state, a class.
#include "check.h"
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <new>
#include <utility>

const int threads = 128, tiles = 6;

// Tiles of in come in pairs of stages while those before are turned round.
__global__ void reverse(const float *in, float *out) {
	__shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
	__shared__ __align__(16) float stage[2][threads];
	auto block = cooperative_groups::this_thread_block();
	auto pipe = cuda::make_pipeline(block, &state);
	for (int t = -1; t < tiles; t++) {
		if (t + 1 < tiles) {
			pipe.producer_acquire();
			cuda::memcpy_async(block, stage[(t + 1) & 1], in + (t + 1) * threads,
							   cuda::aligned_size_t<16>(sizeof stage[0]), pipe);
			pipe.producer_commit();
		}
		if (t < 0) continue;
		pipe.consumer_wait();
		out[t * threads + threadIdx.x] = stage[t & 1][threads - 1 - threadIdx.x];
		pipe.consumer_release();
	}
}

// Each round every thread hands its value to the next one.
__global__ void rotate(float *p, int rounds) {
	__shared__ cuda::barrier<cuda::thread_scope_block> ready;
	__shared__ cuda::barrier<cuda::thread_scope_block> taken;
	__shared__ float s[threads];
	int t = threadIdx.x;
	if (t == 0) init(&ready, threads), init(&taken, threads);
	__syncthreads();
	float v = p[t];
	for (int r = 0; r < rounds; r++) {
		s[t] = v;
		auto token = ready.arrive();
		ready.wait(std::move(token));
		v = s[(t + 1) % threads];
		taken.arrive_and_wait();
	}
	p[t] = v;
}

struct Count {
	int n[4];
	__device__ Count() : n{1, 2, 3, 4} {}
	__device__ void add(int i) { atomicAdd(&n[i & 3], i); }
};
template <int N> __global__ void counts(int *out) {
	static __shared__ Count count[N];
	if (threadIdx.x < N) new (&count[threadIdx.x]) Count;
	__syncthreads();
	count[threadIdx.x % N].add(threadIdx.x);
	__syncthreads();
	if (threadIdx.x < 4 * N) out[threadIdx.x] = count[threadIdx.x / 4].n[threadIdx.x % 4];
}

int main() {
	bool ok = true;
	float *in, *out;
	int *n;
	CHECK(cudaMallocManaged(&in, threads * tiles * sizeof(float)));
	CHECK(cudaMallocManaged(&out, threads * tiles * sizeof(float)));
	CHECK(cudaMallocManaged(&n, 8 * sizeof(int)));
	for (int i = 0; i < threads * tiles; i++) in[i] = i * 7 % 1000;
	reverse<<<1, threads>>>(in, out);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < threads * tiles; i++) ok &= out[i] == in[i / threads * threads + threads - 1 - i % threads];

	for (int i = 0; i < threads; i++) out[i] = i;
	rotate<<<1, threads>>>(out, 5);
	counts<2><<<1, threads>>>(n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < threads; i++) ok &= out[i] == (i + 5) % threads;
	int want[8] = {1, 2, 3, 4, 1, 2, 3, 4};
	for (int i = 0; i < threads; i++) want[i % 2 * 4 + i % 4] += i;
	for (int i = 0; i < 8; i++) EXPECT(n[i] == want[i]);
	return verdict(ok);
}
