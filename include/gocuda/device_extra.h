/* Device functions of the CUDA C++ Programming Guide and the CUDA Math API that clang's headers do not have: loads and
   stores with cache hints, dot products, SIMD minima and maxima. */
#ifndef __GOCUDA_DEVICE_EXTRA_H__
#define __GOCUDA_DEVICE_EXTRA_H__

#define __GOCUDA_DEV static __device__ __inline__ __attribute__((always_inline))

/* "Load Functions Using Cache Hints" and "Store Functions Using Cache Hints". Types of one register go by it; vectors
   by ld.v2 and ld.v4. */
#define __GOCUDA_LD(name, op, mem)                                                                              \
	__GOCUDA_LD1(name, op, mem, char, "s8", "r", int)                                                           \
	__GOCUDA_LD1(name, op, mem, signed char, "s8", "r", int)                                                    \
	__GOCUDA_LD1(name, op, mem, unsigned char, "u8", "r", int)                                                  \
	__GOCUDA_LD1(name, op, mem, short, "s16", "h", short)                                                       \
	__GOCUDA_LD1(name, op, mem, unsigned short, "u16", "h", short)                                              \
	__GOCUDA_LD1(name, op, mem, int, "s32", "r", int)                                                           \
	__GOCUDA_LD1(name, op, mem, unsigned, "u32", "r", int)                                                      \
	__GOCUDA_LD1(name, op, mem, long, "s64", "l", long)                                                         \
	__GOCUDA_LD1(name, op, mem, unsigned long, "u64", "l", long)                                                \
	__GOCUDA_LD1(name, op, mem, long long, "s64", "l", long long)                                               \
	__GOCUDA_LD1(name, op, mem, unsigned long long, "u64", "l", long long)                                      \
	__GOCUDA_LD1(name, op, mem, float, "f32", "f", float)                                                       \
	__GOCUDA_LD1(name, op, mem, double, "f64", "d", double)                                                     \
	__GOCUDA_LD2(name, op, mem, char2, "s8", "r", int)                                                          \
	__GOCUDA_LD2(name, op, mem, uchar2, "u8", "r", int)                                                         \
	__GOCUDA_LD2(name, op, mem, short2, "s16", "h", short)                                                      \
	__GOCUDA_LD2(name, op, mem, ushort2, "u16", "h", short)                                                     \
	__GOCUDA_LD2(name, op, mem, int2, "s32", "r", int)                                                          \
	__GOCUDA_LD2(name, op, mem, uint2, "u32", "r", int)                                                         \
	__GOCUDA_LD2(name, op, mem, longlong2, "s64", "l", long long)                                               \
	__GOCUDA_LD2(name, op, mem, ulonglong2, "u64", "l", long long)                                              \
	__GOCUDA_LD2(name, op, mem, float2, "f32", "f", float)                                                      \
	__GOCUDA_LD2(name, op, mem, double2, "f64", "d", double)                                                    \
	__GOCUDA_LD4(name, op, mem, char4, "s8", "r", int)                                                          \
	__GOCUDA_LD4(name, op, mem, uchar4, "u8", "r", int)                                                         \
	__GOCUDA_LD4(name, op, mem, short4, "s16", "h", short)                                                      \
	__GOCUDA_LD4(name, op, mem, ushort4, "u16", "h", short)                                                     \
	__GOCUDA_LD4(name, op, mem, int4, "s32", "r", int)                                                          \
	__GOCUDA_LD4(name, op, mem, uint4, "u32", "r", int)                                                         \
	__GOCUDA_LD4(name, op, mem, float4, "f32", "f", float)

#define __GOCUDA_LD1(name, op, mem, T, ptx, r, R)                                                               \
	__GOCUDA_DEV T name(const T *p) {                                                                           \
		R v;                                                                                                    \
		__asm__ volatile(op "." ptx " %0, [%1];" : "=" r(v) : "l"(p)mem);                                       \
		return (T)v;                                                                                            \
	}
#define __GOCUDA_LD2(name, op, mem, T, ptx, r, R)                                                               \
	__GOCUDA_DEV T name(const T *p) {                                                                           \
		R x, y;                                                                                                 \
		__asm__ volatile(op ".v2." ptx " {%0, %1}, [%2];" : "=" r(x), "=" r(y) : "l"(p)mem);                    \
		T t;                                                                                                    \
		t.x = x, t.y = y;                                                                                       \
		return t;                                                                                               \
	}
