/* Answers "name version flags" of each line of its input with "result status symbol". */
#define _GNU_SOURCE
#include "check.h"
#include <dlfcn.h>

int main(void)
{
	char name[200];
	int version;
	unsigned long long flags;
	while (scanf("%199s %d %llu", name, &version, &flags) == 3) {
		void *f = &name, *g = &name;
		CUdriverProcAddressQueryResult st = (CUdriverProcAddressQueryResult)77;
		CUresult r = cuGetProcAddress_v2(name, &f, version, flags, &st);
		EQ(cuGetProcAddress_v2(name, &g, version, flags, NULL), r);
		EQ(f == g, 1);
		Dl_info info = {0};
		if (f && f != &name && (!dladdr(f, &info) || info.dli_saddr != f))
			info.dli_sname = "?";
		printf("%d %d %s\n", r, r == CUDA_SUCCESS ? (int)st : -1, info.dli_sname ? info.dli_sname : "-");
		g = &name;
		CUresult old = cuGetProcAddress(name, &g, version, flags);
		EQ(old, r == CUDA_SUCCESS && st != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND : r);
		EQ(f == g, 1);
	}
	return failures != 0;
}
