/* How many blocks and clusters fit. */
#include "check.h"

static size_t per_thread(int block) { return block * 16; }

int main(void)
{
	open_context();
	CUfunction f = function(open_module(), "poke");
	int n = 0, grid = 0, block = 0, sms = 0, threads = 0, major = 0;
	size_t bytes = 0;
	OK(cuDeviceGetAttribute(&sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	OK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 0));
	OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 256, 0));
	EQ(n, threads / 256);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, f, 512, 0, CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE));
	EQ(n, threads / 512);
	WANT(cuOccupancyMaxActiveBlocksPerMultiprocessor(&n, f, 0, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, NULL, 0, 0));
	TRUE(block % 32 == 0 && grid * block == sms * threads);
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, f, per_thread, 0, 256));
	TRUE(block <= 256);
	OK(cuOccupancyAvailableDynamicSMemPerBlock(&bytes, f, 2, 128));
	TRUE(bytes > 16384);
	if (major >= 9) {
		CUlaunchAttribute a = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}};
		CUlaunchConfig c = {.gridDimX = 64, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 128, .blockDimY = 1, .blockDimZ = 1, .attrs = &a, .numAttrs = 1};
		OK(cuOccupancyMaxActiveClusters(&n, f, &c));
		TRUE(n > sms / 2);
		c.numAttrs = 0;
		OK(cuOccupancyMaxPotentialClusterSize(&n, f, &c));
		EQ(n, 8);
	}
	return done("occupancy");
}
