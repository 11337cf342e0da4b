// A large job in slices: every stream copies its slice in, works, and copies it out.
#include <cstdio>
#include <cstdlib>
#include <cmath>

#define SAFE(x) do { cudaError_t err = x; if (err) { printf("line %d: %s\nFAILED\n", __LINE__, cudaGetErrorName(err)); exit(2); } } while (0)

__global__ void kernel(float *a, int offset)
{
    int i = offset + threadIdx.x + blockIdx.x * blockDim.x;
    float x = (float)i;
    a[i] = a[i] + x * 0.25f;
}

int main(int argc, char **argv)
{
    const int nStreams = argc > 1 ? atoi(argv[1]) : 4, blockSize = 256;
    const int n = 16 * blockSize * nStreams, streamSize = n / nStreams;
    float *a, *d_a;
    SAFE(cudaMallocHost((void **)&a, n * sizeof(float)));
    SAFE(cudaMalloc((void **)&d_a, n * sizeof(float)));
    cudaStream_t stream[16];
    for (int i = 0; i < nStreams; ++i)
        SAFE(cudaStreamCreate(&stream[i]));
    for (int i = 0; i < n; i++)
        a[i] = -i;
    for (int i = 0; i < nStreams; ++i) {
        int offset = i * streamSize;
        SAFE(cudaMemcpyAsync(&d_a[offset], &a[offset], streamSize * sizeof(float), cudaMemcpyHostToDevice, stream[i]));
        kernel<<<streamSize / blockSize, blockSize, 0, stream[i]>>>(d_a, offset);
        SAFE(cudaMemcpyAsync(&a[offset], &d_a[offset], streamSize * sizeof(float), cudaMemcpyDeviceToHost, stream[i]));
    }
    SAFE(cudaDeviceSynchronize());
    float maxE = 0;
    for (int i = 0; i < n; i++) {
        float error = fabsf(a[i] + 0.75f * i);
        if (!(error <= maxE))
            maxE = error;
    }
    printf("max error: %e\n%s\n", maxE, maxE == 0 ? "PASSED" : "FAILED");
    for (int i = 0; i < nStreams; ++i)
        SAFE(cudaStreamDestroy(stream[i]));
    cudaFree(d_a);
    cudaFreeHost(a);
    return maxE != 0;
}
