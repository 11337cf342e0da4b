/* Calls from the driver into C. */
#include "check.h"
#include <pthread.h>

static int order[4], next_;
static CUresult inside;
static CUcontext seen;

static void host(void *p)
{
	order[next_++] = *(int *)p;
	inside = cuCtxGetCurrent(&seen);
}

static CUstream got_stream;
static CUresult got_status = CUDA_ERROR_UNKNOWN;
static void stream_callback(CUstream s, CUresult status, void *p)
{
	got_stream = s;
	got_status = status;
	order[next_++] = *(int *)p;
}

static size_t shared_bytes(int block) { return (size_t)block * 4; }

static int asked;
static size_t asking(int block)
{
	asked++;
	return (size_t)block * 100;
}

static char logged[300];
static void log_callback(void *data, CUlogLevel level, char *message, size_t length)
{
	if (*(int *)data == 3 && level == CU_LOG_LEVEL_ERROR && length < sizeof logged)
		memcpy(logged, message, length);
}

int main(void)
{
	open_context();
	CUmodule m = open_module();
	CUfunction ramp = function(m, "ramp");
	CUstream s;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	int one = 1, two = 2, three = 3;
	OK(cuLaunchHostFunc(s, host, &one));
	OK(cuStreamAddCallback(s, stream_callback, &two, 0));
	OK(cuLaunchHostFunc(s, host, &three));
	OK(cuStreamSynchronize(s));
	EQ(order[0], 1);
	EQ(order[1], 2);
	EQ(order[2], 3);
	EQ(got_stream, s);
	EQ(got_status, CUDA_SUCCESS);
	/* A host function must not call the driver (cuLaunchHostFunc). */
	EQ(inside, CUDA_ERROR_NOT_PERMITTED);
	CUcontext c = NULL;
	OK(cuCtxGetCurrent(&c));
	TRUE(c != NULL);

	int grid = 0, block = 0, fixed_grid = 0, fixed_block = 0;
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, ramp, shared_bytes, 0, 0));
	TRUE(block >= 32 && block <= 1024);
	OK(cuOccupancyMaxPotentialBlockSize(&fixed_grid, &fixed_block, ramp, asking, 0, 0));
	TRUE(asked > 0);
	TRUE(fixed_block < 1024 || fixed_grid <= grid);

	CUlogsCallbackHandle h;
	OK(cuLogsRegisterCallback(log_callback, &three, &h));
	CUmodule bad;
	WANT(cuModuleLoadData(&bad, "not a module"), CUDA_ERROR_INVALID_IMAGE);
	OK(cuLogsUnregisterCallback(h));
	TRUE(logged[0]);
	return done("callback");
}
