/* nvcuda::wmma: CUDA C++ Programming Guide, "Warp Matrix Functions", on the wmma instructions of the PTX manual. */
#ifndef __CUDA_MMA_H__
#define __CUDA_MMA_H__

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"

#if defined(__cplusplus) && defined(__CUDACC__)

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/* x is what a thread has of the matrix; which elements is not said. */
template <class T, int n> struct __gocuda_fragment {
	enum { num_elements = n };
	T x[n];
};
template <class Use, int m, int n, int k, class T, class Layout = void> class fragment;

#define __GOCUDA_DEV static __device__ __forceinline__
#define __GOCUDA_LIST(...) __VA_ARGS__
/* Registers as operands of an instruction. */
#define __GOCUDA_W1(c, r) c(r[0])
#define __GOCUDA_W2(c, r) c(r[0]), c(r[1])
#define __GOCUDA_W4(c, r) c(r[0]), c(r[1]), c(r[2]), c(r[3])
#define __GOCUDA_W8(c, r) c(r[0]), c(r[1]), c(r[2]), c(r[3]), c(r[4]), c(r[5]), c(r[6]), c(r[7])

/* Fragments, loads and stores: shape, use, elements of a thread, instruction type, registers, braces, place of the
   address behind the registers, register constraint and type. */
#define __GOCUDA_WMMA_AB(m, n, k, use, Use, T, E, elements, ptx, regs, braces, addr, c, R)                          \
	__GOCUDA_WMMA_AB1(m, n, k, use, Use, T, E, elements, ptx, regs, braces, addr, c, R, row)                        \
	__GOCUDA_WMMA_AB1(m, n, k, use, Use, T, E, elements, ptx, regs, braces, addr, c, R, col)
