/* min and max of the CUDA Math API, "Type Casting and Integer Mathematical Functions": for all pairs of int, long, long
   long and their unsigned forms of one width, float and double, on both sides. */
#ifndef __GOCUDA_MINMAX_H__
#define __GOCUDA_MINMAX_H__

#define __GOCUDA_MINMAX(where, R, T, U)                                                                         \
	static where __inline__ __attribute__((always_inline)) R min(T a, U b) { return (R)a < (R)b ? (R)a : (R)b; } \
	static where __inline__ __attribute__((always_inline)) R max(T a, U b) { return (R)a > (R)b ? (R)a : (R)b; }
/* clang has those of int for device code. */
__GOCUDA_MINMAX(__host__, int, int, int)
#define __GOCUDA_BOTH __host__ __device__
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned, unsigned, unsigned)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned, int, unsigned)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned, unsigned, int)
__GOCUDA_MINMAX(__GOCUDA_BOTH, long, long, long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long, unsigned long, unsigned long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long, long, unsigned long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long, unsigned long, long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, long long, long long, long long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long long, unsigned long long, unsigned long long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long long, long long, unsigned long long)
__GOCUDA_MINMAX(__GOCUDA_BOTH, unsigned long long, unsigned long long, long long)
#undef __GOCUDA_MINMAX

#define __GOCUDA_MINMAX(R, T, U, f)                                                                            \
	static __host__ __device__ __inline__ __attribute__((always_inline)) R min(T a, U b) { return fmin##f(a, b); } \
	static __host__ __device__ __inline__ __attribute__((always_inline)) R max(T a, U b) { return fmax##f(a, b); }
__GOCUDA_MINMAX(float, float, float, f)
__GOCUDA_MINMAX(double, double, double, )
__GOCUDA_MINMAX(double, float, double, )
__GOCUDA_MINMAX(double, double, float, )
#undef __GOCUDA_MINMAX
#undef __GOCUDA_BOTH

static __host__ __inline__ unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
static __host__ __inline__ unsigned umax(unsigned a, unsigned b) { return a > b ? a : b; }
static __host__ __inline__ long long llmin(long long a, long long b) { return a < b ? a : b; }
static __host__ __inline__ long long llmax(long long a, long long b) { return a > b ? a : b; }
static __host__ __inline__ unsigned long long ullmin(unsigned long long a, unsigned long long b) {
	return a < b ? a : b;
}
static __host__ __inline__ unsigned long long ullmax(unsigned long long a, unsigned long long b) {
	return a > b ? a : b;
}

#endif
