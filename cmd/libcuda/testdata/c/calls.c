/* What calls cost: prints "name nanoseconds" for each, the least of several rounds. */
#include "check.h"
#include <time.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

#define MEASURE(name, count, body, after) do { \
	double best = 1e18; \
	for (int round = 0; round < 10; round++) { \
		double t = now(); \
		for (int i = 0; i < (count); i++) { body; } \
		after; \
		t = (now() - t) / (count); \
		if (t < best) best = t; \
	} \
	printf("%s %.1f\n", name, best); \
} while (0)

int main(void)
{
	CUcontext c;
	CUdevice d;
	CUstream s;
	CUdeviceptr p;
	int v = 0, n;
	unsigned int flags;
	open_context();
	CUmodule m = open_module();
	CUfunction poke = function(m, "poke");
	MUST(cuStreamCreate(&s, 0));
	MUST(cuMemAlloc_v2(&p, 64));
	unsigned int one = 1;
	void *args[] = {&p, &one};
	MEASURE("cuDriverGetVersion", 100000, cuDriverGetVersion(&n), );
	MEASURE("cuCtxGetCurrent", 100000, cuCtxGetCurrent(&c), );
	MEASURE("cuCtxGetDevice", 100000, cuCtxGetDevice(&d), );
	MEASURE("cuStreamGetFlags", 100000, cuStreamGetFlags(s, &flags), );
	MEASURE("cuStreamQuery", 100000, cuStreamQuery(s), );
	MEASURE("cuMemcpyHtoD", 20000, cuMemcpyHtoD_v2(p, &v, 4), );
	MEASURE("launch_store", 2000, cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL), cuStreamSynchronize(s));
	MEASURE("launch_store_and_wait", 2000, cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, s, args, NULL); cuStreamSynchronize(s), );
	return 0;
}
