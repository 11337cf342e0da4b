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

int main(int argc, char **argv)
{
	if (argc > 1) {
		leave(atoi(argv[1]));
		WANT(cuInit(0), CUDA_ERROR_OPERATING_SYSTEM);
		return done("descriptors");
	}
	CUdeviceptr p;
	CUstream s;
	CUevent e;
	CUipcMemHandle h;
	CUmodule m;
	open_context();
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	leave(0);
	MUST(cuMemAlloc_v2(&p, 4096));
	WANT(cuIpcGetMemHandle(&h, p), CUDA_ERROR_MAP_FAILED); /* the memory of a handle is a file */
	m = open_module();
	unsigned int one = 1;
	void *args[] = {&p, &one};
	OK(cuLaunchKernel(function(m, "poke"), 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
	OK(cuEventCreate(&e, CU_EVENT_DEFAULT));
	OK(cuEventRecord(e, s));
	OK(cuEventSynchronize(e));
	OK(cuCtxSynchronize());
	return done("descriptors");
}