#define __GOCUDA_LD4(name, op, mem, T, ptx, r, R)                                                               \
	__GOCUDA_DEV T name(const T *p) {                                                                           \
		R x, y, z, w;                                                                                           \
		__asm__ volatile(op ".v4." ptx " {%0, %1, %2, %3}, [%4];"                                               \
						 : "=" r(x), "=" r(y), "=" r(z), "=" r(w) : "l"(p)mem);                                 \
		T t;                                                                                                    \
		t.x = x, t.y = y, t.z = z, t.w = w;                                                                     \
		return t;                                                                                               \
	}
#define __GOCUDA_MEMORY : "memory"
__GOCUDA_LD(__ldcg, "ld.global.cg", __GOCUDA_MEMORY)
__GOCUDA_LD(__ldca, "ld.global.ca", __GOCUDA_MEMORY)
__GOCUDA_LD(__ldcs, "ld.global.cs", __GOCUDA_MEMORY)
__GOCUDA_LD(__ldlu, "ld.global.lu", __GOCUDA_MEMORY)
__GOCUDA_LD(__ldcv, "ld.global.cv", __GOCUDA_MEMORY)
#undef __GOCUDA_LD
#undef __GOCUDA_LD1
#undef __GOCUDA_LD2
#undef __GOCUDA_LD4

#define __GOCUDA_ST(name, op)                                              \
	__GOCUDA_ST1(name, op, char, "s8", "r", int)                           \
	__GOCUDA_ST1(name, op, signed char, "s8", "r", int)                    \
	__GOCUDA_ST1(name, op, unsigned char, "u8", "r", int)                  \
	__GOCUDA_ST1(name, op, short, "s16", "h", short)                       \
	__GOCUDA_ST1(name, op, unsigned short, "u16", "h", short)              \
	__GOCUDA_ST1(name, op, int, "s32", "r", int)                           \
	__GOCUDA_ST1(name, op, unsigned, "u32", "r", int)                      \
	__GOCUDA_ST1(name, op, long, "s64", "l", long)                         \
	__GOCUDA_ST1(name, op, unsigned long, "u64", "l", long)                \
	__GOCUDA_ST1(name, op, long long, "s64", "l", long long)               \
	__GOCUDA_ST1(name, op, unsigned long long, "u64", "l", long long)      \
	__GOCUDA_ST1(name, op, float, "f32", "f", float)                       \
	__GOCUDA_ST1(name, op, double, "f64", "d", double)                     \
	__GOCUDA_ST2(name, op, char2, "s8", "r", int)                          \
	__GOCUDA_ST2(name, op, uchar2, "u8", "r", int)                         \
	__GOCUDA_ST2(name, op, short2, "s16", "h", short)                      \
	__GOCUDA_ST2(name, op, ushort2, "u16", "h", short)                     \
	__GOCUDA_ST2(name, op, int2, "s32", "r", int)                          \
	__GOCUDA_ST2(name, op, uint2, "u32", "r", int)                         \
	__GOCUDA_ST2(name, op, longlong2, "s64", "l", long long)               \
	__GOCUDA_ST2(name, op, ulonglong2, "u64", "l", long long)              \
	__GOCUDA_ST2(name, op, float2, "f32", "f", float)                      \
	__GOCUDA_ST2(name, op, double2, "f64", "d", double)                    \
	__GOCUDA_ST4(name, op, char4, "s8", "r", int)                          \
	__GOCUDA_ST4(name, op, uchar4, "u8", "r", int)                         \
	__GOCUDA_ST4(name, op, short4, "s16", "h", short)                      \
	__GOCUDA_ST4(name, op, ushort4, "u16", "h", short)                     \
	__GOCUDA_ST4(name, op, int4, "s32", "r", int)                          \
	__GOCUDA_ST4(name, op, uint4, "u32", "r", int)                         \
	__GOCUDA_ST4(name, op, float4, "f32", "f", float)
#define __GOCUDA_ST1(name, op, T, ptx, r, R)                                                            \
	__GOCUDA_DEV void name(T *p, T v) {                                                                 \
		__asm__ volatile(op "." ptx " [%0], %1;" ::"l"(p), r((R)v) : "memory");                         \
	}
#define __GOCUDA_ST2(name, op, T, ptx, r, R)                                                            \
	__GOCUDA_DEV void name(T *p, T v) {                                                                 \
		__asm__ volatile(op ".v2." ptx " [%0], {%1, %2};" ::"l"(p), r((R)v.x), r((R)v.y) : "memory");   \
	}
