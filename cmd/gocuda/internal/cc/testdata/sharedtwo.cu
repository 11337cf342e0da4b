struct Counter {
	int n;
	__device__ Counter() : n(1) {}
};
__global__ void count(int *out) {
	__shared__ Counter a, b;
	*out = a.n + b.n;
}
