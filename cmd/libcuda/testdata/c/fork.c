/* A fork before cuInit leaves the driver to the child as it was. After it, the child has no driver: CUDA_ERROR_NOT_INITIALIZED, as with NVIDIA's. */
#include "check.h"
#include <sys/wait.h>
#include <unistd.h>

static void in_child(int (*f)(void))
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		_exit(f());
	}
	int status = -1;
	waitpid(pid, &status, 0);
	EQ(status, 0);
}

static int fresh(void)
{
	unsigned int v = 3, n = 1, out = 0;
	CUdeviceptr p;
	open_context();
	CUfunction ramp = function(open_module(), "ramp");
	MUST(cuMemAlloc_v2(&p, 4));
	void *args[] = {&p, &v, &n};
	OK(cuLaunchKernel(ramp, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	EQ(out, 3);
	return failures != 0;
}

static CUdeviceptr p;
static int after(void)
{
	unsigned int out = 0;
	int v = 0;
	const char *s = NULL;
	CUcontext c;
	CUdeviceptr q;
	WANT(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
	WANT(cuMemcpyDtoH_v2(&out, p, 4), CUDA_ERROR_NOT_INITIALIZED);
	WANT(cuMemAlloc_v2(&q, 4), CUDA_ERROR_NOT_INITIALIZED);
	WANT(cuCtxGetCurrent(&c), CUDA_ERROR_NOT_INITIALIZED);
	WANT(cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
	/* What works without cuInit works here. */
	OK(cuDriverGetVersion(&v));
	EQ(v, 13000);
	OK(cuGetErrorString(CUDA_ERROR_NOT_INITIALIZED, &s));
	void *f = NULL;
	CUdriverProcAddressQueryResult st;
	OK(cuGetProcAddress_v2("cuMemAlloc", &f, 12000, 0, &st));
	EQ(f == (void *)cuMemAlloc_v2, 1);
	/* A child of the child too. */
	pid_t pid = fork();
	if (pid == 0)
		_exit(cuInit(0) != CUDA_ERROR_NOT_INITIALIZED);
	int status = -1;
	waitpid(pid, &status, 0);
	EQ(status, 0);
	return failures != 0;
}

int main(void)
{
	int v = 0;
	void *f = NULL;
	/* These do not start it. */
	OK(cuDriverGetVersion(&v));
	OK(cuGetProcAddress("cuInit", &f, 13000, 0));
	for (int i = 0; i < 3; i++)
		in_child(fresh);
	open_context();
	MUST(cuMemAlloc_v2(&p, 4));
	OK(cuMemsetD32_v2(p, 5, 1));
	for (int i = 0; i < 10; i++)
		in_child(after);
	/* The parent goes on. */
	unsigned int out = 0;
	OK(cuMemcpyDtoH_v2(&out, p, 4));
	EQ(out, 5);
	EQ(fresh(), 0);
	return done("fork");
}
