// AES-128 in counter mode: the S-box is computed, the standard's vector checked, decryption is encryption again.
#include "check.h"
#include <cstdint>
#include <cstring>

__constant__ uint8_t sbox[256], round_key[176];

__device__ uint8_t twice(uint8_t v) { return v << 1 ^ (v & 0x80 ? 0x1b : 0); }

__device__ void encrypt(uint8_t *s) {
	for (int i = 0; i < 16; i++) s[i] ^= round_key[i];
	for (int r = 1; r <= 10; r++) {
		uint8_t t[16];
		for (int i = 0; i < 16; i++) t[i] = sbox[s[(i + 4 * (i % 4)) % 16]]; // bytes substituted and rows shifted
		for (int c = 0; c < 4; c++) {
			uint8_t *p = t + 4 * c, all = p[0] ^ p[1] ^ p[2] ^ p[3];
			for (int k = 0; k < 4; k++) s[4 * c + k] = (r < 10 ? p[k] ^ all ^ twice(p[k] ^ p[(k + 1) % 4]) : p[k]) ^ round_key[16 * r + 4 * c + k];
		}
	}
}
__global__ void single(uint8_t *block) { encrypt(block); }
__global__ void counter(const uint8_t *in, uint8_t *out, int blocks, uint64_t nonce) {
	int b = blockIdx.x * blockDim.x + threadIdx.x;
	if (b >= blocks) return;
	uint8_t s[16];
	for (int i = 0; i < 8; i++) {
		s[i] = nonce >> 8 * i;
		s[8 + i] = (uint64_t)b >> 8 * (7 - i);
	}
	encrypt(s);
	for (int i = 0; i < 16; i++) out[16 * b + i] = in[16 * b + i] ^ s[i];
}

int main() {
	uint8_t box[256], key[176] = {0x2b, 0x7e, 0x15, 0x16, 0x28, 0xae, 0xd2, 0xa6, 0xab, 0xf7, 0x15, 0x88, 0x09, 0xcf, 0x4f, 0x3c};
	uint8_t p = 1, q = 1;
	do { // p runs through the powers of 3, q through those of its inverse
		p = p ^ p << 1 ^ (p & 0x80 ? 0x1b : 0);
		q ^= q << 1;
		q ^= q << 2;
		q ^= q << 4;
		if (q & 0x80) q ^= 9;
		auto rot = [&](int n) { return (uint8_t)(q << n | q >> (8 - n)); };
		box[p] = q ^ rot(1) ^ rot(2) ^ rot(3) ^ rot(4) ^ 0x63;
	} while (p != 1);
	box[0] = 0x63;
	uint8_t rcon = 1;
	for (int i = 16; i < 176; i += 4) {
		uint8_t t[4] = {key[i - 4], key[i - 3], key[i - 2], key[i - 1]};
		if (i % 16 == 0) {
			uint8_t first = t[0];
			t[0] = box[t[1]] ^ rcon;
			t[1] = box[t[2]];
			t[2] = box[t[3]];
			t[3] = box[first];
			rcon = rcon << 1 ^ (rcon & 0x80 ? 0x1b : 0);
		}
		for (int k = 0; k < 4; k++) key[i + k] = key[i - 16 + k] ^ t[k];
	}
	CHECK(cudaMemcpyToSymbol(sbox, box, sizeof box));
	CHECK(cudaMemcpyToSymbol(round_key, key, sizeof key));
	// FIPS 197, appendix B
	uint8_t block[16] = {0x32, 0x43, 0xf6, 0xa8, 0x88, 0x5a, 0x30, 0x8d, 0x31, 0x31, 0x98, 0xa2, 0xe0, 0x37, 0x07, 0x34};
	const uint8_t want[16] = {0x39, 0x25, 0x84, 0x1d, 0x02, 0xdc, 0x09, 0xfb, 0xdc, 0x11, 0x85, 0x97, 0x19, 0x6a, 0x0b, 0x32};
	uint8_t *d, *e;
	const int blocks = 100;
	std::vector<uint8_t> text(16 * blocks), cipher(16 * blocks), back(16 * blocks);
	for (size_t i = 0; i < text.size(); i++) text[i] = i * 7;
	CHECK(cudaMalloc(&d, text.size()));
	CHECK(cudaMalloc(&e, text.size()));
	CHECK(cudaMemcpy(d, block, 16, cudaMemcpyHostToDevice));
	single<<<1, 1>>>(d);
	CHECK(cudaMemcpy(block, d, 16, cudaMemcpyDeviceToHost));
	bool ok = !memcmp(block, want, 16);
	CHECK(cudaMemcpy(d, text.data(), text.size(), cudaMemcpyHostToDevice));
	counter<<<2, 64>>>(d, e, blocks, 0x123456789abcdef0ull);
	CHECK(cudaMemcpy(cipher.data(), e, text.size(), cudaMemcpyDeviceToHost));
	counter<<<2, 64>>>(e, d, blocks, 0x123456789abcdef0ull);
	CHECK(cudaMemcpy(back.data(), d, text.size(), cudaMemcpyDeviceToHost));
	int same = 0;
	for (size_t i = 0; i < text.size(); i++) same += text[i] == cipher[i];
	return verdict(ok && back == text && same < 40);
}
