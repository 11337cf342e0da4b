// A matrix product with tiles in shared memory; sizes are arguments and no multiples of the tile.
#include <cstdio>
#include <cstdlib>
#include <vector>

#define TILE 16
#define CK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) { fprintf(stderr, "%s failed: %s\n", #x, cudaGetErrorString(e_)); return 2; } } while (0)

__global__ void matmul(const float *A, const float *B, float *C, int m, int n, int k)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE + 1];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        int ac = t * TILE + threadIdx.x, br = t * TILE + threadIdx.y;
        a[threadIdx.y][threadIdx.x] = row < m && ac < k ? A[row * k + ac] : 0.f;
        b[threadIdx.y][threadIdx.x] = br < k && col < n ? B[br * n + col] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < TILE; ++i)
            sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        C[row * n + col] = sum;
}

int main(int argc, char **argv)
{
    int m = argc > 1 ? atoi(argv[1]) : 32, n = argc > 2 ? atoi(argv[2]) : 32, k = argc > 3 ? atoi(argv[3]) : 32;
    std::vector<float> A(m * k), B(k * n), C(m * n);
    for (int i = 0; i < m * k; ++i) A[i] = (float)(i % 19 - 9);
    for (int i = 0; i < k * n; ++i) B[i] = (float)(i % 23 - 11);
    float *dA, *dB, *dC;
    CK(cudaMalloc(&dA, A.size() * 4));
    CK(cudaMalloc(&dB, B.size() * 4));
    CK(cudaMalloc(&dC, C.size() * 4));
    CK(cudaMemcpy(dA, A.data(), A.size() * 4, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dB, B.data(), B.size() * 4, cudaMemcpyHostToDevice));
    matmul<<<dim3((n + TILE - 1) / TILE, (m + TILE - 1) / TILE), dim3(TILE, TILE)>>>(dA, dB, dC, m, n, k);
    CK(cudaGetLastError());
    CK(cudaMemcpy(C.data(), dC, C.size() * 4, cudaMemcpyDeviceToHost));
    int errors = 0;
    for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j) {
            float want = 0; // exact: small integers
            for (int x = 0; x < k; ++x) want += A[i * k + x] * B[x * n + j];
            errors += C[i * n + j] != want;
        }
    printf("%d x %d x %d: %d errors\n%s\n", m, n, k, errors, errors ? "FAILED" : "PASSED");
    return errors != 0;
}
