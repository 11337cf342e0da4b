// A one-dimensional stencil of radius three with a halo in shared memory and coefficients in constant memory.
#include <stdio.h>

#define RADIUS 3
#define BLOCK 128

__constant__ int coef[2 * RADIUS + 1];

__global__ void stencil(const int *in, int *out)
{
    __shared__ int temp[BLOCK + 2 * RADIUS];
    int g = threadIdx.x + blockIdx.x * blockDim.x + RADIUS, l = threadIdx.x + RADIUS;
    temp[l] = in[g];
    if (threadIdx.x < RADIUS) {
        temp[l - RADIUS] = in[g - RADIUS];
        temp[l + BLOCK] = in[g + BLOCK];
    }
    __syncthreads();
    int result = 0;
    for (int o = -RADIUS; o <= RADIUS; o++)
        result += temp[l + o] * coef[o + RADIUS];
    out[g] = result;
}

int main(void)
{
    const int n = 20 * BLOCK;
    static int in[n + 2 * RADIUS], out[n + 2 * RADIUS];
    int c[] = {1, -2, 3, 5, 3, -2, 1}, *d_in, *d_out, errors = 0;
    for (int i = 0; i < n + 2 * RADIUS; i++)
        in[i] = i * i % 101;
    cudaMalloc((void **)&d_in, sizeof in);
    cudaMalloc((void **)&d_out, sizeof out);
    cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
    cudaMemcpy(d_out, out, sizeof out, cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(coef, c, sizeof c);
    stencil<<<n / BLOCK, BLOCK>>>(d_in, d_out);
    cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n + 2 * RADIUS; i++) {
        int want = 0;
        if (i >= RADIUS && i < n + RADIUS)
            for (int o = -RADIUS; o <= RADIUS; o++)
                want += in[i + o] * c[o + RADIUS];
        if (out[i] != want)
            errors++;
    }
    if (cudaGetLastError() != cudaSuccess)
        errors++;
    printf("%d errors\n%s\n", errors, errors ? "FAILED" : "PASSED");
    cudaFree(d_in);
    cudaFree(d_out);
    return errors ? 1 : 0;
}
