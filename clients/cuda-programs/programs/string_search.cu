// All places of a pattern, overlapping ones too; the pattern is an argument; letters counted on the side.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

__global__ void search(const char *text, int n, const char *pattern, int m, int *found, int *count, int *letters) {
	extern __shared__ char p[];
	for (int i = threadIdx.x; i < m; i += blockDim.x) p[i] = pattern[i];
	__syncthreads();
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n && text[i] >= 'a' && text[i] <= 'z') atomicAdd(&letters[text[i] - 'a'], 1);
	if (i + m > n) return;
	for (int k = 0; k < m; k++)
		if (text[i + k] != p[k]) return;
	found[i] = 1;
	atomicAdd(count, 1);
}

int main(int argc, char **argv) {
	std::string pattern = argc > 1 ? argv[1] : "ab", text;
	for (int i = 0; i < 150; i++) text += i % 3 ? "banana bandana " : "anagram xanadu";
	int n = text.size(), m = pattern.size();
	char *dt, *dp;
	int *df, *dc;
	cudaMalloc(&dt, n);
	cudaMalloc(&dp, m);
	cudaMalloc(&df, n * sizeof(int));
	cudaMalloc(&dc, 27 * sizeof(int));
	cudaMemset(df, 0, n * sizeof(int));
	cudaMemset(dc, 0, 27 * sizeof(int));
	cudaMemcpy(dt, text.data(), n, cudaMemcpyHostToDevice);
	cudaMemcpy(dp, pattern.data(), m, cudaMemcpyHostToDevice);
	search<<<(n + 127) / 128, 128, m>>>(dt, n, dp, m, df, dc + 26, dc);
	std::vector<int> found(n), count(27), letters(27);
	cudaMemcpy(found.data(), df, n * sizeof(int), cudaMemcpyDeviceToHost);
	if (cudaMemcpy(count.data(), dc, 27 * sizeof(int), cudaMemcpyDeviceToHost) != cudaSuccess) return puts("FAILED"), 1;
	bool ok = true;
	for (int i = 0; i < n; i++) {
		bool here = text.compare(i, m, pattern) == 0;
		ok = ok && found[i] == here;
		letters[26] += here;
		if (text[i] != ' ') letters[text[i] - 'a']++;
	}
	printf("%s: %d times\n", pattern.c_str(), count[26]);
	puts(ok && count == letters ? "PASSED" : "FAILED");
	return !(ok && count == letters);
}
