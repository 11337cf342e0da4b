/* cuProfilerStart and cuProfilerStop are in cuda.h. */
#include "cuda.h"
