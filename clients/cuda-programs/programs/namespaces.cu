// Kernels in namespaces, anonymous and inline ones, static ones, and as members' friends; overloads.
#include "check.h"

namespace outer {
namespace {
__global__ void kernel(int *p) { p[threadIdx.x] += 1; }
}
inline namespace v2 {
__global__ void kernel2(int *p, float f) { p[threadIdx.x] += (int)f; }
__global__ void kernel2(int *p, int f) { p[threadIdx.x] += 10 * f; }
}
struct Launcher {
	static void run(int *p);
};
}
static __global__ void kernel(int *p) { p[threadIdx.x] += 1000; }

__global__ void kernel(int *p, const char *s) { // a string of the host's is not read, its length is
	p[threadIdx.x] += s == nullptr ? 5000 : 0;
}

void outer::Launcher::run(int *p) {
	kernel<<<1, 32>>>(p);
	kernel2<<<1, 32>>>(p, 2.9f);
	kernel2<<<1, 32>>>(p, 3);
	::kernel<<<1, 32>>>(p);
	::kernel<<<1, 32>>>(p, (const char *)nullptr);
	void (*which)(int *, int) = kernel2;
	which<<<1, 32>>>(p, 100);
}

int main() {
	int *p, host[32];
	CHECK(cudaMalloc(&p, sizeof host));
	CHECK(cudaMemset(p, 0, sizeof host));
	outer::Launcher::run(p);
	CHECK(cudaMemcpy(host, p, sizeof host, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int v : host) ok &= v == 1 + 2 + 30 + 1000 + 5000 + 1000;
	return verdict(ok);
}