#define __GOCUDA_ST4(name, op, T, ptx, r, R)                                                            \
	__GOCUDA_DEV void name(T *p, T v) {                                                                 \
		__asm__ volatile(op ".v4." ptx " [%0], {%1, %2, %3, %4};"                                       \
						 ::"l"(p), r((R)v.x), r((R)v.y), r((R)v.z), r((R)v.w) : "memory");              \
	}
__GOCUDA_ST(__stwb, "st.global.wb")
__GOCUDA_ST(__stcg, "st.global.cg")
__GOCUDA_ST(__stcs, "st.global.cs")
__GOCUDA_ST(__stwt, "st.global.wt")
#undef __GOCUDA_ST
#undef __GOCUDA_ST1
#undef __GOCUDA_ST2
#undef __GOCUDA_ST4
#undef __GOCUDA_MEMORY

/* Dot products of packed integers: CUDA Math API, "Integer Intrinsics". */
#define __GOCUDA_DP(name, ptx, T, A, B)                                                                 \
	__GOCUDA_DEV T name(A a, B b, T c) {                                                                \
		T d;                                                                                            \
		unsigned ua, ub;                                                                                \
		__builtin_memcpy(&ua, &a, 4), __builtin_memcpy(&ub, &b, 4);                                     \
		__asm__(ptx " %0, %1, %2, %3;" : "=r"(d) : "r"(ua), "r"(ub), "r"(c));                           \
		return d;                                                                                       \
	}
__GOCUDA_DP(__dp4a, "dp4a.s32.s32", int, int, int)
__GOCUDA_DP(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned)
__GOCUDA_DP(__dp4a, "dp4a.s32.s32", int, char4, char4)
__GOCUDA_DP(__dp4a, "dp4a.u32.u32", unsigned, uchar4, uchar4)
__GOCUDA_DP(__dp2a_lo, "dp2a.lo.s32.s32", int, int, int)
__GOCUDA_DP(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, unsigned, unsigned)
__GOCUDA_DP(__dp2a_hi, "dp2a.hi.s32.s32", int, int, int)
__GOCUDA_DP(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, unsigned, unsigned)
#undef __GOCUDA_DP
#define __GOCUDA_DP2(name, ptx, T, A, B)                                                                \
	__GOCUDA_DEV T name(A a, B b, T c) {                                                                \
		T d;                                                                                            \
		unsigned ua, ub;                                                                                \
		__builtin_memcpy(&ua, &a, 4), __builtin_memcpy(&ub, &b, 4);                                     \
		__asm__(ptx " %0, %1, %2, %3;" : "=r"(d) : "r"(ua), "r"(ub), "r"(c));                           \
		return d;                                                                                       \
	}
__GOCUDA_DP2(__dp2a_lo, "dp2a.lo.s32.s32", int, short2, char4)
__GOCUDA_DP2(__dp2a_lo, "dp2a.lo.u32.u32", unsigned, ushort2, uchar4)
__GOCUDA_DP2(__dp2a_hi, "dp2a.hi.s32.s32", int, short2, char4)
__GOCUDA_DP2(__dp2a_hi, "dp2a.hi.u32.u32", unsigned, ushort2, uchar4)
#undef __GOCUDA_DP2

/* "Warp Reduce Functions". */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
#define __GOCUDA_REDUX(name, T, ptx)                                                                    \
	__GOCUDA_DEV T __reduce_##name##_sync(unsigned mask, T v) {                                         \
		T r;                                                                                            \
		__asm__ volatile("redux.sync." ptx " %0, %1, %2;" : "=r"(r) : "r"(v), "r"(mask));               \
		return r;                                                                                       \
	}
__GOCUDA_REDUX(add, unsigned, "add.u32")
__GOCUDA_REDUX(add, int, "add.s32")
__GOCUDA_REDUX(min, unsigned, "min.u32")
__GOCUDA_REDUX(min, int, "min.s32")
__GOCUDA_REDUX(max, unsigned, "max.u32")
__GOCUDA_REDUX(max, int, "max.s32")
__GOCUDA_REDUX(and, unsigned, "and.b32")
__GOCUDA_REDUX(or, unsigned, "or.b32")
__GOCUDA_REDUX(xor, unsigned, "xor.b32")
#undef __GOCUDA_REDUX
#endif

