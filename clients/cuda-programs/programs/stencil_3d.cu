// A seven-point stencil in three dimensions that marches through z with values in registers.
#include "check.h"

__global__ void march(const float *in, float *out, int n) {
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1) return;
	int i = y * n + x, plane = n * n;
	float below = in[i], here = in[i + plane];
	for (int z = 1; z < n - 1; z++) {
		int k = i + z * plane;
		float above = in[k + plane];
		out[k] = 2 * here - below - above + in[k - 1] * 3 + in[k + 1] * 5 + in[k - n] * 7 + in[k + n] * 11;
		below = here;
		here = above;
	}
}

int main() {
	const int n = 24, total = n * n * n;
	std::vector<float> h(total), got(total);
	for (int i = 0; i < total; i++) h[i] = i * 7 % 31;
	float *a, *b;
	CHECK(cudaMalloc(&a, total * 4));
	CHECK(cudaMalloc(&b, total * 4));
	CHECK(cudaMemset(b, 0, total * 4));
	CHECK(cudaMemcpy(a, h.data(), total * 4, cudaMemcpyHostToDevice));
	march<<<dim3(3, 6), dim3(8, 4)>>>(a, b, n);
	CHECK(cudaMemcpy(got.data(), b, total * 4, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int z = 0; z < n; z++)
		for (int y = 0; y < n; y++)
			for (int x = 0; x < n; x++) {
				int k = (z * n + y) * n + x;
				bool inner = x > 0 && y > 0 && z > 0 && x < n - 1 && y < n - 1 && z < n - 1;
				float want = inner ? 2 * h[k] - h[k - n * n] - h[k + n * n] + h[k - 1] * 3 + h[k + 1] * 5 + h[k - n] * 7 + h[k + n] * 11 : 0;
				ok &= got[k] == want;
			}
	return verdict(ok);
}
