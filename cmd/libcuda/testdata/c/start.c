/* One start: opens the library by name as programs do, runs a kernel, ends. */
#include "check.h"

int main(void)
{
	unsigned int v = 3, n = 64, out[64] = {0};
	CUdeviceptr p;
	open_context();
	CUfunction ramp = function(open_module(), "ramp");
	MUST(cuMemAlloc_v2(&p, sizeof out));
	void *args[] = {&p, &v, &n};
	OK(cuLaunchKernel(ramp, 1, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(out[63], 66);
	return failures != 0;
}