#define __GOCUDA_WMMA_AB1(m, n, k, use, Use, T, E, elements, ptx, regs, braces, addr, c, R, lay)                    \
	template <> class fragment<Use, m, n, k, T, lay##_major> : public __gocuda_fragment<E, elements> {};           \
	__GOCUDA_DEV void load_matrix_sync(fragment<Use, m, n, k, T, lay##_major> &f, const E *p, unsigned ldm) {       \
		R *r = (R *)f.x;                                                                                            \
		asm volatile("wmma.load." use ".sync.aligned." #lay ".m" #m "n" #n "k" #k "." ptx " " braces ", " addr ";" \
					 : __GOCUDA_W##regs("=" c, r) : "l"(p), "r"(ldm) : "memory");                                   \
	}
#define __GOCUDA_WMMA_C(m, n, k, T, elements, ptx, regs, braces, addr, addrs, bracess, c, R)                        \
	template <> class fragment<accumulator, m, n, k, T> : public __gocuda_fragment<T, elements> {};                \
	__GOCUDA_WMMA_C1(m, n, k, T, ptx, regs, braces, addr, addrs, bracess, c, R, row)                                \
	__GOCUDA_WMMA_C1(m, n, k, T, ptx, regs, braces, addr, addrs, bracess, c, R, col)                                \
	__GOCUDA_DEV void load_matrix_sync(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned ldm,              \
									   layout_t layout) {                                                           \
		if (layout == mem_row_major) __gocuda_load_row(f, p, ldm);                                                  \
		else __gocuda_load_col(f, p, ldm);                                                                          \
	}                                                                                                               \
	__GOCUDA_DEV void store_matrix_sync(T *p, const fragment<accumulator, m, n, k, T> &f, unsigned ldm,             \
										layout_t layout) {                                                          \
		if (layout == mem_row_major) __gocuda_store_row(f, p, ldm);                                                 \
		else __gocuda_store_col(f, p, ldm);                                                                         \
	}
#define __GOCUDA_WMMA_C1(m, n, k, T, ptx, regs, braces, addr, addrs, bracess, c, R, lay)                            \
	__GOCUDA_DEV void __gocuda_load_##lay(fragment<accumulator, m, n, k, T> &f, const T *p, unsigned ldm) {         \
		R *r = (R *)f.x;                                                                                            \
		asm volatile("wmma.load.c.sync.aligned." #lay ".m" #m "n" #n "k" #k "." ptx " " braces ", " addr ";"        \
					 : __GOCUDA_W##regs("=" c, r) : "l"(p), "r"(ldm) : "memory");                                   \
	}                                                                                                               \
	__GOCUDA_DEV void __gocuda_store_##lay(const fragment<accumulator, m, n, k, T> &f, T *p, unsigned ldm) {        \
		const R *r = (const R *)f.x;                                                                                \
		asm volatile("wmma.store.d.sync.aligned." #lay ".m" #m "n" #n "k" #k "." ptx " " addrs ", " bracess ", %1;" \
					 ::"l"(p), "r"(ldm), __GOCUDA_W##regs(c, r) : "memory");                                        \
	}
#define __GOCUDA_WMMA_MMA(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx)                  \
	__GOCUDA_WMMA_MMA1(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx, row, row)           \
	__GOCUDA_WMMA_MMA1(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx, row, col)           \
	__GOCUDA_WMMA_MMA1(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx, col, row)           \
	__GOCUDA_WMMA_MMA1(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx, col, col)
#define __GOCUDA_WMMA_MMA1(m, n, k, T, C, ptx, dregs, aregs, bregs, braces, ac, AR, cc, CR, satptx, la, lb)         \
	__GOCUDA_DEV void mma_sync(fragment<accumulator, m, n, k, C> &fd,                                               \
							   const fragment<matrix_a, m, n, k, T, la##_major> &fa,                                \
							   const fragment<matrix_b, m, n, k, T, lb##_major> &fb,                                \
							   const fragment<accumulator, m, n, k, C> &fc, bool saturate = false) {                \
		CR *d = (CR *)fd.x;                                                                                         \
		const AR *a = (const AR *)fa.x, *b = (const AR *)fb.x;                                                      \
		const CR *c = (const CR *)fc.x;                                                                             \
		if (saturate)                                                                                               \
			asm volatile("wmma.mma.sync.aligned." #la "." #lb ".m" #m "n" #n "k" #k "." ptx satptx " " braces ";"   \
						 : __GOCUDA_W##dregs("=" cc, d)                                                             \
						 : __GOCUDA_W##aregs(ac, a), __GOCUDA_W##bregs(ac, b), __GOCUDA_W##dregs(cc, c));           \
		else                                                                                                        \
			asm volatile("wmma.mma.sync.aligned." #la "." #lb ".m" #m "n" #n "k" #k "." ptx " " braces ";"          \
						 : __GOCUDA_W##dregs("=" cc, d)                                                             \
						 : __GOCUDA_W##aregs(ac, a), __GOCUDA_W##bregs(ac, b), __GOCUDA_W##dregs(cc, c));           \
	}

/* m16n16k16 */
__GOCUDA_WMMA_AB(16, 16, 16, "a", matrix_a, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_AB(16, 16, 16, "b", matrix_b, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_C(16, 16, 16, float, 8, "f32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "f", float)
__GOCUDA_WMMA_C(16, 16, 16, __half, 8, "f16", 4, "{%0, %1, %2, %3}", "[%4], %5", "[%0]", "{%2, %3, %4, %5}", "r", unsigned)
__GOCUDA_WMMA_C(16, 16, 16, int, 8, "s32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "r", int)
__GOCUDA_WMMA_MMA(16, 16, 16, __half, float, "f32.f32", 8, 8, 8,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31}",
	"r", unsigned, "f", float, ".satfinite")
__GOCUDA_WMMA_MMA(16, 16, 16, __half, __half, "f16.f16", 4, 8, 8,
	"{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, {%20, %21, %22, %23}",
	"r", unsigned, "r", unsigned, ".satfinite")
__GOCUDA_WMMA_AB(16, 16, 16, "a", matrix_a, signed char, signed char, 8, "s8", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_AB(16, 16, 16, "b", matrix_b, signed char, signed char, 8, "s8", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_MMA(16, 16, 16, signed char, int, "s32.s8.s8.s32", 8, 2, 2,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(16, 16, 16, "a", matrix_a, unsigned char, unsigned char, 8, "u8", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_AB(16, 16, 16, "b", matrix_b, unsigned char, unsigned char, 8, "u8", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_MMA(16, 16, 16, unsigned char, int, "s32.u8.u8.s32", 8, 2, 2,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(16, 16, 16, "a", matrix_a, __nv_bfloat16, __nv_bfloat16, 8, "bf16", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_AB(16, 16, 16, "b", matrix_b, __nv_bfloat16, __nv_bfloat16, 8, "bf16", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_MMA(16, 16, 16, __nv_bfloat16, float, "f32.bf16.bf16.f32", 8, 4, 4,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}",
	"r", unsigned, "f", float, "")
/* m32n8k16 */
__GOCUDA_WMMA_AB(32, 8, 16, "a", matrix_a, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_AB(32, 8, 16, "b", matrix_b, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_C(32, 8, 16, float, 8, "f32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "f", float)
__GOCUDA_WMMA_C(32, 8, 16, __half, 8, "f16", 4, "{%0, %1, %2, %3}", "[%4], %5", "[%0]", "{%2, %3, %4, %5}", "r", unsigned)
__GOCUDA_WMMA_C(32, 8, 16, int, 8, "s32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "r", int)
__GOCUDA_WMMA_MMA(32, 8, 16, __half, float, "f32.f32", 8, 8, 8,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31}",
	"r", unsigned, "f", float, ".satfinite")
__GOCUDA_WMMA_MMA(32, 8, 16, __half, __half, "f16.f16", 4, 8, 8,
	"{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, {%20, %21, %22, %23}",
	"r", unsigned, "r", unsigned, ".satfinite")
__GOCUDA_WMMA_AB(32, 8, 16, "a", matrix_a, signed char, signed char, 16, "s8", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_AB(32, 8, 16, "b", matrix_b, signed char, signed char, 4, "s8", 1, "{%0}", "[%1], %2", "r", unsigned)
__GOCUDA_WMMA_MMA(32, 8, 16, signed char, int, "s32.s8.s8.s32", 8, 4, 1,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12}, {%13, %14, %15, %16, %17, %18, %19, %20}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(32, 8, 16, "a", matrix_a, unsigned char, unsigned char, 16, "u8", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_AB(32, 8, 16, "b", matrix_b, unsigned char, unsigned char, 4, "u8", 1, "{%0}", "[%1], %2", "r", unsigned)
__GOCUDA_WMMA_MMA(32, 8, 16, unsigned char, int, "s32.u8.u8.s32", 8, 4, 1,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12}, {%13, %14, %15, %16, %17, %18, %19, %20}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(32, 8, 16, "a", matrix_a, __nv_bfloat16, __nv_bfloat16, 16, "bf16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_AB(32, 8, 16, "b", matrix_b, __nv_bfloat16, __nv_bfloat16, 4, "bf16", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_MMA(32, 8, 16, __nv_bfloat16, float, "f32.bf16.bf16.f32", 8, 8, 2,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17}, {%18, %19, %20, %21, %22, %23, %24, %25}",
	"r", unsigned, "f", float, "")
/* m8n32k16 */
__GOCUDA_WMMA_AB(8, 32, 16, "a", matrix_a, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_AB(8, 32, 16, "b", matrix_b, __half, __half, 16, "f16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_C(8, 32, 16, float, 8, "f32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "f", float)
__GOCUDA_WMMA_C(8, 32, 16, __half, 8, "f16", 4, "{%0, %1, %2, %3}", "[%4], %5", "[%0]", "{%2, %3, %4, %5}", "r", unsigned)
__GOCUDA_WMMA_C(8, 32, 16, int, 8, "s32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "r", int)
__GOCUDA_WMMA_MMA(8, 32, 16, __half, float, "f32.f32", 8, 8, 8,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%24, %25, %26, %27, %28, %29, %30, %31}",
	"r", unsigned, "f", float, ".satfinite")
__GOCUDA_WMMA_MMA(8, 32, 16, __half, __half, "f16.f16", 4, 8, 8,
	"{%0, %1, %2, %3}, {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15, %16, %17, %18, %19}, {%20, %21, %22, %23}",
	"r", unsigned, "r", unsigned, ".satfinite")
__GOCUDA_WMMA_AB(8, 32, 16, "a", matrix_a, signed char, signed char, 4, "s8", 1, "{%0}", "[%1], %2", "r", unsigned)
__GOCUDA_WMMA_AB(8, 32, 16, "b", matrix_b, signed char, signed char, 16, "s8", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_MMA(8, 32, 16, signed char, int, "s32.s8.s8.s32", 8, 1, 4,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8}, {%9, %10, %11, %12}, {%13, %14, %15, %16, %17, %18, %19, %20}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(8, 32, 16, "a", matrix_a, unsigned char, unsigned char, 4, "u8", 1, "{%0}", "[%1], %2", "r", unsigned)
__GOCUDA_WMMA_AB(8, 32, 16, "b", matrix_b, unsigned char, unsigned char, 16, "u8", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_MMA(8, 32, 16, unsigned char, int, "s32.u8.u8.s32", 8, 1, 4,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8}, {%9, %10, %11, %12}, {%13, %14, %15, %16, %17, %18, %19, %20}",
	"r", unsigned, "r", int, ".satfinite")
__GOCUDA_WMMA_AB(8, 32, 16, "a", matrix_a, __nv_bfloat16, __nv_bfloat16, 4, "bf16", 2, "{%0, %1}", "[%2], %3", "r", unsigned)
__GOCUDA_WMMA_AB(8, 32, 16, "b", matrix_b, __nv_bfloat16, __nv_bfloat16, 16, "bf16", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "r", unsigned)
__GOCUDA_WMMA_MMA(8, 32, 16, __nv_bfloat16, float, "f32.bf16.bf16.f32", 8, 2, 8,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13, %14, %15, %16, %17}, {%18, %19, %20, %21, %22, %23, %24, %25}",
	"r", unsigned, "f", float, "")
/* m16n16k8 of tf32 */
__GOCUDA_WMMA_AB(16, 16, 8, "a", matrix_a, precision::tf32, float, 4, "tf32", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_AB(16, 16, 8, "b", matrix_b, precision::tf32, float, 4, "tf32", 4, "{%0, %1, %2, %3}", "[%4], %5", "r", unsigned)
__GOCUDA_WMMA_C(16, 16, 8, float, 8, "f32", 8, "{%0, %1, %2, %3, %4, %5, %6, %7}", "[%8], %9", "[%0]", "{%2, %3, %4, %5, %6, %7, %8, %9}", "f", float)
__GOCUDA_WMMA_MMA(16, 16, 8, precision::tf32, float, "f32.tf32.tf32.f32", 8, 4, 4,
	"{%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}",
	"r", unsigned, "f", float, "")
/* m8n8k4 of double */
__GOCUDA_WMMA_AB(8, 8, 4, "a", matrix_a, double, double, 1, "f64", 1, "{%0}", "[%1], %2", "d", double)
__GOCUDA_WMMA_AB(8, 8, 4, "b", matrix_b, double, double, 1, "f64", 1, "{%0}", "[%1], %2", "d", double)
__GOCUDA_WMMA_C(8, 8, 4, double, 2, "f64", 2, "{%0, %1}", "[%2], %3", "[%0]", "{%2, %3}", "d", double)
__GOCUDA_WMMA_MMA(8, 8, 4, double, double, "f64.f64.f64.f64", 2, 1, 1,
	"{%0, %1}, {%2}, {%3}, {%4, %5}",
	"d", double, "d", double, "")

template <class Use, int m, int n, int k, class T, class L, class V>
__GOCUDA_DEV void fill_fragment(fragment<Use, m, n, k, T, L> &f, const V &v) {
#pragma unroll
	for (int i = 0; i < f.num_elements; i++) f.x[i] = v;
}
/* The value as a tensor core takes it: rounded to the 10 bits of tf32. */
__GOCUDA_DEV float __float_to_tf32(float f) {
	unsigned r;
	asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(f));
	return __uint_as_float(r);
}

#undef __GOCUDA_W1
#undef __GOCUDA_W2
#undef __GOCUDA_W4
#undef __GOCUDA_W8
#undef __GOCUDA_WMMA_AB
#undef __GOCUDA_WMMA_AB1
#undef __GOCUDA_WMMA_C
#undef __GOCUDA_WMMA_C1
#undef __GOCUDA_WMMA_MMA
#undef __GOCUDA_WMMA_MMA1
#undef __GOCUDA_LIST
#undef __GOCUDA_DEV

} // namespace wmma
} // namespace nvcuda

#endif
#endif
