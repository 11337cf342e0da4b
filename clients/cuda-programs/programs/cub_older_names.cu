// CUB and Thrust under the names of before CCCL 3: operators, iterators, bases of function objects.
#include "check.h"
#include <cub/cub.cuh>
#include <thrust/device_vector.h>
#include <thrust/functional.h>
#include <thrust/transform_reduce.h>

const int threads = 128;

__global__ void reduce(const int *in, int *out) {
	typedef cub::BlockReduce<int, threads> Reduce;
	__shared__ typename Reduce::TempStorage storage;
	int v = in[threadIdx.x];
	int most = Reduce(storage).Reduce(v, cub::Max());
	__syncthreads();
	int least = Reduce(storage).Reduce(v, cub::Min());
	__syncthreads();
	int sum = Reduce(storage).Reduce(v, cub::Sum());
	if (threadIdx.x == 0) out[0] = most, out[1] = least, out[2] = sum + CUB_MAX(30, 4) + CUB_MIN(1, 2);
}

struct Square : public thrust::unary_function<int, int> {
	__host__ __device__ int operator()(int x) const { return x * x; }
};
struct Plus : public thrust::binary_function<int, int, int> {
	__host__ __device__ Square::result_type operator()(first_argument_type x, second_argument_type y) const { return x + y; }
};

int main() {
	bool ok = true;
	std::vector<int> h(threads);
	unsigned state = 9;
	int most = 0, least = 1 << 30, sum = 0, squares = 0;
	for (int &x : h) {
		x = lcg(state) % 1000;
		most = std::max(most, x), least = std::min(least, x), sum += x, squares += x * x;
	}
	thrust::device_vector<int> v = h, o(4);
	int *in = thrust::raw_pointer_cast(v.data()), *out = thrust::raw_pointer_cast(o.data());
	reduce<<<1, threads>>>(in, out);
	EXPECT(o[0] == most && o[1] == least && o[2] == sum + 31);

	cub::TransformInputIterator<int, Square, int *> squared(in, Square());
	cub::CountingInputIterator<int> counting(3);
	cub::ConstantInputIterator<int> sevens(7);
	size_t size = 0;
	void *storage = nullptr;
	CHECK(cub::DeviceReduce::Reduce(storage, size, squared, out, threads, cub::Sum(), 0));
	thrust::device_vector<char> bytes(size + 4096);
	storage = thrust::raw_pointer_cast(bytes.data()), size = bytes.size();
	CHECK(cub::DeviceReduce::Reduce(storage, size, squared, out, threads, cub::Sum(), 0));
	CHECK(cub::DeviceReduce::Sum(storage, size, counting, out + 1, 10));
	CHECK(cub::DeviceReduce::Sum(storage, size, sevens, out + 2, 10));
	CHECK(cub::DeviceReduce::Reduce(storage, size, in, out + 3, threads, cub::Max(), 0));
	EXPECT(o[0] == squares && o[1] == 75 && o[2] == 70 && o[3] == most);
	EXPECT(thrust::transform_reduce(v.begin(), v.end(), Square(), 0, Plus()) == squares);
	return verdict(ok);
}
