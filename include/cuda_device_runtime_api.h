/* What device code may call of the runtime: CUDA C++ Programming Guide, "Conditional Graph Nodes". The functions of
   dynamic parallelism are not here: clang launches no kernels from kernels. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"

#if defined(__CUDACC__)
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
#endif

#endif
