// Records what the functions __nv_* give on a GPU, NVIDIA's and ours, and compares them.
//
//     record FUNCTIONS NVIDIA OURS OUT [SECONDS]
//
// FUNCTIONS is the list that the Go program beside this file writes, NVIDIA and OURS the prefixes of cubins with the
// same kernels, compiled by nvcc with NVIDIA's library and by clang with ours. Every function of one argument of at
// most 32 bits is run over all 2^32 arguments, the others over 2^24 tuples that generate() makes. OUT/table.txt has the
// comparison, OUT/hashes.bin NVIDIA's hashes of groups of 2^22 arguments, OUT/samples.bin NVIDIA's results for the
// first 2048 tuples. Build: nvcc -O2 -arch=sm_90 -o record record.cu -lcuda
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

typedef unsigned long long u64;
typedef unsigned int u32;

#define OK(call)                                                                         \
	do {                                                                                 \
		CUresult r_ = (call);                                                            \
		if (r_) {                                                                        \
			const char *s_ = "?";                                                        \
			cuGetErrorName(r_, &s_);                                                     \
			fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, s_);           \
			exit(1);                                                                     \
		}                                                                                \
	} while (0)

__device__ u64 mix(u64 h) {
	h ^= h >> 30;
	h *= 0xbf58476d1ce4e5b9ull;
	h ^= h >> 27;
	h *= 0x94d049bb133111ebull;
	return h ^ h >> 31;
}

struct Types {
	char t[8];
};

__device__ u64 special(char t, u32 k) {
	static const u32 f[16] = {0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000, 1,
	                          0x807fffff, 0x00800000, 0x7f7fffff, 0x3f000000, 0x40000000, 0x40490fdb,
	                          0xc1200000, 0x4b000001};
	static const u32 d[16] = {0, 0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000, 0xfff00000, 0x7ff80000, 0,
	                          0x800fffff, 0x00100000, 0x7fefffff, 0x3fe00000, 0x40000000, 0x400921fb,
	                          0xc0240000, 0x43300000};
	static const u64 i[16] = {0, ~0ull, 1, 2, 31, 32, 63, 64, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63,
	                          ~0ull >> 1, 127, 255, 65535};
	k &= 15;
	if (t == 'f')
		return f[k];
	if (t == 'd')
		return (u64)d[k] << 32 | (k == 7);
	return i[k];
}

// A value of a type: any bits, near 1, in a wide range, or a special one.
__device__ u64 generate(char t, u64 seed, u64 n, u32 slot) {
	u64 h = mix(seed + n * 0x9e3779b97f4a7c15ull + slot * 0xd1342543de82ef95ull + 1), g = mix(h + 0x632be59bd9b4e019ull);
	u32 c = (u32)h & 7;
	u64 v;
	if (c == 7 && t != 'n' && t != 'k')
		v = special(t, (u32)(h >> 8));
	else if (t == 'f') {
		v = g & 0xffffffff;
		u32 w = c < 2 ? 0 : c < 5 ? 8 : 40;
		if (w)
			v = (v & 0x807fffff) | (u64)(127 - w + (u32)(g >> 40) % (2 * w)) << 23;
	} else if (t == 'd') {
		v = g;
		u64 w = c < 2 ? 0 : c < 5 ? 8 : 120;
		if (w)
			v = (v & 0x800fffffffffffffull) | (1023 - w + (h >> 16) % (2 * w)) << 52;
	} else if (t == 'n')
		return g % 5;
	else if (t == 'k')
		return g % 129;
	else
		v = c < 4 ? g : c < 6 ? g % 64 - 32 : g >> (h >> 16 & 63);
	if (t == 'i' || t == 'u' || t == 'f')
		v &= 0xffffffff;
	if (t == 'h')
		v &= 0xffff;
	return v;
}

