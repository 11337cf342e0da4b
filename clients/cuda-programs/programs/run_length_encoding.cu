// Run-length encoding on the device, decoding on it too, and the round trip compared.
#include "check.h"

__global__ void heads(const char *in, int *flag, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) flag[i] = i == 0 || in[i] != in[i - 1];
}
__global__ void scan(int *a, int n) { // one block, inclusive
	__shared__ int s[256];
	int t = threadIdx.x, carry = 0;
	for (int base = 0; base < n; base += 256) {
		int v = base + t < n ? a[base + t] : 0;
		s[t] = v;
		for (int d = 1; d < 256; d *= 2) {
			__syncthreads();
			int u = t >= d ? s[t - d] : 0;
			__syncthreads();
			s[t] += u;
		}
		__syncthreads();
		if (base + t < n) a[base + t] = s[t] + carry;
		carry += s[255];
		__syncthreads();
	}
}
__global__ void encode(const char *in, const int *index, char *symbol, int *start, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	if (i == 0 || index[i] != index[i - 1]) {
		symbol[index[i] - 1] = in[i];
		start[index[i] - 1] = i;
	}
	if (i == n - 1) start[index[i]] = n;
}
__global__ void decode(const char *symbol, const int *start, char *out) {
	for (int i = start[blockIdx.x] + threadIdx.x; i < start[blockIdx.x + 1]; i += blockDim.x) out[i] = symbol[blockIdx.x];
}

int main() {
	const int n = 3000;
	std::vector<char> in(n), back(n), symbol;
	std::vector<int> start;
	unsigned seed = 81;
	for (int i = 0; i < n; i++) {
		in[i] = i && lcg(seed) % 5 ? in[i - 1] : 'A' + lcg(seed) % 3;
		if (i == 0 || in[i] != in[i - 1]) {
			symbol.push_back(in[i]);
			start.push_back(i);
		}
	}
	start.push_back(n);
	char *di, *ds, *db;
	int *df, *dst, runs;
	CHECK(cudaMalloc(&di, n));
	CHECK(cudaMalloc(&ds, n));
	CHECK(cudaMalloc(&db, n));
	CHECK(cudaMalloc(&df, n * 4));
	CHECK(cudaMalloc(&dst, (n + 1) * 4));
	CHECK(cudaMemcpy(di, in.data(), n, cudaMemcpyHostToDevice));
	const int blocks = (n + 255) / 256;
	heads<<<blocks, 256>>>(di, df, n);
	scan<<<1, 256>>>(df, n);
	encode<<<blocks, 256>>>(di, df, ds, dst, n);
	CHECK(cudaMemcpy(&runs, df + n - 1, 4, cudaMemcpyDeviceToHost));
	bool ok = runs == (int)symbol.size();
	if (!ok) return verdict(false);
	std::vector<char> gs(runs);
	std::vector<int> gst(runs + 1);
	CHECK(cudaMemcpy(gs.data(), ds, runs, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(gst.data(), dst, (runs + 1) * 4, cudaMemcpyDeviceToHost));
	decode<<<runs, 32>>>(ds, dst, db);
	CHECK(cudaMemcpy(back.data(), db, n, cudaMemcpyDeviceToHost));
	return verdict(gs == symbol && gst == start && back == in);
}
