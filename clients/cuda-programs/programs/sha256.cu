// SHA-256 of many messages at once, against published digests and the host.
#include "check.h"
#include <cstdint>
#include <cstring>
#include <string>

__device__ __constant__ const uint32_t K[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

__device__ uint32_t ror(uint32_t v, int n) { return __funnelshift_r(v, v, n); }

__device__ void block(uint32_t *h, const unsigned char *p) {
	uint32_t w[64], s[8];
	for (int i = 0; i < 16; i++) w[i] = p[4 * i] << 24 | p[4 * i + 1] << 16 | p[4 * i + 2] << 8 | p[4 * i + 3];
	for (int i = 16; i < 64; i++)
		w[i] = w[i - 16] + (ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] + (ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10);
	for (int i = 0; i < 8; i++) s[i] = h[i];
	for (int i = 0; i < 64; i++) {
		uint32_t t1 = s[7] + (ror(s[4], 6) ^ ror(s[4], 11) ^ ror(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + K[i] + w[i];
		uint32_t t2 = (ror(s[0], 2) ^ ror(s[0], 13) ^ ror(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
		for (int k = 7; k > 0; k--) s[k] = s[k - 1];
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (int i = 0; i < 8; i++) h[i] += s[i];
}

__global__ void sha256(const unsigned char *messages, const int *length, int stride, uint32_t *digests, int n) {
	int m = blockIdx.x * blockDim.x + threadIdx.x;
	if (m >= n) return;
	uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
	const unsigned char *p = messages + m * stride;
	int len = length[m], i = 0;
	for (; i + 64 <= len; i += 64) block(h, p + i);
	unsigned char last[128] = {};
	int rest = len - i, size = rest < 56 ? 64 : 128;
	for (int k = 0; k < rest; k++) last[k] = p[i + k];
	last[rest] = 0x80;
	for (int k = 0; k < 8; k++) last[size - 1 - k] = (unsigned char)((unsigned long long)len * 8 >> 8 * k);
	block(h, last);
	if (size == 128) block(h, last + 64);
	for (int k = 0; k < 8; k++) digests[m * 8 + k] = h[k];
}

int main() {
	const std::string messages[] = {"", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", std::string(200, 'a'),
		"The quick brown fox jumps over the lazy dog"};
	const char *want[] = {"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
		"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "c2a908d98f5df987ade41b5fce213067efbcc21ef2240212a41e54b5e7c28ae5",
		"d7a8fbb307d7809469ca9abcb0082e4f8d5651e46d3cdb762d02d0bf37c9e592"};
	const int n = 5, stride = 256;
	unsigned char text[n][stride] = {}, *dt;
	int length[n], *dl;
	uint32_t digest[n][8], *dd;
	for (int i = 0; i < n; i++) {
		length[i] = messages[i].size();
		memcpy(text[i], messages[i].data(), length[i]);
	}
	CHECK(cudaMalloc(&dt, sizeof text));
	CHECK(cudaMalloc(&dl, sizeof length));
	CHECK(cudaMalloc(&dd, sizeof digest));
	CHECK(cudaMemcpy(dt, text, sizeof text, cudaMemcpyHostToDevice));
	CHECK(cudaMemcpy(dl, length, sizeof length, cudaMemcpyHostToDevice));
	sha256<<<1, 32>>>(dt, dl, stride, dd, n);
	CHECK(cudaMemcpy(digest, dd, sizeof digest, cudaMemcpyDeviceToHost));
	bool ok = true;
	for (int i = 0; i < n; i++) {
		char hex[65];
		for (int k = 0; k < 8; k++) sprintf(hex + 8 * k, "%08x", digest[i][k]);
		printf("%s\n", hex);
		ok &= !strcmp(hex, want[i]);
	}
	return verdict(ok);
}