/* "Integer Intrinsics" and "SIMD Intrinsics" that CUDA 12 brought: minima, maxima, and those of sums, with ReLU. */
#define __GOCUDA_VI(S, T)                                                                                         \
	__GOCUDA_DEV T __vimax3_##S##32(T a, T b, T c) { T m = a > b ? a : b; return m > c ? m : c; }                 \
	__GOCUDA_DEV T __vimin3_##S##32(T a, T b, T c) { T m = a < b ? a : b; return m < c ? m : c; }                 \
	__GOCUDA_DEV T __viaddmax_##S##32(T a, T b, T c) { T m = (T)((unsigned)a + (unsigned)b); return m > c ? m : c; } \
	__GOCUDA_DEV T __viaddmin_##S##32(T a, T b, T c) { T m = (T)((unsigned)a + (unsigned)b); return m < c ? m : c; } \
	__GOCUDA_DEV T __vibmax_##S##32(T a, T b, bool *p) { *p = a >= b; return *p ? a : b; }                        \
	__GOCUDA_DEV T __vibmin_##S##32(T a, T b, bool *p) { *p = a <= b; return *p ? a : b; }
__GOCUDA_VI(s, int)
__GOCUDA_VI(u, unsigned)
#undef __GOCUDA_VI
__GOCUDA_DEV int __vimax_s32_relu(int a, int b) { int m = a > b ? a : b; return m > 0 ? m : 0; }
__GOCUDA_DEV int __vimin_s32_relu(int a, int b) { int m = a < b ? a : b; return m > 0 ? m : 0; }
__GOCUDA_DEV int __vimax3_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__vimax3_s32(a, b, c), 0); }
__GOCUDA_DEV int __vimin3_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__vimin3_s32(a, b, c), 0); }
__GOCUDA_DEV int __viaddmax_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__viaddmax_s32(a, b, c), 0); }
__GOCUDA_DEV int __viaddmin_s32_relu(int a, int b, int c) { return __vimax_s32_relu(__viaddmin_s32(a, b, c), 0); }

#define __GOCUDA_HALVES(a, b, T, f)                                                                               \
	((unsigned)(unsigned short)f((T)(a), (T)(b)) | (unsigned)(unsigned short)f((T)((a) >> 16), (T)((b) >> 16)) << 16)
__GOCUDA_DEV short __gocuda_max(short a, short b) { return a > b ? a : b; }
__GOCUDA_DEV short __gocuda_min(short a, short b) { return a < b ? a : b; }
__GOCUDA_DEV unsigned short __gocuda_umax(unsigned short a, unsigned short b) { return a > b ? a : b; }
__GOCUDA_DEV unsigned short __gocuda_umin(unsigned short a, unsigned short b) { return a < b ? a : b; }
__GOCUDA_DEV unsigned __gocuda_maxs2(unsigned a, unsigned b) { return __GOCUDA_HALVES(a, b, short, __gocuda_max); }
__GOCUDA_DEV unsigned __gocuda_mins2(unsigned a, unsigned b) { return __GOCUDA_HALVES(a, b, short, __gocuda_min); }
__GOCUDA_DEV unsigned __gocuda_maxu2(unsigned a, unsigned b) {
	return __GOCUDA_HALVES(a, b, unsigned short, __gocuda_umax);
}
__GOCUDA_DEV unsigned __gocuda_minu2(unsigned a, unsigned b) {
	return __GOCUDA_HALVES(a, b, unsigned short, __gocuda_umin);
}
#undef __GOCUDA_HALVES
/* The predicates say of the high and the low half whether the first argument's was taken. */
#define __GOCUDA_VIB2(name, S, f, T, op)                                                                          \
	__GOCUDA_DEV unsigned __vib##name##_##S##16x2(unsigned a, unsigned b, bool *hi, bool *lo) {                   \
		*hi = (T)(a >> 16) op (T)(b >> 16), *lo = (T)a op (T)b;                                                   \
		return f(a, b);                                                                                           \
	}
__GOCUDA_VIB2(max, s, __gocuda_maxs2, short, >=)
__GOCUDA_VIB2(min, s, __gocuda_mins2, short, <=)
__GOCUDA_VIB2(max, u, __gocuda_maxu2, unsigned short, >=)
__GOCUDA_VIB2(min, u, __gocuda_minu2, unsigned short, <=)
#undef __GOCUDA_VIB2
__GOCUDA_DEV unsigned __gocuda_add2(unsigned a, unsigned b) {
	return ((a + b) & 0xffffu) | ((a & 0xffff0000u) + (b & 0xffff0000u));
}
#define __GOCUDA_VI2(S, mx, mn)                                                                                    \
	__GOCUDA_DEV unsigned __vimax3_##S##16x2(unsigned a, unsigned b, unsigned c) { return mx(mx(a, b), c); }       \
	__GOCUDA_DEV unsigned __vimin3_##S##16x2(unsigned a, unsigned b, unsigned c) { return mn(mn(a, b), c); }       \
	__GOCUDA_DEV unsigned __viaddmax_##S##16x2(unsigned a, unsigned b, unsigned c) {                               \
		return mx(__gocuda_add2(a, b), c);                                                                         \
	}                                                                                                              \
	__GOCUDA_DEV unsigned __viaddmin_##S##16x2(unsigned a, unsigned b, unsigned c) {                               \
		return mn(__gocuda_add2(a, b), c);                                                                         \
	}
