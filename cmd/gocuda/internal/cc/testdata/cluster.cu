__global__ void __cluster_dims__(2, 3) inClusters(int *p) { *p = 1; }
__global__ void __cluster_dims__(4) __launch_bounds__(256, 2) bounded(int *p) { *p = 1; }
__global__ void __launch_bounds__(128, 2) alone(int *p) { *p = 1; }
__global__ void reduces(int *p) { *p = __reduce_add_sync(0xffffffff, *p) + __shfl_xor_sync(0xffffffff, *p, 1); }
