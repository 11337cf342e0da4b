/* Calls every symbol that its input names with zeros for arguments: before cuInit, then without a context, then with one. Prints "name before without with", the results. */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

typedef CUresult any(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);

enum { MOST = 1000 };
static char names[MOST][100];
static CUresult results[3][MOST];

static void all(int n, CUresult *to, void (*prepare)(void))
{
	for (int i = 0; i < n; i++) {
		if (prepare && strcmp(names[i], "cuInit") == 0)
			continue;
		if (prepare)
			prepare();
		any *f = (any *)(uintptr_t)dlsym(RTLD_DEFAULT, names[i]);
		if (!f) {
			printf("there is no %s\n", names[i]);
			exit(1);
		}
		fprintf(stderr, "%s\n", names[i]);
		to[i] = f(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
	}
}

static void none(void)
{
	CUcontext c;
	MUST(cuInit(0));
	while (cuCtxPopCurrent_v2(&c) == CUDA_SUCCESS)
		;
}

static CUcontext ctx;
static void one(void)
{
	none();
	MUST(cuCtxSetCurrent(ctx));
}

int main(void)
{
	int n = 0;
	while (n < MOST && scanf("%99s", names[n]) == 1)
		n++;
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], "cuInit") == 0) { /* last, since it ends the first part */
			strcpy(names[i], names[n - 1]);
			strcpy(names[n - 1], "cuInit");
		}
	all(n, results[0], NULL);
	all(n, results[1], none);
	MUST(cuCtxCreate_v2(&ctx, 0, 0));
	all(n, results[2], one);
	for (int i = 0; i < n; i++)
		printf("%s %d %d %d\n", names[i], results[0][i], results[1][i], results[2][i]);
	return failures != 0;
}
