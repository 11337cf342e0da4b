/* Atomic functions: CUDA C++ Programming Guide, "Atomic Functions". Those without a suffix are atomic for the device,
   _block for the block, _system for all processors. All are relaxed. */
#ifndef __GOCUDA_ATOMICS_H__
#define __GOCUDA_ATOMICS_H__

#define __GOCUDA_DEV static __device__ __inline__ __attribute__((always_inline))

/* Device scope goes through the compiler's own atomics, so that it can see the state space. clang 19 drops their scope,
   which for the device is PTX's default. The others are PTX. */
#define __GOCUDA_ATOMIC(name, T, op)                                                                \
	__GOCUDA_DEV T name(T *p, T v) {                                                                \
		return __scoped_atomic_fetch_##op(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);           \
	}
#define __GOCUDA_ATOMIC_PTX(name, T, ptx, r)                                                        \
	__GOCUDA_DEV T name##_block(T *p, T v) {                                                        \
		T old;                                                                                      \
		__asm__ volatile("atom.relaxed.cta." ptx " %0, [%1], %2;" : "=" r(old) : "l"(p), r(v) : "memory"); \
		return old;                                                                                 \
	}                                                                                               \
	__GOCUDA_DEV T name##_system(T *p, T v) {                                                       \
		T old;                                                                                      \
		__asm__ volatile("atom.relaxed.sys." ptx " %0, [%1], %2;" : "=" r(old) : "l"(p), r(v) : "memory"); \
		return old;                                                                                 \
	}
#define __GOCUDA_ATOMIC_ALL(name, T, op, ptx, r) \
	__GOCUDA_ATOMIC(name, T, op)                 \
	__GOCUDA_ATOMIC_PTX(name, T, ptx, r)

__GOCUDA_ATOMIC_ALL(atomicAdd, int, add, "add.s32", "r")
__GOCUDA_ATOMIC_ALL(atomicAdd, unsigned, add, "add.u32", "r")
__GOCUDA_ATOMIC_ALL(atomicAdd, unsigned long long, add, "add.u64", "l")
__GOCUDA_ATOMIC_ALL(atomicAdd, float, add, "add.f32", "f")
__GOCUDA_ATOMIC_ALL(atomicAdd, double, add, "add.f64", "d")
__GOCUDA_ATOMIC_ALL(atomicMin, int, min, "min.s32", "r")
__GOCUDA_ATOMIC_ALL(atomicMin, unsigned, min, "min.u32", "r")
__GOCUDA_ATOMIC_ALL(atomicMin, long long, min, "min.s64", "l")
__GOCUDA_ATOMIC_ALL(atomicMin, unsigned long long, min, "min.u64", "l")
__GOCUDA_ATOMIC_ALL(atomicMax, int, max, "max.s32", "r")
__GOCUDA_ATOMIC_ALL(atomicMax, unsigned, max, "max.u32", "r")
__GOCUDA_ATOMIC_ALL(atomicMax, long long, max, "max.s64", "l")
__GOCUDA_ATOMIC_ALL(atomicMax, unsigned long long, max, "max.u64", "l")
__GOCUDA_ATOMIC_ALL(atomicAnd, int, and, "and.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicAnd, unsigned, and, "and.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicAnd, unsigned long long, and, "and.b64", "l")
__GOCUDA_ATOMIC_ALL(atomicOr, int, or, "or.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicOr, unsigned, or, "or.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicOr, unsigned long long, or, "or.b64", "l")
__GOCUDA_ATOMIC_ALL(atomicXor, int, xor, "xor.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicXor, unsigned, xor, "xor.b32", "r")
__GOCUDA_ATOMIC_ALL(atomicXor, unsigned long long, xor, "xor.b64", "l")

/* PTX has no atomic subtraction: it is the addition of the negated value. */
#define __GOCUDA_SUB(suffix)                                                                       \
	__GOCUDA_DEV int atomicSub##suffix(int *p, int v) { return atomicAdd##suffix(p, (int)(0u - (unsigned)v)); } \
	__GOCUDA_DEV unsigned atomicSub##suffix(unsigned *p, unsigned v) { return atomicAdd##suffix(p, 0u - v); }
__GOCUDA_SUB()
__GOCUDA_SUB(_block)
__GOCUDA_SUB(_system)
#undef __GOCUDA_SUB

/* Exchange and compare-and-swap of any type of 32 or 64 bits go through the integer of its size. */
#define __GOCUDA_EXCH(T, U, ptx, r)                                                                 \
	__GOCUDA_DEV T atomicExch(T *p, T v) {                                                          \
		U u, o;                                                                                     \
		__builtin_memcpy(&u, &v, sizeof u);                                                         \
		o = __scoped_atomic_exchange_n((U *)p, u, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);         \
		__builtin_memcpy(&v, &o, sizeof v);                                                         \
		return v;                                                                                   \
	}                                                                                               \
	__GOCUDA_ATOMIC_PTX(atomicExch, T, ptx, r)
__GOCUDA_EXCH(int, int, "exch.b32", "r")
__GOCUDA_EXCH(unsigned, unsigned, "exch.b32", "r")
__GOCUDA_EXCH(unsigned long long, unsigned long long, "exch.b64", "l")
__GOCUDA_EXCH(float, unsigned, "exch.b32", "f")
#undef __GOCUDA_EXCH

#define __GOCUDA_CAS(T, ptx, r)                                                                     \
	__GOCUDA_DEV T atomicCAS(T *p, T compare, T v) {                                                \
		__scoped_atomic_compare_exchange_n(p, &compare, v, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED, \
										   __MEMORY_SCOPE_DEVICE);                                  \
		return compare;                                                                             \
	}                                                                                               \
	__GOCUDA_CAS_PTX(_block, "cta", T, ptx, r)                                                      \
	__GOCUDA_CAS_PTX(_system, "sys", T, ptx, r)
#define __GOCUDA_CAS_PTX(suffix, scope, T, ptx, r)                                                  \
	__GOCUDA_DEV T atomicCAS##suffix(T *p, T compare, T v) {                                        \
		T old;                                                                                      \
		__asm__ volatile("atom.relaxed." scope "." ptx " %0, [%1], %2, %3;"                         \
						 : "=" r(old) : "l"(p), r(compare), r(v) : "memory");                       \
		return old;                                                                                 \
	}
