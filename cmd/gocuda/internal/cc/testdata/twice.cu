// A warning that both compilations give is to be seen once.
__host__ __device__ int twice(int x) {
	if (x = 1) return 2;
	return 3;
}
__global__ void k(int *p) { *p = twice(*p); }
int main() { return twice(0); }
