// printf in kernels: the lines are caught and compared, in order within a thread.
#include "check.h"
#include <cstring>
#include <string>
#include <unistd.h>

__global__ void talk(int base) {
	if (threadIdx.x < 3)
		printf("thread %d: %5.2f|%-6s|%c|%x\n", threadIdx.x, base + threadIdx.x / 4.0, threadIdx.x == 1 ? "one" : "other", 'a' + threadIdx.x, 255u << threadIdx.x);
}
__global__ void long_values(const char *) {
	printf("%lld %llu %ld %d %e %g %%\n", -1234567890123ll, 18446744073709551615ull, 42l, -5, 12345.678, 0.0001);
	int n = printf("%s-%d-%p\n", "arguments", 3, (void *)0x1234);
	printf("%d\n", n);
}

int main() {
	fflush(stdout);
	int out = dup(1), ends[2];
	if (pipe(ends)) return verdict(false);
	dup2(ends[1], 1);
	talk<<<1, 32>>>(10);
	CHECK(cudaDeviceSynchronize());
	long_values<<<1, 1>>>("");
	CHECK(cudaDeviceSynchronize());
	fflush(stdout);
	dup2(out, 1);
	close(ends[1]);
	std::string text;
	char buffer[4096];
	for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, n);
	printf("%s", text.c_str());
	bool ok = true;
	for (const char *line : {"thread 0: 10.00|other |a|ff\n", "thread 1: 10.25|one   |b|1fe\n", "thread 2: 10.50|other |c|3fc\n",
			"-1234567890123 18446744073709551615 42 -5 1.234568e+04 0.0001 %\n", "arguments-3-0x1234\n3\n"})
		if (text.find(line) == std::string::npos) {
			printf("missing: %s", line);
			ok = false;
		}
	return verdict(ok);
}
