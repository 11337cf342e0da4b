/* Signals stay the program's: a fault of its own ends it as it would without the driver, its own handler is called, SIGPIPE ends it; and faults of kernels are
 * none of its business. */
#define _GNU_SOURCE
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
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

/* A handler that is installed after the device, and that may then call the one it replaced. */
static struct sigaction replaced;
static volatile int late_calls;
static void late(int sig, siginfo_t *info, void *context)
{
	late_calls++;
	if (replaced.sa_flags & SA_SIGINFO)
		replaced.sa_sigaction(sig, info, context);
	else
		signal(sig, SIG_DFL);
}

static void late_handler(void)
{
	open_context();
	open_module();
	struct sigaction a = {.sa_handler = jump};
	sigaction(SIGSEGV, &a, NULL);
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	for (int i = 0; i < 3; i++)
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
	_exit(failures ? 9 : 5);
}

static void late_chain(void)
{
	open_context();
	struct sigaction a = {.sa_sigaction = late, .sa_flags = SA_SIGINFO};
	sigaction(SIGSEGV, &a, &replaced);
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	if (failures || late_calls)
		_exit(9);
	*nowhere = 1;
}

/* As Python's faulthandler: once it has written what it knows it puts the old handler back and raises the signal again. */
static void once(int sig)
{
	sigaction(sig, &replaced, NULL);
	raise(sig);
}

static void late_raise(void)
{
	open_context();
	struct sigaction a = {.sa_handler = once, .sa_flags = SA_NODEFER};
	sigaction(SIGSEGV, &a, &replaced);
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	if (failures)
		_exit(9);
	*nowhere = 1;
}

/* The handler that was there when the device came is put back, as faulthandler does when it is switched off. */
static void put_back(void)
{
	signal(SIGSEGV, SIG_DFL);
	open_context();
	signal(SIGSEGV, SIG_DFL);
	fault_kernel(CUDA_ERROR_ILLEGAL_ADDRESS);
	if (failures)
		_exit(9);
	*nowhere = 1;
}

/* A plain handler, installed after the device came, that needs as much stack as handlers may: it finds itself on a stack of C's, whatever the device is doing on the thread
 * that it interrupts. The stack of a goroutine has a few KiB. */
static volatile sig_atomic_t ticks, elsewhere;
static void *stack;
static size_t stack_size;
static void tick(int sig)
{
	volatile char room[200 << 10];
	stack_t s;
	char *low = stack, *here = __builtin_frame_address(0);
	size_t size = stack_size;
	(void)sig;
	sigaltstack(NULL, &s);
	if (s.ss_flags & SS_ONSTACK) {
		low = s.ss_sp;
		size = s.ss_size;
	}
	if (here < low + sizeof room || here > low + size) {
		elsewhere++;
		return;
	}
	for (size_t i = 0; i < sizeof room; i += 1024)
		room[i] = 1;
	ticks++;
}

static void plain_handler(void)
{
	pthread_attr_t a;
	if (pthread_getattr_np(pthread_self(), &a) || pthread_attr_getstack(&a, &stack, &stack_size))
		_exit(8);
	pthread_attr_destroy(&a);
	open_context();
	CUmodule m = open_module();
	CUfunction ramp = function(m, "ramp");
	CUdeviceptr d;
	unsigned int v = 1, n = 1 << 20;
	MUST(cuMemAlloc_v2(&d, 4 * n));
	void *args[] = {&d, &v, &n};
	signal(SIGALRM, tick);
	OK(cuCtxSynchronize());
	usleep(20000);
	struct itimerval every = {{0, 300}, {0, 300}}, never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; !failures && (i < 200 || (ticks < 20 && i < 5000)); i++) {
		OK(cuLaunchKernel(ramp, n / 256, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
		OK(cuCtxSynchronize());
	}
	setitimer(ITIMER_REAL, &never, NULL);
	_exit(failures ? 9 : elsewhere ? 7 : ticks < 20 ? 6 : 5);
}

/* A thread that was sent SIGURG while the driver was loaded may have lost it, and gets another; its handler is the
 * program's before and after. A program in Go waits for ever without it (TestGoClient). */
static volatile sig_atomic_t urged;
static __thread int urgent;
static volatile int ended;

static void urge(int sig)
{
	(void)sig;
	urged += urgent;
}

static void *wait_for_end(void *p)
{
	urgent = 1;
	__atomic_store_n((volatile int *)p, 1, __ATOMIC_RELEASE);
	while (!__atomic_load_n(&ended, __ATOMIC_ACQUIRE))
		usleep(1000);
	return NULL;
}

static void urged_threads(void)
{
	pthread_t t;
	volatile int begun = 0;
	signal(SIGURG, urge);
	pthread_create(&t, NULL, wait_for_end, (void *)&begun);
	while (!__atomic_load_n(&begun, __ATOMIC_ACQUIRE))
		usleep(1000);
	open_context();
	for (int i = 0; i < 5000 && !urged; i++)
		usleep(1000);
	int first = urged;
	pthread_kill(t, SIGURG);
	for (int i = 0; i < 5000 && urged == first; i++)
		usleep(1000);
	__atomic_store_n(&ended, 1, __ATOMIC_RELEASE);
	pthread_join(t, NULL);
	_exit(failures ? 9 : first == 0 ? 8 : urged != first + 1 ? 7 : 5);
}

int main(void)
{
	EQ(by_signal(urged_threads), -5);
	EQ(by_signal(plain_handler), -5);
	EQ(by_signal(late_handler), -5);
	EQ(by_signal(late_chain), SIGSEGV);
	EQ(by_signal(late_raise), SIGSEGV);
	EQ(by_signal(put_back), SIGSEGV);
	EQ(by_signal(segv), SIGSEGV);
	EQ(by_signal(segv_in_callback), SIGSEGV);
	EQ(by_signal(broken_pipe), SIGPIPE);
	EQ(by_signal(own_handler), -5);
	return done("signals");
}