__global__ void tuples(u64 *in, Types types, int slots, u64 seed, u64 n) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)
		for (int s = 0; s < slots; s++)
			in[i * slots + s] = generate(types.t[s], seed, i, s);
}
__global__ void count_up(u64 *in, u64 first, u64 n) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x)
		in[i] = first + i;
}
// One block a group.
__global__ void hashes(u64 *sum, const u64 *in, const u64 *out, int outs, u64 group) {
	u64 s = 0, first = blockIdx.x * group;
	for (u64 i = first + threadIdx.x; i < first + group; i += blockDim.x) {
		u64 r = out[i * outs];
		for (int k = 1; k < outs; k++)
			r = r * 0x9e3779b97f4a7c15ull + out[i * outs + k];
		s += mix(mix(in[i]) ^ r);
	}
	atomicAdd(&sum[blockIdx.x], s);
}

struct Stats {
	u64 equal, nan, worst, at; // of ours against NVIDIA's: equal words, NaN in one alone, largest distance and where
	u64 theirs, theirs_at, ours, ours_at, wrong_theirs, wrong_ours; // against the rounded reference
	double far_theirs, far_ours; // largest absolute error where the bound is absolute
};

__device__ long long place(char t, u64 v) {
	if (t == 'f') {
		int i = (int)(u32)v;
		return i < 0 ? -(long long)(i & 0x7fffffff) : i;
	}
	if (t == 'd')
		return (long long)v < 0 ? -(long long)(v & ~0ull >> 1) : (long long)v;
	return t == 'i' ? (int)v : (long long)v;
}
__device__ bool is_nan(char t, u64 v) {
	return t == 'f' ? (v & 0x7fffffff) > 0x7f800000 : t == 'd' ? (v & ~0ull >> 1) > 0x7ff0000000000000ull : false;
}
__device__ u64 distance(char t, u64 a, u64 b) {
	long long p = place(t, a), q = place(t, b);
	if (t == 'L')
		return a > b ? a - b : b - a;
	return p > q ? (u64)p - (u64)q : (u64)q - (u64)p;
}
// The largest with its place: the lock keeps both together.
__device__ void largest(u64 *worst, u64 *at, u64 v, u64 where) {
	if (v <= *(volatile u64 *)worst)
		return;
	u64 old = atomicMax(worst, v);
	if (v > old)
		*(volatile u64 *)at = where;
}
__global__ void compare(Stats *s, const u64 *a, const u64 *b, Types types, int outs, u64 first, u64 n) {
	u64 equal = 0;
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
		bool same = true;
		for (int k = 0; k < outs; k++) {
			u64 x = a[i * outs + k], y = b[i * outs + k];
			if (x == y)
				continue;
			same = false;
			char t = types.t[k];
			bool p = is_nan(t, x), q = is_nan(t, y);
			if (p != q)
				atomicAdd(&s->nan, 1);
			else if (!p)
				largest(&s->worst, &s->at, distance(t, x, y), first + i);
		}
		equal += same;
	}
	atomicAdd(&s->equal, equal);
}
// domain: 0 all; 1 lgammaf; 2 j0f and so on: the bound is in units in the last place below 8, absolute beyond.
__global__ void errors(Stats *s, const u64 *a, const u64 *b, const double *ref, const u64 *in, int outs, int slots,
                       int domain, u64 first, u64 n) {
	for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
		float x = __uint_as_float((u32)in[i * slots]);
		for (int k = 0; k < outs; k++) {
			double r = ref[i * outs + k];
			if (domain == 1 && x > -10.001f && x < -2.264f)
				continue;
			u64 want = __float_as_uint(__double2float_rn(r));
			for (int o = 0; o < 2; o++) {
				u64 got = (o ? b : a)[i * outs + k];
				bool p = is_nan('f', got), q = is_nan('f', want);
				if (p != q)
					atomicAdd(o ? &s->wrong_ours : &s->wrong_theirs, 1);
				else if (domain == 2 && fabsf(x) >= 8.0f) {
					double e = fabs((double)__uint_as_float((u32)got) - r);
					if (e == e) // positive doubles are ordered as integers
						atomicMax((u64 *)(o ? &s->far_ours : &s->far_theirs), (u64)__double_as_longlong(e));
				} else if (!p)
					largest(o ? &s->ours : &s->theirs, o ? &s->ours_at : &s->theirs_at, distance('f', got, want), first + i);
			}
		}
	}
}

