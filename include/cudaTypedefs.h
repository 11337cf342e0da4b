/* Pointer types for what cuGetProcAddress gives: CUDA Driver API, "Driver Entry Point Access". Of the functions that
   programs fetch so; any other type is decltype(&cuName). */
#ifndef CUDATYPEDEFS_H
#define CUDATYPEDEFS_H

#include "cuda.h"

#define __GOCUDA_PFN(name, version)                  \
	typedef __typeof__(&name) PFN_##name;            \
	typedef __typeof__(&name) PFN_##name##_v##version;
__GOCUDA_PFN(cuTensorMapEncodeTiled, 12000)
__GOCUDA_PFN(cuTensorMapEncodeIm2col, 12000)
__GOCUDA_PFN(cuTensorMapReplaceAddress, 12000)
__GOCUDA_PFN(cuInit, 2000)
__GOCUDA_PFN(cuDriverGetVersion, 2020)
__GOCUDA_PFN(cuDeviceGet, 2000)
__GOCUDA_PFN(cuGetErrorString, 6000)
__GOCUDA_PFN(cuGetErrorName, 6000)
#undef __GOCUDA_PFN

#endif
