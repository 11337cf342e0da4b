/* Integer operations on the two halves or four bytes of a word. */

INLINE s32 lane_s(u32 a, int i, int bits) { return (s32)(a << (32 - bits - i)) >> (32 - bits); }
INLINE u32 lane_u(u32 a, int i, int bits) { return a << (32 - bits - i) >> (32 - bits); }
INLINE s32 clamp_s(s32 v, int bits) {
	s32 hi = (1 << (bits - 1)) - 1;
	return v > hi ? hi : v < -hi - 1 ? -hi - 1 : v;
}
INLINE s32 clamp_u(s32 v, int bits) {
	s32 hi = (1 << bits) - 1;
	return v > hi ? hi : v < 0 ? 0 : v;
}
INLINE s32 gap(s32 a, s32 b) { return a > b ? a - b : b - a; }

#define LANES(name, suffix, bits, ...)                                                             \
	API int __nv_v##name##suffix(int x, int y) {                                                   \
		u32 r = 0;                                                                                 \
		_Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += bits) {                    \
			s32 a = lane_s((u32)x, i, bits), b = lane_s((u32)y, i, bits), v;                       \
			s32 c = (s32)lane_u((u32)x, i, bits), d = (s32)lane_u((u32)y, i, bits);                \
			const int n = bits;                                                                    \
			(void)a, (void)b, (void)c, (void)d, (void)n;                                           \
			v = __VA_ARGS__;                                                                       \
			r |= ((u32)v & (0xffffffffu >> (32 - bits))) << i;                                     \
		}                                                                                          \
		return (int)r;                                                                             \
	}
#define UNARY(name, suffix, bits, ...)                                                             \
	API int __nv_v##name##suffix(int x) {                                                          \
		u32 r = 0;                                                                                 \
		_Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += bits) {                    \
			s32 a = lane_s((u32)x, i, bits), v;                                                    \
			const int n = bits;                                                                    \
			(void)n;                                                                               \
			v = __VA_ARGS__;                                                                       \
			r |= ((u32)v & (0xffffffffu >> (32 - bits))) << i;                                     \
		}                                                                                          \
		return (int)r;                                                                             \
	}
#define SUM(name, suffix, bits, ...)                                                               \
	API int __nv_v##name##suffix(int x, int y) {                                                   \
		s32 r = 0;                                                                                 \
		_Pragma("clang loop unroll(full)") for (int i = 0; i < 32; i += bits) {                    \
			s32 a = lane_s((u32)x, i, bits), b = lane_s((u32)y, i, bits);                          \
			s32 c = (s32)lane_u((u32)x, i, bits), d = (s32)lane_u((u32)y, i, bits);                \
			(void)a, (void)b, (void)c, (void)d;                                                    \
			r += __VA_ARGS__;                                                                      \
		}                                                                                          \
		return r;                                                                                  \
	}
#define BOTH(M, name, ...) M(name, 2, 16, __VA_ARGS__) M(name, 4, 8, __VA_ARGS__)
#define COMPARED(name, ...) BOTH(LANES, cmp##name, (__VA_ARGS__) ? -1 : 0) BOTH(LANES, set##name, (__VA_ARGS__) ? 1 : 0)

BOTH(UNARY, abs, a < 0 ? -a : a)
BOTH(UNARY, absss, clamp_s(a < 0 ? -a : a, n))
BOTH(UNARY, neg, -a)
BOTH(UNARY, negss, clamp_s(-a, n))
BOTH(LANES, absdiffs, gap(a, b))
BOTH(LANES, absdiffu, gap(c, d))
BOTH(LANES, add, a + b)
BOTH(LANES, addss, clamp_s(a + b, n))
BOTH(LANES, addus, clamp_u(c + d, n))
BOTH(LANES, sub, a - b)
BOTH(LANES, subss, clamp_s(a - b, n))
BOTH(LANES, subus, clamp_u(c - d, n))
BOTH(LANES, avgs, (a + b + (a + b >= 0)) >> 1)
BOTH(LANES, avgu, (c + d + 1) >> 1)
BOTH(LANES, haddu, (c + d) >> 1)
BOTH(LANES, maxs, a > b ? a : b)
BOTH(LANES, maxu, c > d ? c : d)
BOTH(LANES, mins, a < b ? a : b)
BOTH(LANES, minu, c < d ? c : d)
COMPARED(eq, a == b)
COMPARED(ne, a != b)
COMPARED(ges, a >= b)
COMPARED(geu, c >= d)
COMPARED(gts, a > b)
COMPARED(gtu, c > d)
COMPARED(les, a <= b)
COMPARED(leu, c <= d)
COMPARED(lts, a < b)
COMPARED(ltu, c < d)
BOTH(SUM, sads, gap(a, b))
BOTH(SUM, sadu, gap(c, d))
