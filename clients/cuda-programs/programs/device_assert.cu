// assert in a kernel: one that holds, and one that fails and ends the context with error 710.
#undef NDEBUG
#include <cassert>
#include <cstdio>

__global__ void check(const int *p, int limit, int *out)
{
    int v = p[threadIdx.x];
    assert(v < limit);
    out[threadIdx.x] = v * 2;
}

int main()
{
    int host[32], *p, *out;
    for (int i = 0; i < 32; i++)
        host[i] = i;
    cudaMalloc(&p, sizeof host);
    cudaMalloc(&out, sizeof host);
    cudaMemcpy(p, host, sizeof host, cudaMemcpyHostToDevice);
    check<<<1, 32>>>(p, 100, out);
    cudaError_t err = cudaDeviceSynchronize();
    if (err != cudaSuccess) {
        printf("the assertion holds, but: %s\nFAILED\n", cudaGetErrorString(err));
        return 1;
    }
    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
    for (int i = 0; i < 32; i++)
        if (host[i] != 2 * i)
            return puts("FAILED"), 1;
    check<<<1, 32>>>(p, 31, out);
    err = cudaDeviceSynchronize();
    printf("%d %s\n", err, cudaGetErrorName(err));
    bool ok = err == cudaErrorAssert && err == 710;
    // the error stays
    cudaError_t copy = cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), last = cudaGetLastError(), peek = cudaPeekAtLastError();
    cudaError_t again = cudaDeviceSynchronize();
    printf("then %s %s %s %s\n", cudaGetErrorName(copy), cudaGetErrorName(last), cudaGetErrorName(peek), cudaGetErrorName(again));
    ok = ok && copy == cudaErrorAssert && last == cudaErrorAssert && again == cudaErrorAssert;
    puts(ok ? "PASSED" : "FAILED");
    return !ok;
}
