/* threadIdx, blockIdx, blockDim, gridDim and warpSize. In device code clang's own header has them. */
#ifndef __DEVICE_LAUNCH_PARAMETERS_H__
#define __DEVICE_LAUNCH_PARAMETERS_H__

#include "vector_types.h"

#if defined(__CUDA__) && defined(__clang__)
#include <__clang_cuda_builtin_vars.h>
#endif

#endif
