struct Counter {
	int n;
	__device__ Counter() : n(1) {}
	__device__ void add() { atomicAdd(&n, 1); }
};
template <class T> __global__ void count(T *out) {
	static __shared__ Counter one;
	__shared__ __align__(16) Counter many [2]
		[3];
	one.add(), many[1][2].add();
	*out = many[0][0].n;
}
template __global__ void count<int>(int *);
template __global__ void count<float>(float *);
