/* A library that treats signals as NVRTC 13.0 does: its first compilation takes three of them by signal, and gives them back
 * by signal, which forgets the flags that they had. */
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

static int compiled;

static void handler(int sig) { _exit(90 + (sig == SIGTERM)); }

int nvrtcCreateProgram(void **p, const char *src, const char *name, int n, const char *const *h, const char *const *i)
{
	(void)src, (void)name, (void)n, (void)h, (void)i;
	*p = &compiled;
	return 0;
}

int nvrtcCompileProgram(void *p, int n, const char *const *options)
{
	(void)p, (void)n, (void)options;
	if (!compiled++) {
		void (*old[3])(int) = {signal(SIGINT, handler), signal(SIGTERM, handler), signal(SIGXFSZ, SIG_IGN)};
		usleep(400000);
		signal(SIGINT, old[0]);
		signal(SIGTERM, old[1]);
		signal(SIGXFSZ, old[2]);
		usleep(100000);
	}
	return 0;
}

int nvrtcDestroyProgram(void **p)
{
	*p = NULL;
	return 0;
}
