/* What device code may call of the runtime: CUDA C++ Programming Guide, "Conditional Graph Nodes" and others. The functions of
   dynamic parallelism are not here: clang launches no kernels from kernels. */
#ifndef __CUDA_DEVICE_RUNTIME_API_H__
#define __CUDA_DEVICE_RUNTIME_API_H__

#include "driver_types.h"

#if defined(__CUDACC__)
/* "Programmatic Dependent Launch and Synchronization". */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
static __device__ __forceinline__ void cudaGridDependencySynchronize(void) {
	__asm__ volatile("griddepcontrol.wait;" ::: "memory");
}
static __device__ __forceinline__ void cudaTriggerProgrammaticLaunchCompletion(void) {
	__asm__ volatile("griddepcontrol.launch_dependents;" ::: "memory");
}
#endif
extern "C" __device__ void cudaGraphSetConditional(cudaGraphConditionalHandle handle, unsigned value);
#endif

#endif
