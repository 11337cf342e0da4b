/* The functions of this header come with cuda_runtime.h. */
#include "cuda_runtime.h"
