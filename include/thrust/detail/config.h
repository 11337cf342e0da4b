/* Thrust with the bases of function objects that it had before Thrust 3: CCCL's guide "CCCL 2.x to CCCL 3.0 Migration".
   Every header of Thrust includes this one. */
#pragma once
#include_next <thrust/detail/config.h>
#include <thrust/version.h>
#if THRUST_VERSION >= 300000
THRUST_NAMESPACE_BEGIN
template <class Argument, class Result> struct unary_function {
	typedef Argument argument_type;
	typedef Result result_type;
};
template <class First, class Second, class Result> struct binary_function {
	typedef First first_argument_type;
	typedef Second second_argument_type;
	typedef Result result_type;
};
THRUST_NAMESPACE_END
#endif
