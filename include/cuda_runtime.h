/* The CUDA runtime for C++: the API (cuda_runtime_api.h), its templates, and in a .cu file all that nvcc makes known
   without an include. gocuda cc includes this file first in every .cu file. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#if defined(__CUDA__) && defined(__clang__)
/* clang's headers must come before the standard library's <cmath>: its constexpr functions would otherwise be those of
   both sides. */
#include <__clang_cuda_math_forward_declares.h>
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDACC_VER_MAJOR__
#define __CUDACC_VER_MAJOR__ (CUDART_VERSION / 1000)
#define __CUDACC_VER_MINOR__ (CUDART_VERSION % 1000 / 10)
#define __CUDACC_VER_BUILD__ 0
#endif
#if defined(__CLANG_RDC__)
#define __CUDACC_RDC__ 1
#endif
#define __CUDACC_EXTENDED_LAMBDA__ 1
#ifndef CCCL_DISABLE_NVTX /* ranges for tools that are not there */
#define CCCL_DISABLE_NVTX
#endif
#define __CUDACC_RELAXED_CONSTEXPR__ 1
/* What nvcc includes on its own. */
#include <cmath>
#include <cstdlib>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utility>
#if !defined(_WIN32)
#include <sys/time.h>
#endif
#endif

#include "cuda_runtime_api.h"

#include "channel_descriptor.h"
#include "device_types.h"
#include "driver_functions.h"
#include "library_types.h"
#include "vector_functions.h"

#if defined(__CUDA__) && defined(__clang__)
#include "cuda.h"

#define __DEVICE_FUNCTIONS_H__
#define __MATH_FUNCTIONS_H__
#define __COMMON_FUNCTIONS_H__
#include <__clang_cuda_builtin_vars.h>
#include "device_launch_parameters.h"

#include <__clang_cuda_libdevice_declares.h>
#include <__clang_cuda_device_functions.h>
#include <__clang_cuda_math.h>

#include "gocuda/math_overloads.h"
#include "gocuda/math_host.h"

extern "C" {
/* "Formatted Output", "Dynamic Global Memory Allocation" and "Assertion" end in system calls that the PTX
   interoperability guide names. */
__device__ int vprintf(const char *, const char *);
__device__ int printf(const char *, ...);
__device__ void free(void *) __attribute__((nothrow));
__device__ void *malloc(size_t) __attribute__((nothrow, malloc));
__device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t size);
__device__ static __inline__ void __assert_fail(const char *message, const char *file, unsigned line,
												const char *function) {
	__assertfail(message, file, line, function, sizeof(char));
}
}
namespace std {
static __device__ __inline__ void free(void *p) { ::free(p); }
static __device__ __inline__ void *malloc(size_t n) { return ::malloc(n); }
}

#define __GOCUDA_BUILTIN(T)                                                                            \
	__device__ inline __cuda_builtin_##T##_t::operator dim3() const { return dim3(x, y, z); }          \
	__device__ inline __cuda_builtin_##T##_t::operator uint3() const { return {x, y, z}; }
__GOCUDA_BUILTIN(threadIdx)
__GOCUDA_BUILTIN(blockIdx)
__GOCUDA_BUILTIN(blockDim)
__GOCUDA_BUILTIN(gridDim)
#undef __GOCUDA_BUILTIN

#include "gocuda/address.h"
#include <__clang_cuda_cmath.h>
/* clang 19's hand the mask to redux.sync as the value; device_extra.h has others. */
#define __reduce_add_sync __gocuda_clang_reduce_add
#define __reduce_min_sync __gocuda_clang_reduce_min
#define __reduce_max_sync __gocuda_clang_reduce_max
#define __reduce_or_sync __gocuda_clang_reduce_or
#define __reduce_and_sync __gocuda_clang_reduce_and
#define __reduce_xor_sync __gocuda_clang_reduce_xor
/* clang 22 has these for some types. */
#define __ldcg __gocuda_clang_ldcg
#define __ldcs __gocuda_clang_ldcs
#define __ldcv __gocuda_clang_ldcv
#define __stwt __gocuda_clang_stwt
#include <__clang_cuda_intrinsics.h>
#undef __reduce_add_sync
#undef __reduce_min_sync
#undef __reduce_max_sync
#undef __reduce_or_sync
#undef __reduce_and_sync
#undef __reduce_xor_sync
#undef __ldcg
#undef __ldcs
#undef __ldcv
#undef __stwt
#include <__clang_cuda_complex_builtins.h>

#include <new>
#include "gocuda/minmax.h"
#include "gocuda/atomics.h"
#include "gocuda/device_extra.h"
#include "gocuda/texture.h"

#include "cuda_device_runtime_api.h"

/* What gocuda cc makes of a __shared__ variable whose type has a constructor: clang takes none. */
template <class T> struct alignas(T) __gocuda_shared {
	unsigned char bytes[sizeof(T)];
	__host__ __device__ T &object() { return *reinterpret_cast<T *>(bytes); }
};

/* What clang's host code calls for <<<>>>. */
#if defined(__GOCUDA_MANAGED__)
#include "gocuda/managed.h"
#endif
extern "C" unsigned __cudaPushCallConfiguration(dim3 gridDim, dim3 blockDim, size_t sharedMem = 0, void *stream = 0);
#endif

#if defined(__cplusplus)
#include "gocuda/runtime.hpp"
#endif

#endif
