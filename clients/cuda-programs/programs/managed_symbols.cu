// __managed__ variables of all kinds beside plain ones: classes, arrays, pointers, statics, as symbols and by address.
#include "check.h"

struct Pair {
	float x, y;
	__host__ __device__ float sum() const { return x + y; }
};

__managed__ Pair pairs[8];
__device__ __managed__ int total = 5, other[2] = {7, 8};
static __managed__ int both = 4;
static __managed__ int hostOnly = 3;
__managed__ char text[] = "hello";
__managed__ int *cell;
__device__ int plain = 11;
__constant__ int fixed = 13;

__global__ void work() {
	int i = threadIdx.x;
	pairs[i].y = pairs[i].x * 2;
	if (i == 0) {
		total += other[1] + plain + fixed;
		both *= 2;
		text[0] = 'j';
		*cell = 99;
	}
}

__host__ __device__ int now() { return total; }

int main() {
	bool ok = true;
	for (int i = 0; i < 8; i++) pairs[i] = Pair{(float)i, 0};
	hostOnly += total; // before the first call of the runtime
	CHECK(cudaMallocManaged(&cell, sizeof *cell));
	work<<<1, 8>>>();
	CHECK(cudaDeviceSynchronize());
	float sum = 0;
	for (Pair &p : pairs) sum += p.sum();
	EXPECT(sum == 3 * 28);
	EXPECT(now() == 5 + 8 + 11 + 13);
	EXPECT(both == 8 && hostOnly == 8 && other[0] == 7 && text[0] == 'j' && text[4] == 'o' && *cell == 99);

	int copy = 0, value = 55, one = 1;
	CHECK(cudaMemcpyFromSymbol(&copy, total, sizeof copy));
	EXPECT(copy == 37);
	CHECK(cudaMemcpyToSymbol(both, &value, sizeof value));
	CHECK(cudaMemcpyToSymbol(plain, &one, sizeof one));
	EXPECT(both == 55);
	size_t size = 0;
	CHECK(cudaGetSymbolSize(&size, pairs));
	EXPECT(size == sizeof pairs);
	int *address = nullptr;
	CHECK(cudaGetSymbolAddress((void **)&address, other));
	EXPECT(address == other);
	cudaPointerAttributes a;
	CHECK(cudaPointerGetAttributes(&a, &total));
	EXPECT(a.type == cudaMemoryTypeManaged && a.devicePointer == &total);

	work<<<1, 1>>>();
	CHECK(cudaDeviceSynchronize());
	EXPECT(total == 37 + 8 + 1 + 13 && both == 110);
	CHECK(cudaFree(cell));
	return verdict(ok);
}
