// Global counters that live across launches; the last block to finish adds up the parts.
#include <cstdio>
#include <cstdlib>

__device__ unsigned long long total = 0;
__device__ unsigned finished = 0;
__device__ unsigned part[64];

__global__ void count_multiples(unsigned of, unsigned n)
{
    __shared__ unsigned here;
    __shared__ bool last;
    if (threadIdx.x == 0)
        here = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        if (i % of == 0)
            atomicAdd(&here, 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = here;
        __threadfence();
        last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            sum += ((volatile unsigned *)part)[b];
        total += sum;
    }
}

int main()
{
    unsigned long long want = 0, got = 0;
    for (unsigned of = 2; of < 12; of++) {
        count_multiples<<<of, 96>>>(of, 5000);
        want += (5000 + of - 1) / of;
    }
    if (cudaMemcpyFromSymbol(&got, total, sizeof got) != cudaSuccess)
        return printf("FAILED\n"), 1;
    printf("%llu of %llu\n", got, want);
    puts(got == want ? "PASSED" : "FAILED");
    return got != want;
}
