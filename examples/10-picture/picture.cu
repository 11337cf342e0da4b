// A Julia set, a bloom over its bright parts, and colours.

#define TAPS 21
__constant__ float weights[TAPS];

// Smooth escape time of z*z + c, 0 inside the set.
extern "C" __global__ void julia(float *out, int w, int h, float cx, float cy, int limit)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
	if (px >= w || py >= h)
		return;
	float x = (px - 0.5f * w) * 3.2f / w, y = (py - 0.5f * h) * 3.2f / w;
	float v = 0;
	for (int i = 0; i < limit; i++) {
		float xx = x * x, yy = y * y;
		if (xx + yy > 64.0f) {
			v = (i + 1 - __log2f(0.5f * __log2f(xx + yy))) / limit;
			break;
		}
		y = 2 * x * y + cy;
		x = xx - yy + cx;
	}
	out[py * w + px] = v;
}

// Gauss along one direction: (1,0) or (0,1). Only what is above the threshold counts.
extern "C" __global__ void blur(const float *in, float *out, int w, int h, int dx, int dy, float threshold)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
	if (px >= w || py >= h)
		return;
	float sum = 0;
	for (int k = 0; k < TAPS; k++) {
		int x = min(max(px + (k - TAPS / 2) * dx, 0), w - 1);
		int y = min(max(py + (k - TAPS / 2) * dy, 0), h - 1);
		float v = in[y * w + x];
		sum += v > threshold ? weights[k] * v : 0;
	}
	out[py * w + px] = sum;
}

// Colours: a palette of cosines for the set, with the bloom on top.
extern "C" __global__ void colour(const float *base, const float *glow, uchar4 *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float v = sqrtf(base[i]), g = glow[i];
	float r = 0.5f - 0.5f * __cosf(6.2832f * (v * 1.1f + 0.00f));
	float e = 0.5f - 0.5f * __cosf(6.2832f * (v * 0.9f + 0.02f));
	float b = 0.5f - 0.5f * __cosf(6.2832f * (v * 0.7f + 0.10f));
	float dark = base[i] > 0 ? 1 : 0.15f;
	r = r * dark + 1.6f * g, e = e * dark + 1.1f * g, b = b * dark + 0.5f * g;
	out[i] = make_uchar4(255 * __saturatef(r), 255 * __saturatef(e), 255 * __saturatef(b), 255);
}
