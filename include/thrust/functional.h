/* Thrust's function objects with the negators that it had before Thrust 3: CCCL's guide "CCCL 2.x to CCCL 3.0
   Migration". */
#pragma once
#include_next <thrust/functional.h>
#if THRUST_VERSION >= 300000
#include <cuda/std/functional>
THRUST_NAMESPACE_BEGIN
template <class F> __host__ __device__ auto not1(const F &f) { return ::cuda::std::not_fn(f); }
template <class F> __host__ __device__ auto not2(const F &f) { return ::cuda::std::not_fn(f); }
THRUST_NAMESPACE_END
#endif
