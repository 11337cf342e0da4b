#include "animal.cuh"

struct Fish : Animal {
	using Animal::Animal;
	__device__ int legs() const override { return -number; }
};
__device__ Animal *make_fish(int n) { return new Fish(n); }

__global__ void legs(Animal **zoo, int *out, int n) {
	int i = threadIdx.x;
	if (i < n) {
		out[i] = zoo[i]->legs();
		delete zoo[i];
	}
}
void count_legs(Animal **zoo, int *out, int n) { legs<<<1, 32>>>(zoo, out, n); }
