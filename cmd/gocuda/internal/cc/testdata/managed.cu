__managed__ int total = 3;
__device__ int plain;
__global__ void add(int n) { total += n + plain; }
int read() { return total; }