__GOCUDA_VI2(s, __gocuda_maxs2, __gocuda_mins2)
__GOCUDA_VI2(u, __gocuda_maxu2, __gocuda_minu2)
#undef __GOCUDA_VI2
__GOCUDA_DEV unsigned __vimax_s16x2_relu(unsigned a, unsigned b) { return __gocuda_maxs2(__gocuda_maxs2(a, b), 0); }
__GOCUDA_DEV unsigned __vimin_s16x2_relu(unsigned a, unsigned b) { return __gocuda_maxs2(__gocuda_mins2(a, b), 0); }
__GOCUDA_DEV unsigned __vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
	return __gocuda_maxs2(__vimax3_s16x2(a, b, c), 0);
}
__GOCUDA_DEV unsigned __vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) {
	return __gocuda_maxs2(__vimin3_s16x2(a, b, c), 0);
}
__GOCUDA_DEV unsigned __viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
	return __gocuda_maxs2(__viaddmax_s16x2(a, b, c), 0);
}
__GOCUDA_DEV unsigned __viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) {
	return __gocuda_maxs2(__viaddmin_s16x2(a, b, c), 0);
}

/* "Integer Intrinsics" of CUDA 13. */
__GOCUDA_DEV unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
__GOCUDA_DEV unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
__GOCUDA_DEV unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }

/* The names that intrinsics had before they got their underscores. */
__GOCUDA_DEV int mulhi(int a, int b) { return __mulhi(a, b); }
__GOCUDA_DEV unsigned mulhi(unsigned a, unsigned b) { return __umulhi(a, b); }
__GOCUDA_DEV unsigned mulhi(int a, unsigned b) { return __umulhi((unsigned)a, b); }
__GOCUDA_DEV unsigned mulhi(unsigned a, int b) { return __umulhi(a, (unsigned)b); }
__GOCUDA_DEV long long mul64hi(long long a, long long b) { return __mul64hi(a, b); }
__GOCUDA_DEV unsigned long long mul64hi(unsigned long long a, unsigned long long b) { return __umul64hi(a, b); }
__GOCUDA_DEV unsigned long long mul64hi(long long a, unsigned long long b) { return __umul64hi((unsigned long long)a, b); }
__GOCUDA_DEV unsigned long long mul64hi(unsigned long long a, long long b) { return __umul64hi(a, (unsigned long long)b); }
__GOCUDA_DEV int mul24(int a, int b) { return __mul24(a, b); }
__GOCUDA_DEV unsigned umul24(unsigned a, unsigned b) { return __umul24(a, b); }
__GOCUDA_DEV int float_as_int(float x) { return __float_as_int(x); }
__GOCUDA_DEV float int_as_float(int x) { return __int_as_float(x); }
__GOCUDA_DEV unsigned float_as_uint(float x) { return __float_as_uint(x); }
__GOCUDA_DEV float uint_as_float(unsigned x) { return __uint_as_float(x); }
__GOCUDA_DEV float saturate(float x) { return __saturatef(x); }
#define __GOCUDA_ROUND(R, name, T, usual)                       \
	__GOCUDA_DEV R name(T x, enum cudaRoundMode mode = usual) { \
		switch (mode) {                                         \
		case cudaRoundNearest: return __##name##_rn(x);         \
		case cudaRoundPosInf: return __##name##_ru(x);          \
		case cudaRoundMinInf: return __##name##_rd(x);          \
		default: return __##name##_rz(x);                       \
		}                                                       \
	}
__GOCUDA_ROUND(int, float2int, float, cudaRoundZero)
__GOCUDA_ROUND(unsigned, float2uint, float, cudaRoundZero)
__GOCUDA_ROUND(float, int2float, int, cudaRoundNearest)
__GOCUDA_ROUND(float, uint2float, unsigned, cudaRoundNearest)
#undef __GOCUDA_ROUND

/* "Compiler Optimization Hint Functions". */
#ifndef __assume
#define __assume(e) __builtin_assume(e)
#endif
#define __nv_associate_access_property(p, property) (p)

#undef __GOCUDA_DEV
#endif
