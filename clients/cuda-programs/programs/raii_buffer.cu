// A device buffer that frees itself, is moved but not copied, and throws errors.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

inline void check(cudaError_t e, const char *what) {
	if (e != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(e));
}

template <class T> class Buffer {
	T *p = nullptr;
	size_t n = 0;
public:
	explicit Buffer(size_t n) : n(n) { check(cudaMalloc(&p, n * sizeof(T)), "cudaMalloc"); }
	explicit Buffer(const std::vector<T> &v) : Buffer(v.size()) { check(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice), "upload"); }
	Buffer(const Buffer &) = delete;
	Buffer &operator=(const Buffer &) = delete;
	Buffer(Buffer &&o) noexcept : p(std::exchange(o.p, nullptr)), n(std::exchange(o.n, 0)) {}
	Buffer &operator=(Buffer &&o) noexcept { std::swap(p, o.p); std::swap(n, o.n); return *this; }
	~Buffer() { cudaFree(p); }
	T *get() const { return p; }
	size_t size() const { return n; }
	std::vector<T> download() const {
		std::vector<T> v(n);
		check(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "download");
		return v;
	}
};

__global__ void outer(const float *a, const float *b, float *c, int n, int m) {
	int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && j < m) c[i * m + j] = a[i] * b[j];
}

Buffer<float> product(const Buffer<float> &a, const Buffer<float> &b) {
	Buffer<float> c(a.size() * b.size());
	dim3 block(8, 8), grid((b.size() + 7) / 8, (a.size() + 7) / 8);
	outer<<<grid, block>>>(a.get(), b.get(), c.get(), a.size(), b.size());
	check(cudaGetLastError(), "outer");
	return c;
}

int main() try {
	std::vector<float> a(37), b(53);
	for (size_t i = 0; i < a.size(); i++) a[i] = i - 10.f;
	for (size_t i = 0; i < b.size(); i++) b[i] = i * 0.25f;
	Buffer<float> da(a), db(b);
	Buffer<float> c = product(da, db), moved = std::move(c);
	c = Buffer<float>(4);
	auto got = moved.download();
	bool ok = got.size() == 37 * 53 && c.size() == 4;
	for (size_t i = 0; i < a.size(); i++)
		for (size_t j = 0; j < b.size(); j++) ok = ok && got[i * b.size() + j] == a[i] * b[j];
	try {
		Buffer<char> impossible(size_t(1) << 50);
		ok = false;
	} catch (const std::runtime_error &e) {
		std::printf("as expected: %s\n", e.what());
		ok = ok && cudaGetLastError() == cudaErrorMemoryAllocation;
	}
	std::puts(ok ? "PASSED" : "FAILED");
	return !ok;
} catch (const std::exception &e) {
	std::printf("%s\nFAILED\n", e.what());
	return 1;
}
