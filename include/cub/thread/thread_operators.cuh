/* CUB's operators with the names that they had before CUB 3, which programs use: CCCL's guide "CCCL 2.x to CCCL 3.0
   Migration". */
#pragma once
#include_next <cub/thread/thread_operators.cuh>
#if CUB_VERSION >= 300000
#include <cuda/std/functional>
CUB_NAMESPACE_BEGIN
using Equality = ::cuda::std::equal_to<>;
using Inequality = ::cuda::std::not_equal_to<>;
using Sum = ::cuda::std::plus<>;
using Difference = ::cuda::std::minus<>;
using Division = ::cuda::std::divides<>;
using Max = ::cuda::maximum<>;
using Min = ::cuda::minimum<>;
CUB_NAMESPACE_END
#ifndef CUB_MAX
#define CUB_MAX(a, b) ((b) > (a) ? (b) : (a))
#endif
#ifndef CUB_MIN
#define CUB_MIN(a, b) ((b) < (a) ? (b) : (a))
#endif
#endif
