// Adds two vectors; the number of elements is an argument.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define cudaCheck(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line)
{
    if (code != cudaSuccess) {
        fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
        exit(code);
    }
}

__global__ void add(const int *a, const int *b, int *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1000;
    size_t bytes = n * sizeof(int);
    int *a = (int *)malloc(bytes), *b = (int *)malloc(bytes), *c = (int *)malloc(bytes);
    for (int i = 0; i < n; i++) {
        a[i] = i * 7 - 3;
        b[i] = i * i;
    }
    int *da, *db, *dc;
    cudaCheck(cudaMalloc((void **)&da, bytes));
    cudaCheck(cudaMalloc((void **)&db, bytes));
    cudaCheck(cudaMalloc((void **)&dc, bytes));
    cudaCheck(cudaMemcpy(da, a, bytes, cudaMemcpyHostToDevice));
    cudaCheck(cudaMemcpy(db, b, bytes, cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    cudaCheck(cudaGetLastError());
    cudaCheck(cudaMemcpy(c, dc, bytes, cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != a[i] + b[i];
    printf("%d elements, %d wrong\n%s\n", n, wrong, wrong ? "FAILED" : "PASSED");
    cudaFree(da);
    cudaFree(db);
    cudaFree(dc);
    free(a);
    free(b);
    free(c);
    return wrong != 0;
}
