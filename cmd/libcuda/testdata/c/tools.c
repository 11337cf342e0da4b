/* What tools use: the profiler's switch, settings of core dumps, the log of errors, addresses of functions. */
#include "check.h"

static int told;
static void log_(void *data, CUlogLevel level, char *text, size_t n)
{
	(void)data;
	(void)level;
	told += n > 0 && text[0] != 0;
}

int main(void)
{
	open_context();
	OK(cuProfilerStart());
	OK(cuProfilerStop());
	_Bool on = 1;
	size_t size = sizeof on;
	OK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
	EQ(on, 0);
	CUlogsCallbackHandle h;
	OK(cuLogsRegisterCallback(log_, NULL, &h));
	CUdeviceptr p;
	WANT(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuLogsUnregisterCallback(h));
	int before = told;
	WANT(cuMemAlloc_v2(&p, 0), CUDA_ERROR_INVALID_VALUE);
	EQ(told, before);
	void *f = NULL;
	CUdriverProcAddressQueryResult status;
	OK(cuGetProcAddress_v2("cuMemAlloc", &f, 12000, CU_GET_PROC_ADDRESS_DEFAULT, &status));
	TRUE(f != NULL);
	EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
	const void *table = NULL;
	CUuuid nothing = {{0}};
	TRUE(cuGetExportTable(&table, &nothing) != CUDA_SUCCESS);
	return done("tools");
}
