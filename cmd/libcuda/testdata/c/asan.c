/* A client with an error of its own, for the address sanitizer to find: the copy's target on the heap is too small. */
#include "check.h"

int main(void)
{
	open_context();
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, 64));
	char *small = malloc(32);
	OK(cuMemcpyDtoH_v2(small, p, 32));
	volatile int beyond = 40;
	small[beyond] = 1;
	return small[0];
}
