// A small vector class with operators, used on both sides: rays against spheres.
#include "check.h"

#define HD __host__ __device__

struct vec3 {
	float x, y, z;
	HD vec3(float x = 0, float y = 0, float z = 0) : x(x), y(y), z(z) {}
	HD vec3 operator+(const vec3 &o) const { return vec3(x + o.x, y + o.y, z + o.z); }
	HD vec3 operator-(const vec3 &o) const { return vec3(x - o.x, y - o.y, z - o.z); }
	HD vec3 operator*(float s) const { return vec3(x * s, y * s, z * s); }
	HD vec3 &operator+=(const vec3 &o) { return *this = *this + o; }
	HD friend float dot(const vec3 &a, const vec3 &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
	HD friend vec3 cross(const vec3 &a, const vec3 &b) { return vec3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x); }
	HD float length() const { return sqrtf(dot(*this, *this)); }
};
struct Sphere { vec3 centre; float radius; };

HD float hit(const Sphere &s, const vec3 &from, const vec3 &dir) {
	vec3 oc = from - s.centre;
	float b = dot(oc, dir), c = dot(oc, oc) - s.radius * s.radius, d = b * b - c;
	return d < 0 ? -1 : -b - sqrtf(d);
}
HD vec3 shade(const Sphere *s, int n, int x, int y, int size) {
	vec3 dir((x + 0.5f) / size - 0.5f, (y + 0.5f) / size - 0.5f, 1), from(0, 0, -3);
	dir = dir * (1 / dir.length());
	float best = 1e9f;
	vec3 colour;
	for (int i = 0; i < n; i++) {
		float t = hit(s[i], from, dir);
		if (t > 0 && t < best) {
			best = t;
			vec3 normal = (from + dir * t - s[i].centre) * (1 / s[i].radius);
			colour = normal * 0.5f;
			colour += vec3(0.5f, 0.5f, 0.5f) + cross(normal, dir) * 0.1f;
		}
	}
	return colour;
}

__global__ void render(const Sphere *s, int n, vec3 *image, int size) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < size && y < size) image[y * size + x] = shade(s, n, x, y, size);
}

int main() {
	const int size = 48, n = 5;
	Sphere spheres[n] = {{{0, 0, 0}, 0.5f}, {{0.7f, 0.1f, 0.5f}, 0.4f}, {{-0.6f, 0.4f, -0.2f}, 0.3f}, {{0.1f, -0.8f, 0.3f}, 0.45f}, {{-0.5f, -0.5f, 1}, 0.6f}};
	Sphere *ds;
	vec3 *di;
	std::vector<vec3> image(size * size);
	CHECK(cudaMalloc(&ds, sizeof spheres));
	CHECK(cudaMalloc(&di, image.size() * sizeof(vec3)));
	CHECK(cudaMemcpy(ds, spheres, sizeof spheres, cudaMemcpyHostToDevice));
	render<<<dim3(6, 6), dim3(8, 8)>>>(ds, n, di, size);
	CHECK(cudaMemcpy(image.data(), di, image.size() * sizeof(vec3), cudaMemcpyDeviceToHost));
	int wrong = 0, lit = 0;
	for (int y = 0; y < size; y++)
		for (int x = 0; x < size; x++) {
			vec3 want = shade(spheres, n, x, y, size), d = image[y * size + x] - want;
			wrong += !(d.length() < 1e-3f); // a pixel on an edge may fall on the other side
			lit += want.length() > 0;
		}
	printf("%d lit, %d differ\n", lit, wrong);
	return verdict(lit > 200 && wrong <= 3);
}