__GOCUDA_CAS(int, "cas.b32", "r")
__GOCUDA_CAS(unsigned, "cas.b32", "r")
__GOCUDA_CAS(unsigned long long, "cas.b64", "l")
__GOCUDA_CAS_PTX(, "gpu", unsigned short, "cas.b16", "h")
__GOCUDA_CAS_PTX(_block, "cta", unsigned short, "cas.b16", "h")
__GOCUDA_CAS_PTX(_system, "sys", unsigned short, "cas.b16", "h")
#undef __GOCUDA_CAS
#undef __GOCUDA_CAS_PTX

#define __GOCUDA_WRAP(name, ptx, suffix, scope)                                                     \
	__GOCUDA_DEV unsigned name##suffix(unsigned *p, unsigned v) {                                   \
		unsigned old;                                                                               \
		__asm__ volatile("atom.relaxed." scope "." ptx ".u32 %0, [%1], %2;"                         \
						 : "=r"(old) : "l"(p), "r"(v) : "memory");                                  \
		return old;                                                                                 \
	}
__GOCUDA_WRAP(atomicInc, "inc", , "gpu")
__GOCUDA_WRAP(atomicInc, "inc", _block, "cta")
__GOCUDA_WRAP(atomicInc, "inc", _system, "sys")
__GOCUDA_WRAP(atomicDec, "dec", , "gpu")
__GOCUDA_WRAP(atomicDec, "dec", _block, "cta")
__GOCUDA_WRAP(atomicDec, "dec", _system, "sys")
#undef __GOCUDA_WRAP

#undef __GOCUDA_ATOMIC
#undef __GOCUDA_ATOMIC_PTX
#undef __GOCUDA_ATOMIC_ALL
#undef __GOCUDA_DEV
#endif
