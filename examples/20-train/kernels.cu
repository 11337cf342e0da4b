// A network of one hidden layer: out = w2 * f(w1 * x + b1) + b2, with two inputs. Its weights are one vector: w1, b1, w2,
// b2. Every sum has a fixed order, so that the same numbers come out wherever the samples are computed.

constexpr int H = 24; // hidden units; main.go has the same number

__device__ float bend(float a) { return a > 0 ? a : 0.1f * a; }
__device__ float slope(float h) { return h > 0 ? 1 : 0.1f; }

// forward: a thread for each sample.
extern "C" __global__ void forward(const float *x, const float *y, const float *w, float *h, float *d, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	float out = w[4 * H];
	for (int j = 0; j < H; j++) {
		float a = bend(w[2 * j] * x[2 * i] + w[2 * j + 1] * x[2 * i + 1] + w[2 * H + j]);
		h[i * H + j] = a;
		out += w[3 * H + j] * a;
	}
	d[i] = out - y[i];
}

// gradient: a thread for each weight, and one for the sum of the squared errors behind them.
extern "C" __global__ void gradient(const float *x, const float *w, const float *h, const float *d, float *g, int n) {
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p > 4 * H + 1) return;
	float s = 0;
	for (int i = 0; i < n; i++) {
		float e = d[i];
		if (p < 3 * H) {
			int j = p < 2 * H ? p / 2 : p - 2 * H;
			e *= w[3 * H + j] * slope(h[i * H + j]);
			if (p < 2 * H) e *= x[2 * i + p % 2];
		} else if (p < 4 * H) {
			e *= h[i * H + p - 3 * H];
		} else if (p > 4 * H) {
			e *= e;
		}
		s += e;
	}
	g[p] = s;
}

// step goes against the gradient.
extern "C" __global__ void step(float *w, const float *g, float rate) {
	int p = blockIdx.x * blockDim.x + threadIdx.x;
	if (p <= 4 * H) w[p] -= rate * g[p];
}
