// A class hierarchy on the device: objects made in one kernel are used through the base in another.
#include "check.h"

class Shape {
public:
	__device__ virtual double area() const = 0;
	__device__ virtual int corners() const { return 0; }
	__device__ virtual ~Shape() {}
};
class Circle : public Shape {
	double r;
public:
	__device__ Circle(double r) : r(r) {}
	__device__ double area() const override { return 3.0 * r * r; }
};
class Polygon : public Shape {
protected:
	double a, b;
public:
	__device__ Polygon(double a, double b) : a(a), b(b) {}
	__device__ double area() const override { return a * b; }
	__device__ int corners() const override { return 4; }
};
class Triangle : public Polygon {
public:
	using Polygon::Polygon;
	__device__ double area() const override { return Polygon::area() / 2; }
	__device__ int corners() const final { return 3; }
};

__global__ void make(Shape **s, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	switch (i % 3) {
	case 0: s[i] = new Circle(i); break;
	case 1: s[i] = new Polygon(i, 2); break;
	default: s[i] = new Triangle(i, 3);
	}
}
__global__ void measure(Shape **s, double *area, int *corners, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	area[i] = s[n - 1 - i]->area();
	corners[i] = s[n - 1 - i]->corners();
}
__global__ void release(Shape **s, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) delete s[i];
}

int main() {
	const int n = 100;
	Shape **s;
	double *da, area[n];
	int *dc, corners[n];
	CHECK(cudaMalloc(&s, n * sizeof *s));
	CHECK(cudaMalloc(&da, sizeof area));
	CHECK(cudaMalloc(&dc, sizeof corners));
	make<<<2, 64>>>(s, n);
	measure<<<2, 64>>>(s, da, dc, n);
	release<<<2, 64>>>(s, n);
	CHECK(cudaMemcpy(area, da, sizeof area, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(corners, dc, sizeof corners, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		int k = n - 1 - i;
		double want[] = {3.0 * k * k, 2.0 * k, 1.5 * k};
		int c[] = {0, 4, 3};
		ok &= area[i] == want[k % 3] && corners[i] == c[k % 3];
	}
	return verdict(ok);
}
