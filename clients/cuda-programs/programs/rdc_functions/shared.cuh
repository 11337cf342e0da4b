#pragma once
extern __device__ int calls;
extern __constant__ int weight[4];
__device__ int far_away(int v, int i);
__device__ int helper(int v);
