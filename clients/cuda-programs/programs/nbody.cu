// N bodies under gravity with tiles in shared memory; momentum is kept, positions match the host's.
#include "check.h"

__global__ void accelerate(const float4 *pos, float4 *acc, int n) {
	__shared__ float4 tile[64];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float4 p = i < n ? pos[i] : make_float4(0, 0, 0, 0);
	float ax = 0, ay = 0, az = 0;
	for (int base = 0; base < n; base += 64) {
		tile[threadIdx.x] = base + threadIdx.x < n ? pos[base + threadIdx.x] : make_float4(0, 0, 0, 0);
		__syncthreads();
		for (int k = 0; k < 64; k++) {
			float dx = tile[k].x - p.x, dy = tile[k].y - p.y, dz = tile[k].z - p.z;
			float inv = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = tile[k].w * inv * inv * inv;
			ax += f * dx;
			ay += f * dy;
			az += f * dz;
		}
		__syncthreads();
	}
	if (i < n) acc[i] = make_float4(ax, ay, az, 0);
}
__global__ void move(float4 *pos, float4 *vel, const float4 *acc, int n, float dt) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	vel[i].x += acc[i].x * dt;
	vel[i].y += acc[i].y * dt;
	vel[i].z += acc[i].z * dt;
	pos[i].x += vel[i].x * dt;
	pos[i].y += vel[i].y * dt;
	pos[i].z += vel[i].z * dt;
}

int main() {
	const int n = 150, steps = 3;
	const float dt = 0.01f;
	std::vector<float4> p(n), v(n), got(n), gv(n);
	unsigned seed = 17;
	for (auto &b : p) {
		auto r = [&] { return (int)(lcg(seed) % 2001 - 1000) / 500.0f; };
		b = make_float4(r(), r(), r(), 0.5f + (lcg(seed) % 100) / 100.0f);
	}
	float4 *dp, *dv, *da;
	CHECK(cudaMalloc(&dp, n * 16));
	CHECK(cudaMalloc(&dv, n * 16));
	CHECK(cudaMalloc(&da, n * 16));
	CHECK(cudaMemcpy(dp, p.data(), n * 16, cudaMemcpyHostToDevice));
	CHECK(cudaMemset(dv, 0, n * 16));
	for (int s = 0; s < steps; s++) {
		accelerate<<<(n + 63) / 64, 64>>>(dp, da, n);
		move<<<(n + 63) / 64, 64>>>(dp, dv, da, n, dt);
		std::vector<double> a(3 * n);
		for (int i = 0; i < n; i++)
			for (int k = 0; k < n; k++) {
				double dx = p[k].x - p[i].x, dy = p[k].y - p[i].y, dz = p[k].z - p[i].z, f = p[k].w * pow(dx * dx + dy * dy + dz * dz + 0.01, -1.5);
				a[3 * i] += f * dx;
				a[3 * i + 1] += f * dy;
				a[3 * i + 2] += f * dz;
			}
		for (int i = 0; i < n; i++) {
			v[i].x += a[3 * i] * dt;
			v[i].y += a[3 * i + 1] * dt;
			v[i].z += a[3 * i + 2] * dt;
			p[i].x += v[i].x * dt;
			p[i].y += v[i].y * dt;
			p[i].z += v[i].z * dt;
		}
	}
	CHECK(cudaMemcpy(got.data(), dp, n * 16, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(gv.data(), dv, n * 16, cudaMemcpyDeviceToHost));
	bool ok = true;
	double mx = 0;
	for (int i = 0; i < n; i++) {
		ok &= near(got[i].x, p[i].x, 1e-4) && near(got[i].y, p[i].y, 1e-4) && near(got[i].z, p[i].z, 1e-4);
		mx += gv[i].x * p[i].w;
	}
	return verdict(ok && fabs(mx) < 0.01);
}
