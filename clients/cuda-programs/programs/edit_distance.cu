// Levenshtein distance by anti-diagonals in one block, several pairs of strings at once.
#include "check.h"
#include <cstring>
#include <string>

const int most = 120;

__global__ void levenshtein(const char *text, const int *len, int *out) {
	__shared__ int d[3][most + 1];
	const char *a = text + blockIdx.x * 2 * most, *b = a + most;
	int n = len[2 * blockIdx.x], m = len[2 * blockIdx.x + 1];
	for (int k = 0; k <= n + m; k++) { // cells with i + j == k
		int *now = d[k % 3], *last = d[(k + 2) % 3], *before = d[(k + 1) % 3];
		for (int i = threadIdx.x; i <= n; i += blockDim.x) {
			int j = k - i;
			if (j < 0 || j > m) continue;
			if (i == 0 || j == 0) now[i] = i + j;
			else now[i] = min(min(last[i - 1], last[i]) + 1, before[i - 1] + (a[i - 1] != b[j - 1]));
		}
		__syncthreads();
	}
	if (threadIdx.x == 0) out[blockIdx.x] = d[(n + m) % 3][n];
}

static int distance(const std::string &a, const std::string &b) {
	std::vector<int> d(b.size() + 1);
	for (size_t j = 0; j <= b.size(); j++) d[j] = j;
	for (size_t i = 1; i <= a.size(); i++) {
		int corner = d[0];
		d[0] = i;
		for (size_t j = 1; j <= b.size(); j++) {
			int t = d[j];
			d[j] = std::min(std::min(d[j], d[j - 1]) + 1, corner + (a[i - 1] != b[j - 1]));
			corner = t;
		}
	}
	return d[b.size()];
}

int main() {
	std::vector<std::pair<std::string, std::string>> pairs = {{"kitten", "sitting"}, {"", "abc"}, {"flaw", "lawn"}, {"same", "same"}, {"", ""}};
	unsigned seed = 10;
	for (int p = 0; p < 7; p++) {
		std::string a, b;
		for (int i = lcg(seed) % most; i > 0; i--) a += 'a' + lcg(seed) % 4;
		for (int i = lcg(seed) % most; i > 0; i--) b += 'a' + lcg(seed) % 4;
		pairs.push_back({a, b});
	}
	int n = pairs.size();
	std::vector<char> text(n * 2 * most);
	std::vector<int> len(2 * n), got(n);
	for (int p = 0; p < n; p++) {
		memcpy(&text[p * 2 * most], pairs[p].first.data(), len[2 * p] = pairs[p].first.size());
		memcpy(&text[p * 2 * most + most], pairs[p].second.data(), len[2 * p + 1] = pairs[p].second.size());
	}
	char *dt;
	int *dl, *dout;
	CHECK(cudaMalloc(&dt, text.size()));
	CHECK(cudaMalloc(&dl, len.size() * 4));
	CHECK(cudaMalloc(&dout, n * 4));
	CHECK(cudaMemcpy(dt, text.data(), text.size(), cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dl, len.data(), len.size() * 4, cudaMemcpyHostToDevice));
	levenshtein<<<n, 64>>>(dt, dl, dout);
	CHECK(cudaMemcpy(got.data(), dout, n * 4, cudaMemcpyDeviceToHost));
	bool ok = got[0] == 3 && got[1] == 3;
	for (int p = 0; p < n; p++) ok &= got[p] == distance(pairs[p].first, pairs[p].second);
	return verdict(ok);
}
