/* cudaRoundMode: CUDA Runtime API, "Data types used by CUDA Runtime". */
#ifndef __DEVICE_TYPES_H__
#define __DEVICE_TYPES_H__
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };
#endif
