// Layout of structs and vector types is the same on both sides; wide loads and stores.
#include "check.h"
#include <cstddef>

struct __align__(16) Particle { float3 position; float mass; };
struct Mixed { char c; double d; short s; float4 v; unsigned char tail[3]; };
struct alignas(32) Wide { int a[5]; };

__global__ void sizes(int *out) {
	int v[] = {(int)sizeof(Particle), (int)alignof(Particle), (int)sizeof(Mixed), (int)offsetof(Mixed, v), (int)sizeof(Wide), (int)alignof(float2),
		(int)sizeof(float3), (int)alignof(double2), (int)sizeof(long long int), (int)sizeof(char3), (int)alignof(ushort4), (int)offsetof(Mixed, tail)};
	for (int i = 0; i < 12; i++) out[i] = v[i];
}
__global__ void move(const Particle *in, Particle *out, const Mixed *m, Mixed *n, double2 *d, uchar4 *c, int count) {
	int i = threadIdx.x;
	if (i >= count) return;
	Particle p = in[i];
	p.position.x += p.mass;
	p.mass = -p.mass;
	out[count - 1 - i] = p;
	Mixed x = m[i];
	x.d *= 2;
	x.v = make_float4(x.v.w, x.v.z, x.v.y, x.v.x);
	n[i] = x;
	d[i] = make_double2(i, -i);
	c[i] = make_uchar4(i, i + 1, i + 2, i + 3);
}

int main() {
	int *dev, sz[12];
	CHECK(cudaMalloc(&dev, sizeof sz));
	sizes<<<1, 1>>>(dev);
	CHECK(cudaMemcpy(sz, dev, sizeof sz, cudaMemcpyDeviceToHost));
	const int want[12] = {sizeof(Particle), alignof(Particle), sizeof(Mixed), offsetof(Mixed, v), sizeof(Wide), alignof(float2), sizeof(float3),
		alignof(double2), 8, 3, alignof(ushort4), offsetof(Mixed, tail)};
	bool ok = true;
	for (int i = 0; i < 12; i++) ok &= sz[i] == want[i];
	const int n = 50;
	Particle *p, *q;
	Mixed *m, *r;
	double2 *d;
	uchar4 *c;
	CHECK(cudaMallocManaged(&p, n * sizeof *p));
	CHECK(cudaMallocManaged(&q, n * sizeof *q));
	CHECK(cudaMallocManaged(&m, n * sizeof *m));
	CHECK(cudaMallocManaged(&r, n * sizeof *r));
	CHECK(cudaMallocManaged(&d, n * sizeof *d));
	CHECK(cudaMallocManaged(&c, n * sizeof *c));
	for (int i = 0; i < n; i++) {
		p[i] = {{(float)i, 2.0f * i, 3.0f * i}, i + 0.5f};
		m[i] = {(char)i, i * 0.25, (short)-i, {1.0f * i, 2, 3, 4}, {1, 2, (unsigned char)i}};
	}
	move<<<1, 64>>>(p, q, m, r, d, c, n);
	CHECK(cudaDeviceSynchronize());
	for (int i = 0; i < n; i++) {
		Particle &a = q[n - 1 - i];
		ok &= a.position.x == 2 * i + 0.5f && a.position.y == 2 * i && a.position.z == 3 * i && a.mass == -(i + 0.5f);
		ok &= r[i].c == (char)i && r[i].d == i * 0.5 && r[i].s == -i && r[i].v.x == 4 && r[i].v.w == i && r[i].tail[2] == i;
		ok &= d[i].x == i && d[i].y == -i && c[i].x == i && c[i].w == i + 3;
	}
	return verdict(ok);
}
