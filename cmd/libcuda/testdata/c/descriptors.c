/* A program that has no file descriptors left: answers, and no end of the process. With an argument, that many are left
   at the first call. */
#include "check.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static void leave(int n)
{
	int fd = open("/dev/null", O_RDONLY);
	struct rlimit r = {fd + n, fd + n};
	close(fd);
	EQ(setrlimit(RLIMIT_NOFILE, &r), 0);
}

/* rest is a program that runs a kernel with the descriptors that it had left when it opened its context. */
static void rest(int at_context)
{
	CUdeviceptr p;
	CUstream s;
	CUevent e;
	CUipcMemHandle h;
	CUmodule m;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	if (!at_context)
		leave(0);
	MUST(cuMemAlloc_v2(&p, 4096));
	if (!at_context)
		WANT(cuIpcGetMemHandle(&h, p), CUDA_ERROR_MAP_FAILED); /* the memory of a handle is a file */
	m = open_module();
	unsigned int one = 1;
	void *args[] = {&p, &one};
	OK(cuLaunchKernel(function(m, "poke"), 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	OK(cuEventRecord(e, s));
	OK(cuEventSynchronize(e));
	OK(cuCtxSynchronize());
}

int main(int argc, char **argv)
{
	if (argc > 1) {
		leave(atoi(argv[1]));
		CUresult r = cuInit(0);
		if (r == CUDA_SUCCESS) {
			open_context();
			rest(1);
			printf("works\n");
		} else {
			WANT(r, CUDA_ERROR_OPERATING_SYSTEM);
		}
		return done("descriptors");
	}
	open_context();
	rest(0);
	return done("descriptors");
}
