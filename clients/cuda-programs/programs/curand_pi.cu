// Pi by throwing darts; the number per thread is an argument.
#include <cstdio>
#include <cstdlib>
#include <curand_kernel.h>

#define THREADS 128

__global__ void darts(unsigned long long *inside, unsigned seed, int throws)
{
    __shared__ unsigned hits[THREADS];
    curandState_t state;
    curand_init(seed, blockIdx.x * blockDim.x + threadIdx.x, 0, &state);
    unsigned count = 0;
    for (int i = 0; i < throws; i++) {
        float x = curand_uniform(&state), y = curand_uniform(&state);
        if (x * x + y * y <= 1.0f)
            count++;
    }
    hits[threadIdx.x] = count;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s)
            hits[threadIdx.x] += hits[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        atomicAdd(inside, (unsigned long long)hits[0]);
}

int main(int argc, char *argv[])
{
    int throws = argc > 1 ? atoi(argv[1]) : 40, blocks = 4;
    unsigned long long *inside, host = 0;
    cudaMalloc((void **)&inside, sizeof(*inside));
    cudaMemset(inside, 0, sizeof(*inside));
    darts<<<blocks, THREADS>>>(inside, 99, throws);
    if (cudaMemcpy(&host, inside, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("FAILED\n");
        return EXIT_FAILURE;
    }
    double pi = 4.0 * host / (blocks * THREADS * (double)throws);
    printf("pi is about %f\n", pi);
    int ok = pi > 3.08 && pi < 3.20;
    printf(ok ? "PASSED\n" : "FAILED\n");
    cudaFree(inside);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
