extern __device__ int elsewhere(int);
__global__ void calls(int *p) { *p = elsewhere(*p); }
