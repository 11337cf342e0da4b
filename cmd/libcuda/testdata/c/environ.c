/* Variables that the program sets or removes before its first call count, not those that it was started with: prints the number of devices. Arguments are NAME=VALUE, or NAME to remove it. */
#include "check.h"

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');
		if (!value) {
			unsetenv(argv[i]);
			continue;
		}
		*value = 0;
		setenv(argv[i], value + 1, 1);
	}
	int n = 0;
	CUresult r = cuInit(0);
	if (r == CUDA_SUCCESS)
		MUST(cuDeviceGetCount(&n));
	printf("%d %d", r, n);
	/* The program's environment stays as it was. */
	for (int i = 1; i < argc; i++) {
		const char *value = getenv(argv[i]);
		printf(" %s", value ? value : "-");
	}
	printf("\n");
	return failures != 0;
}
