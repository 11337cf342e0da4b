// cuda::atomic and atomic_ref with scopes and memory orders; a ticket lock.
#include "check.h"
#include <cuda/atomic>

struct TicketLock {
	cuda::atomic<unsigned, cuda::thread_scope_device> next, serving;
	__device__ void lock() {
		unsigned mine = next.fetch_add(1, cuda::memory_order_relaxed);
		while (serving.load(cuda::memory_order_acquire) != mine) {}
	}
	__device__ void unlock() { serving.fetch_add(1, cuda::memory_order_release); }
};

__global__ void run(TicketLock *lock, int *guarded, int *plain, long long *max, float *sum) {
	if (threadIdx.x == 0) {
		lock->lock();
		guarded[0] += 1;
		guarded[1] += guarded[0];
		lock->unlock();
	}
	cuda::atomic_ref<int, cuda::thread_scope_device> r(*plain);
	r.fetch_add(threadIdx.x, cuda::memory_order_relaxed);
	cuda::atomic_ref<long long, cuda::thread_scope_system> m(*max);
	m.fetch_max((long long)threadIdx.x * (blockIdx.x + 1));
	cuda::atomic_ref<float, cuda::thread_scope_device> f(*sum);
	float old = f.load();
	while (!f.compare_exchange_weak(old, old + 0.5f)) {}
}

int main() {
	const int blocks = 6, threads = 32;
	TicketLock *lock;
	int *d, h[3];
	long long *max, hm;
	float *sum, hs;
	CHECK(cudaMalloc(&lock, sizeof *lock));
	CHECK(cudaMemset(lock, 0, sizeof *lock));
	CHECK(cudaMalloc(&d, sizeof h));
	CHECK(cudaMemset(d, 0, sizeof h));
	CHECK(cudaMalloc(&max, 8));
	CHECK(cudaMemset(max, 0, 8));
	CHECK(cudaMalloc(&sum, 4));
	CHECK(cudaMemset(sum, 0, 4));
	run<<<blocks, threads>>>(lock, d, d + 2, max, sum);
	CHECK(cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&hm, max, 8, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(&hs, sum, 4, cudaMemcpyDeviceToHost));
	bool ok = h[0] == blocks && h[1] == blocks * (blocks + 1) / 2 && h[2] == blocks * 31 * 16;
	ok &= hm == 31 * blocks && hs == 0.5f * blocks * threads;
	return verdict(ok);
}
