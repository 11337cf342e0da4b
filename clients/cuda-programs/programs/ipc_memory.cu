// Two processes: the child opens the parent's memory by its handle and writes to it.
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int *p, int factor) { p[threadIdx.x] = factor * threadIdx.x; }
__global__ void change(int *p) { p[threadIdx.x] += 1000; }

struct Message { cudaIpcMemHandle_t memory; };

static int child(int from, int to) {
	Message m;
	if (read(from, &m, sizeof m) != sizeof m) return 1;
	int *p, h[64];
	CHECK(cudaIpcOpenMemHandle((void **)&p, m.memory, cudaIpcMemLazyEnablePeerAccess));
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < 64; i++) ok &= h[i] == 3 * i;
	change<<<1, 64>>>(p);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaIpcCloseMemHandle(p));
	return write(to, &ok, 1) != 1 || !ok;
}

int main() {
	int there[2], back[2];
	if (pipe(there) || pipe(back)) return verdict(false);
	pid_t pid = fork(); // before the first call of CUDA
	if (pid == 0) _exit(child(there[0], back[1]));
	Message m;
	int *p, h[64], status = 1;
	CHECK(cudaMalloc(&p, sizeof h));
	fill<<<1, 64>>>(p, 3);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaIpcGetMemHandle(&m.memory, p));
	bool ok = write(there[1], &m, sizeof m) == sizeof m;
	close(back[1]);
	char done = 0;
	ok &= read(back[0], &done, 1) == 1 && done;
	waitpid(pid, &status, 0);
	CHECK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost));
	for (int i = 0; i < 64; i++) ok &= h[i] == 3 * i + 1000;
	return verdict(ok && status == 0);
}
