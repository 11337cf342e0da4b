/* CUB with the iterators that it had before CUB 3, where they are Thrust's: CCCL's guide "CCCL 2.x to CCCL 3.0
   Migration". */
#pragma once
#include_next <cub/cub.cuh>
#if CUB_VERSION >= 300000
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/discard_iterator.h>
#include <thrust/iterator/transform_iterator.h>
CUB_NAMESPACE_BEGIN
template <class T, class Offset = ::cuda::std::ptrdiff_t>
using ConstantInputIterator = THRUST_NS_QUALIFIER::constant_iterator<T, Offset>;
template <class T, class Offset = ::cuda::std::ptrdiff_t>
using CountingInputIterator =
	THRUST_NS_QUALIFIER::counting_iterator<T, THRUST_NS_QUALIFIER::use_default, THRUST_NS_QUALIFIER::use_default, Offset>;
template <class Offset = ::cuda::std::ptrdiff_t>
using DiscardOutputIterator = THRUST_NS_QUALIFIER::discard_iterator<>;
template <class T, class F, class Input, class Offset = ::cuda::std::ptrdiff_t>
using TransformInputIterator = THRUST_NS_QUALIFIER::transform_iterator<F, Input, T, T>;
CUB_NAMESPACE_END
#endif