struct Function {
	std::string name, base, slots, outs; // base: whose kernel of NVIDIA's it is compared with
	int part, reference, domain, sweep;
};

struct Modules {
	std::string prefix;
	std::map<int, CUmodule> m;
	CUfunction find(int part, const std::string &name) {
		if (!m.count(part)) {
			CUmodule mod = 0;
			std::string file = prefix + std::to_string(part) + ".cubin";
			if (cuModuleLoad(&mod, file.c_str()))
				mod = 0;
			m[part] = mod;
		}
		CUfunction f = 0;
		if (!m[part] || cuModuleGetFunction(&f, m[part], name.c_str()))
			return 0;
		return f;
	}
};

static void launch(CUfunction f, CUdeviceptr out, CUdeviceptr in, u64 n) {
	void *args[] = {&out, &in, &n};
	OK(cuLaunchKernel(f, 4096, 1, 1, 256, 1, 1, 0, 0, args, 0));
}

int main(int argc, char **argv) {
	if (argc < 5)
		return 2;
	double limit = argc > 5 ? atof(argv[5]) : 1e9;
	auto begin = std::chrono::steady_clock::now();
	auto elapsed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
	OK(cuInit(0));
	CUdevice dev;
	CUcontext ctx;
	OK(cuDeviceGet(&dev, 0));
	OK(cuDevicePrimaryCtxRetain(&ctx, dev));
	OK(cuCtxSetCurrent(ctx));
	std::string out = argv[4];
	Modules theirs{argv[2], {}}, ours{argv[3], {}};
	std::vector<Function> list;
	std::ifstream in(argv[1]);
	for (std::string line; std::getline(in, line);) {
		std::istringstream s(line);
		Function f;
		s >> f.name >> f.base >> f.slots >> f.outs >> f.part >> f.reference >> f.domain >> f.sweep;
		if (f.slots == "-")
			f.slots = "";
		list.push_back(f);
	}
	const u64 chunk = 1ull << 26, few = 1ull << 24, samples = 2048;
	CUdeviceptr dIn, dA, dB, dR, dS, dH;
	OK(cuMemAlloc(&dIn, chunk * 8 * 2));
	OK(cuMemAlloc(&dA, chunk * 8 * 2));
	OK(cuMemAlloc(&dB, chunk * 8 * 2));
	OK(cuMemAlloc(&dR, chunk * 8 * 2));
	OK(cuMemAlloc(&dS, sizeof(Stats)));
	OK(cuMemAlloc(&dH, 16384 * 8));
	FILE *table = fopen((out + "/table.txt").c_str(), "w"), *hash = fopen((out + "/hashes.bin").c_str(), "wb"),
	     *sample = fopen((out + "/samples.bin").c_str(), "wb");
	fprintf(table, "# function out slots n equal nan worst at theirs theirs_at ours ours_at wrong_theirs wrong_ours "
	               "far_theirs far_ours ours_samples theirs_samples\n");
	for (Function &f : list) {
		CUfunction a = theirs.find(f.part, "k_" + f.base), b = ours.find(f.part, "k_" + f.name);
		CUfunction r = f.reference ? theirs.find(f.part, "e_" + f.base) : 0;
		if (!a || !b) {
			fprintf(table, "%s missing %s\n", f.name.c_str(), a ? "ours" : "theirs");
			continue;
		}
		if (elapsed() > limit) {
			fprintf(table, "%s late\n", f.name.c_str());
			continue;
		}
		int outs = f.outs.size(), slots = f.slots.size();
		Types ti = {}, to = {};
		memcpy(ti.t, f.slots.data(), slots);
		memcpy(to.t, f.outs.data(), outs);
		Stats zero = {}, s;
		OK(cuMemcpyHtoD(dS, &zero, sizeof zero));
		u64 total = 0;
		bool bits16 = f.slots == "h";
		if (f.sweep) {
			OK(cuMemsetD8(dH, 0, 16384 * 8));
			total = bits16 ? 1 << 16 : 1ull << 32;
			u64 step = bits16 ? total : outs > 1 ? chunk / 2 : chunk;
			for (u64 first = 0; first < total; first += step) {
				count_up<<<4096, 256>>>((u64 *)dIn, first, step);
				launch(a, dA, dIn, step);
				launch(b, dB, dIn, step);
				compare<<<4096, 256>>>((Stats *)dS, (u64 *)dA, (u64 *)dB, to, outs, first, step);
				u64 group = bits16 ? 1 << 2 : 1 << 18;
				hashes<<<step / group, 256>>>((u64 *)dH + first / group, (u64 *)dIn, (u64 *)dA, outs, group);
				if (r) {
					launch(r, dR, dIn, step);
					errors<<<4096, 256>>>((Stats *)dS, (u64 *)dA, (u64 *)dB, (double *)dR, (u64 *)dIn, outs, slots, f.domain,
					                      first, step);
				}
			}
			if (f.name == f.base) {
				std::vector<u64> h(16384);
				OK(cuMemcpyDtoH(h.data(), dH, 16384 * 8));
				// sixteen groups of 2^18 a word: the file stays small
				std::vector<u64> w(1024);
				for (int i = 0; i < 16384; i++)
					w[i / 16] += h[i];
				char name[32] = {};
				strncpy(name, f.name.c_str(), 31);
				fwrite(name, 1, 32, hash);
				fwrite(w.data(), 8, 1024, hash);
			}
		} else if (slots) {
			total = few;
			tuples<<<4096, 256>>>((u64 *)dIn, ti, slots, 1, total);
			launch(a, dA, dIn, total);
			launch(b, dB, dIn, total);
			compare<<<4096, 256>>>((Stats *)dS, (u64 *)dA, (u64 *)dB, to, outs, 0, total);
			if (r) {
				launch(r, dR, dIn, total);
				errors<<<4096, 256>>>((Stats *)dS, (u64 *)dA, (u64 *)dB, (double *)dR, (u64 *)dIn, outs, slots, f.domain, 0, total);
			}
		}
		OK(cuCtxSynchronize());
		OK(cuMemcpyDtoH(&s, dS, sizeof s));
		// samples: the same tuples for all
		u64 sums[2] = {};
		tuples<<<64, 256>>>((u64 *)dIn, ti, slots, 1, samples);
		std::vector<u64> in_(samples * (slots ? slots : 1)), o(samples * outs);
		launch(a, dA, dIn, samples);
		launch(b, dB, dIn, samples);
		for (int k = 0; k < 2; k++) {
			OK(cuMemcpyDtoH(o.data(), k ? dA : dB, o.size() * 8));
			for (u64 v : o) {
				sums[k] = (sums[k] ^ v) * 0x9e3779b97f4a7c15ull;
				sums[k] ^= sums[k] >> 29;
			}
		}
		if (f.name == f.base) {
			char name[32] = {};
			strncpy(name, f.name.c_str(), 31);
			fwrite(name, 1, 32, sample);
			fwrite(o.data(), 8, o.size(), sample);
		}
		fprintf(table, "%s %s %s %llu %llu %llu %llu %llx %llu %llx %llu %llx %llu %llu %.3g %.3g %016llx %016llx\n",
		        f.name.c_str(), f.outs.c_str(), slots ? f.slots.c_str() : "-", total, s.equal, s.nan, s.worst, s.at, s.theirs,
		        s.theirs_at, s.ours, s.ours_at, s.wrong_theirs, s.wrong_ours, s.far_theirs, s.far_ours, sums[0], sums[1]);
		fflush(table);
	}
	fprintf(stderr, "%.1f s\n", elapsed());
	return 0;
}
