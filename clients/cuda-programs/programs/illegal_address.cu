// A store outside of every allocation: error 700 at the next synchronization, and from then on.
#include <cstdio>

__global__ void store(int *p, size_t at, int v) { p[at] = v; }

int main()
{
    int *p, v = 0;
    cudaMalloc(&p, 256);
    store<<<1, 1>>>(p, 3, 17);
    bool ok = cudaMemcpy(&v, p + 3, sizeof v, cudaMemcpyDeviceToHost) == cudaSuccess && v == 17;
    store<<<1, 1>>>(nullptr, 0, 1);
    cudaError_t e = cudaDeviceSynchronize();
    printf("%s: %s\n", cudaGetErrorName(e), cudaGetErrorString(e));
    ok = ok && e == cudaErrorIllegalAddress && cudaDeviceSynchronize() == cudaErrorIllegalAddress;
    ok = ok && cudaFree(p) == cudaErrorIllegalAddress;
    puts(ok ? "PASSED" : "FAILED");
    return !ok;
}
