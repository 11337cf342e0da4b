// Expression templates: a vector expression becomes one kernel.
#include "check.h"

template <class E> struct Expr {
	__host__ __device__ const E &self() const { return static_cast<const E &>(*this); }
};
struct Vec : Expr<Vec> {
	float *data;
	explicit Vec(float *p) : data(p) {}
	Vec(const Vec &) = default;
	__host__ __device__ float operator[](int i) const { return data[i]; }
	template <class E> void assign(const Expr<E> &e, int n);
};
struct Const : Expr<Const> {
	float v;
	explicit Const(float v) : v(v) {}
	__host__ __device__ float operator[](int) const { return v; }
};
template <class L, class R, char Op> struct Bin : Expr<Bin<L, R, Op>> {
	L l;
	R r;
	Bin(const L &l, const R &r) : l(l), r(r) {}
	__host__ __device__ float operator[](int i) const {
		float a = l[i], b = r[i];
		return Op == '+' ? a + b : Op == '-' ? a - b : a * b;
	}
};
template <class L, class R> Bin<L, R, '+'> operator+(const Expr<L> &l, const Expr<R> &r) { return {l.self(), r.self()}; }
template <class L, class R> Bin<L, R, '-'> operator-(const Expr<L> &l, const Expr<R> &r) { return {l.self(), r.self()}; }
template <class L, class R> Bin<L, R, '*'> operator*(const Expr<L> &l, const Expr<R> &r) { return {l.self(), r.self()}; }

template <class E> __global__ void evaluate(float *out, E e, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) out[i] = e[i];
}
template <class E> void Vec::assign(const Expr<E> &e, int n) {
	evaluate<<<(n + 63) / 64, 64>>>(data, e.self(), n);
	CHECK(cudaGetLastError());
}

int main() {
	const int n = 200;
	float *p;
	CHECK(cudaMallocManaged(&p, 4 * n * sizeof(float)));
	Vec a(p), b(p + n), c(p + 2 * n), d(p + 3 * n);
	for (int i = 0; i < n; i++) {
		a.data[i] = i;
		b.data[i] = i % 7 - 3;
		c.data[i] = 0.5f * (i % 4);
	}
	d.assign(a * b - c + Const(2) * (a + c) * Const(0.5f), n);
	CHECK(cudaDeviceSynchronize());
	bool ok = true;
	for (int i = 0; i < n; i++) ok &= d[i] == a[i] * b[i] - c[i] + 2 * (a[i] + c[i]) * 0.5f;
	return verdict(ok);
}
