struct Field {
	float3 gravity;
	float drag;
	int bodies;
};

struct Particle {
	float3 position, velocity;
};

extern "C" __global__ void step(Particle *p, Field f, float dt)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= f.bodies)
		return;
	Particle q = p[i];
	q.velocity.x += (f.gravity.x - f.drag * q.velocity.x) * dt;
	q.velocity.y += (f.gravity.y - f.drag * q.velocity.y) * dt;
	q.velocity.z += (f.gravity.z - f.drag * q.velocity.z) * dt;
	q.position.x += q.velocity.x * dt;
	q.position.y += q.velocity.y * dt;
	q.position.z += q.velocity.z * dt;
	p[i] = q;
}
