// What many of the programs share: the check of a runtime call, a generator for test data, and the last line of output.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call)                                                                                         \
	do {                                                                                                    \
		cudaError_t status_ = (call);                                                                       \
		if (status_ != cudaSuccess) {                                                                       \
			std::printf("%s:%d: %s: %s\nFAILED\n", __FILE__, __LINE__, #call, cudaGetErrorString(status_)); \
			std::exit(1);                                                                                   \
		}                                                                                                   \
	} while (0)

// EXPECT makes ok false, and says where, when a condition does not hold.
#define EXPECT(condition)                                                          \
	do {                                                                           \
		if (!(condition)) {                                                        \
			std::printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			ok = false;                                                            \
		}                                                                          \
	} while (0)

// lcg steps a linear congruential generator and returns 16 good bits of it.
inline unsigned lcg(unsigned &state) {
	state = state * 1664525u + 1013904223u;
	return state >> 16;
}

// near compares with a tolerance that is relative for large values and absolute for small ones.
inline bool near(double got, double want, double tolerance) {
	return std::fabs(got - want) <= tolerance * std::fmax(1.0, std::fabs(want));
}

inline int verdict(bool ok) {
	std::puts(ok ? "PASSED" : "FAILED");
	return ok ? 0 : 1;
}
