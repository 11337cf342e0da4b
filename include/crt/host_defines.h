/* The execution space and variable qualifiers of CUDA C++. Without a CUDA compiler they are empty. */
#ifndef __HOST_DEFINES_H__
#define __HOST_DEFINES_H__

#if defined(__CUDA__) || defined(__CUDACC__)
#define __GOCUDA_ATTRIBUTE(a) __attribute__((a))
#else
#define __GOCUDA_ATTRIBUTE(a)
#endif

#ifndef __host__
#define __host__ __GOCUDA_ATTRIBUTE(host)
#endif
#ifndef __device__
#define __device__ __GOCUDA_ATTRIBUTE(device)
#endif
#ifndef __global__
#define __global__ __GOCUDA_ATTRIBUTE(global)
#endif
#ifndef __shared__
#define __shared__ __GOCUDA_ATTRIBUTE(shared)
#endif
#ifndef __constant__
#define __constant__ __GOCUDA_ATTRIBUTE(constant)
#endif
#ifndef __managed__
#if defined(__GOCUDA_MANAGED__)
/* The host code of a file with such variables is compiled as HIP: gocuda/managed.h. */
#define __managed__ __attribute__((managed))
#elif defined(__CUDA_ARCH__)
/* gocuda cc writes PTX's attribute in the place of this alignment, which no other variable has. */
#define __managed__ __attribute__((device)) __attribute__((aligned(0x10000000)))
#elif defined(__CUDA__)
/* An error by which gocuda cc learns of them. */
#define __managed__ __attribute__((device)) __attribute__((aligned(__gocuda_managed_variables)))
#else
#define __managed__
#endif
#endif
#define __device_builtin__
#define __device_builtin_texture_type__
#define __device_builtin_surface_type__
#define __cudart_builtin__

#if defined(__CUDA__)
/* __noinline__ is a keyword of clang in CUDA; a macro of that name breaks libstdc++. */
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
/* Parameters of kernels are constant without the qualifier where clang can show that nothing writes them. */
#define __grid_constant__
#define __maxnreg__(n)
/* clang 19 has no attribute for it: it travels as launch bounds that no program has, and gocuda cc writes the directive
   of PTX. Of two launch bounds the first counts, so __cluster_dims__ comes before __launch_bounds__. */
#if defined(__CUDA_ARCH__)
#define __cluster_dims__(...) __GOCUDA_CLUSTER(__VA_ARGS__, 1, 1, 1)
#define __GOCUDA_CLUSTER(x, y, z, ...) \
	__attribute__((launch_bounds(1024, 0, 0x40000000 | (x) | (y) << 8 | (z) << 16)))
#else
#define __cluster_dims__(...)
#endif
#define __block_size__(...)
#define __nv_pure__ __attribute__((pure))
#else
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __cluster_dims__(...)
#define __nv_pure__
#endif

#if defined(_MSC_VER) && !defined(__clang__)
#define __align__(n) __declspec(align(n))
#define CUDARTAPI __stdcall
#else
#define __align__(n) __attribute__((aligned(n)))
#define CUDARTAPI
#endif
#ifndef __restrict__
#if defined(_MSC_VER) && !defined(__clang__)
#define __restrict__ __restrict
#endif
#endif
#define __builtin_align__(n) __align__(n)
#define CUDARTAPI_CDECL
#define CUDA_CB
#if defined(__cplusplus)
#define __dv(v) = v
#define __specialization_static static
#else
#define __dv(v)
#endif
#define __location__(a) __annotate__(a)
#define __annotate__(a) __attribute__((a))
#define __no_return__ __attribute__((noreturn))
#define __thread__ __thread
#define __import__
#define __export__
#define __cdecl
#define _CUDA_VISIBILITY_DEFAULT __attribute__((visibility("default")))

#endif
