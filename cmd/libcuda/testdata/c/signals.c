/* Signals stay the program's: a fault of its own ends it as it would without the driver, its own handler is called, SIGPIPE ends it; and faults of kernels are
 * none of its business. */
#include "check.h"
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void fault_kernel(CUresult expected)
{
	CUfunction poke = function(open_module(), "poke");
	CUdeviceptr bad = 0x10;
	unsigned int v = 1;
	void *args[] = {&bad, &v};
	OK(cuLaunchKernel(poke, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	WANT(cuCtxSynchronize(), expected);
}

static int by_signal(void (*f)(void))
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		alarm(20);
		f();
		_exit(0);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static volatile int *nowhere = (int *)16;

static void segv(void)
{
	open_context();
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	if (failures)
		_exit(9);
	*nowhere = 1;
}

static void host(void *p)
{
	(void)p;
	*nowhere = 1;
}

static void segv_in_callback(void)
{
	open_context();
	cuLaunchHostFunc(NULL, host, NULL);
	cuCtxSynchronize();
}

static void broken_pipe(void)
{
	int fd[2];
	open_context();
	if (pipe(fd))
		_exit(9);
	close(fd[0]);
	if (write(fd[1], "x", 1) != 1)
		_exit(8);
}

static sigjmp_buf back;
static void jump(int sig)
{
	siglongjmp(back, sig);
}

static void own_handler(void)
{
	struct sigaction a = {.sa_handler = jump};
	sigaction(SIGSEGV, &a, NULL);
	open_context();
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	if (sigsetjmp(back, 1) == 0)
		*nowhere = 1;
	_exit(failures ? 9 : 5);
}

int main(void)
{
	EQ(by_signal(segv), SIGSEGV);
	EQ(by_signal(segv_in_callback), SIGSEGV);
	EQ(by_signal(broken_pipe), SIGPIPE);
	EQ(by_signal(own_handler), -5);
	return done("signals");
}
