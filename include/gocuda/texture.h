/* Texture and surface functions: CUDA C++ Programming Guide, "Texture Functions" and "Surface Functions", each as the
   tex, tld4, suld.b or sust.b instruction of the PTX manual. */
#ifndef __GOCUDA_TEXTURE_H__
#define __GOCUDA_TEXTURE_H__

#include "surface_types.h"
#include "texture_types.h"

#define __GOCUDA_DEV static __device__ __inline__ __attribute__((always_inline))
#define __GOCUDA_ARGS(...) __VA_ARGS__

/* What a texture of elements T gives: a fetch in four registers of the instruction's type, and the way back to T. */
template <class T> struct __gocuda_texel;
#define __GOCUDA_TEXEL(T, F, n) \
	template <> struct __gocuda_texel<T> { typedef F fetch; enum { count = n }; };
#define __GOCUDA_TEXELS(scalar, vector, F) \
	__GOCUDA_TEXEL(scalar, F, 0)           \
	__GOCUDA_TEXEL(vector##1, F, 1)        \
	__GOCUDA_TEXEL(vector##2, F, 2)        \
	__GOCUDA_TEXEL(vector##4, F, 4)
__GOCUDA_TEXEL(char, int4, 0)
__GOCUDA_TEXELS(signed char, char, int4)
__GOCUDA_TEXELS(unsigned char, uchar, uint4)
__GOCUDA_TEXELS(short, short, int4)
__GOCUDA_TEXELS(unsigned short, ushort, uint4)
__GOCUDA_TEXELS(int, int, int4)
__GOCUDA_TEXELS(unsigned, uint, uint4)
__GOCUDA_TEXELS(float, float, float4)
#if defined(_WIN32)
__GOCUDA_TEXELS(long, long, int4)
__GOCUDA_TEXELS(unsigned long, ulong, uint4)
#endif
#undef __GOCUDA_TEXEL
#undef __GOCUDA_TEXELS

template <class T, int n> struct __gocuda_take;
template <class T> struct __gocuda_take<T, 0> {
	template <class F> static __device__ __forceinline__ T of(F f) { return (T)f.x; }
};
template <class T> struct __gocuda_take<T, 1> {
	template <class F> static __device__ __forceinline__ T of(F f) { T t; t.x = f.x; return t; }
};
template <class T> struct __gocuda_take<T, 2> {
	template <class F> static __device__ __forceinline__ T of(F f) { T t; t.x = f.x; t.y = f.y; return t; }
};
template <class T> struct __gocuda_take<T, 4> {
	template <class F> static __device__ __forceinline__ T of(F f) {
		T t;
		t.x = f.x, t.y = f.y, t.z = f.z, t.w = f.w;
		return t;
	}
};

#define __GOCUDA_FETCH(name, F, ptx, r, op, c, text, params, operands)                                        \
	__GOCUDA_DEV F __gocuda_##name(F, cudaTextureObject_t t, __GOCUDA_ARGS params) {                          \
		F v;                                                                                                  \
		__asm__(op ".v4." ptx "." c " {%0, %1, %2, %3}, [%4, " text ";"                                       \
				: "=" r(v.x), "=" r(v.y), "=" r(v.z), "=" r(v.w)                                              \
				: "l"(t), __GOCUDA_ARGS operands);                                                            \
		return v;                                                                                             \
	}
/* name, instruction, coordinate type, text behind the object, parameters, their names, operands */
#define __GOCUDA_TEX(name, op, c, text, params, names, operands)                                              \
	__GOCUDA_FETCH(name, float4, "f32", "f", op, c, text, params, operands)                                   \
	__GOCUDA_FETCH(name, int4, "s32", "r", op, c, text, params, operands)                                     \
	__GOCUDA_FETCH(name, uint4, "u32", "r", op, c, text, params, operands)                                    \
	template <class T> __GOCUDA_DEV T name(cudaTextureObject_t t, __GOCUDA_ARGS params) {                     \
		typedef typename __gocuda_texel<T>::fetch fetch;                                                      \
		return __gocuda_take<T, __gocuda_texel<T>::count>::of(__gocuda_##name(fetch(), t, __GOCUDA_ARGS names)); \
	}                                                                                                         \
	template <class T> __GOCUDA_DEV void name(T *out, cudaTextureObject_t t, __GOCUDA_ARGS params) {          \
		*out = name<T>(t, __GOCUDA_ARGS names);                                                               \
	}

__GOCUDA_TEX(tex1Dfetch, "tex.1d", "s32", "{%5}]", (int x), (x), ("r"(x)))
__GOCUDA_TEX(tex1D, "tex.1d", "f32", "{%5}]", (float x), (x), ("f"(x)))
__GOCUDA_TEX(tex1DLod, "tex.level.1d", "f32", "{%5}], %6", (float x, float level), (x, level), ("f"(x), "f"(level)))
__GOCUDA_TEX(tex1DGrad, "tex.grad.1d", "f32", "{%5}], {%6}, {%7}", (float x, float dx, float dy), (x, dx, dy),
			 ("f"(x), "f"(dx), "f"(dy)))
__GOCUDA_TEX(tex2D, "tex.2d", "f32", "{%5, %6}]", (float x, float y), (x, y), ("f"(x), "f"(y)))
__GOCUDA_TEX(tex2DLod, "tex.level.2d", "f32", "{%5, %6}], %7", (float x, float y, float level), (x, y, level),
			 ("f"(x), "f"(y), "f"(level)))
__GOCUDA_TEX(tex2DGrad, "tex.grad.2d", "f32", "{%5, %6}], {%7, %8}, {%9, %10}", (float x, float y, float2 dx, float2 dy),
			 (x, y, dx, dy), ("f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
__GOCUDA_TEX(tex3D, "tex.3d", "f32", "{%5, %6, %7, %7}]", (float x, float y, float z), (x, y, z),
			 ("f"(x), "f"(y), "f"(z)))
__GOCUDA_TEX(tex3DLod, "tex.level.3d", "f32", "{%5, %6, %7, %7}], %8", (float x, float y, float z, float level),
			 (x, y, z, level), ("f"(x), "f"(y), "f"(z), "f"(level)))
__GOCUDA_TEX(tex3DGrad, "tex.grad.3d", "f32", "{%5, %6, %7, %7}], {%8, %9, %10, %10}, {%11, %12, %13, %13}",
			 (float x, float y, float z, float4 dx, float4 dy), (x, y, z, dx, dy),
			 ("f"(x), "f"(y), "f"(z), "f"(dx.x), "f"(dx.y), "f"(dx.z), "f"(dy.x), "f"(dy.y), "f"(dy.z)))
__GOCUDA_TEX(tex1DLayered, "tex.a1d", "f32", "{%5, %6}]", (float x, int layer), (x, layer), ("r"(layer), "f"(x)))
__GOCUDA_TEX(tex1DLayeredLod, "tex.level.a1d", "f32", "{%5, %6}], %7", (float x, int layer, float level),
			 (x, layer, level), ("r"(layer), "f"(x), "f"(level)))
__GOCUDA_TEX(tex1DLayeredGrad, "tex.grad.a1d", "f32", "{%5, %6}], {%7}, {%8}", (float x, int layer, float dx, float dy),
			 (x, layer, dx, dy), ("r"(layer), "f"(x), "f"(dx), "f"(dy)))
__GOCUDA_TEX(tex2DLayered, "tex.a2d", "f32", "{%5, %6, %7, %7}]", (float x, float y, int layer), (x, y, layer),
			 ("r"(layer), "f"(x), "f"(y)))
__GOCUDA_TEX(tex2DLayeredLod, "tex.level.a2d", "f32", "{%5, %6, %7, %7}], %8",
			 (float x, float y, int layer, float level), (x, y, layer, level),
			 ("r"(layer), "f"(x), "f"(y), "f"(level)))
__GOCUDA_TEX(tex2DLayeredGrad, "tex.grad.a2d", "f32", "{%5, %6, %7, %7}], {%8, %9}, {%10, %11}",
			 (float x, float y, int layer, float2 dx, float2 dy), (x, y, layer, dx, dy),
			 ("r"(layer), "f"(x), "f"(y), "f"(dx.x), "f"(dx.y), "f"(dy.x), "f"(dy.y)))
__GOCUDA_TEX(texCubemap, "tex.cube", "f32", "{%5, %6, %7, %7}]", (float x, float y, float z), (x, y, z),
			 ("f"(x), "f"(y), "f"(z)))
__GOCUDA_TEX(texCubemapLod, "tex.level.cube", "f32", "{%5, %6, %7, %7}], %8",
			 (float x, float y, float z, float level), (x, y, z, level), ("f"(x), "f"(y), "f"(z), "f"(level)))
__GOCUDA_TEX(texCubemapLayered, "tex.acube", "f32", "{%5, %6, %7, %8}]", (float x, float y, float z, int layer),
			 (x, y, z, layer), ("r"(layer), "f"(x), "f"(y), "f"(z)))
__GOCUDA_TEX(texCubemapLayeredLod, "tex.level.acube", "f32", "{%5, %6, %7, %8}], %9",
			 (float x, float y, float z, int layer, float level), (x, y, z, layer, level),
			 ("r"(layer), "f"(x), "f"(y), "f"(z), "f"(level)))
__GOCUDA_TEX(__gocuda_gather_r, "tld4.r.2d", "f32", "{%5, %6}]", (float x, float y), (x, y), ("f"(x), "f"(y)))
__GOCUDA_TEX(__gocuda_gather_g, "tld4.g.2d", "f32", "{%5, %6}]", (float x, float y), (x, y), ("f"(x), "f"(y)))
__GOCUDA_TEX(__gocuda_gather_b, "tld4.b.2d", "f32", "{%5, %6}]", (float x, float y), (x, y), ("f"(x), "f"(y)))
__GOCUDA_TEX(__gocuda_gather_a, "tld4.a.2d", "f32", "{%5, %6}]", (float x, float y), (x, y), ("f"(x), "f"(y)))
#undef __GOCUDA_TEX
#undef __GOCUDA_FETCH

template <class T> __GOCUDA_DEV T tex2Dgather(cudaTextureObject_t t, float x, float y, int component = 0) {
	switch (component) {
	case 1: return __gocuda_gather_g<T>(t, x, y);
	case 2: return __gocuda_gather_b<T>(t, x, y);
	case 3: return __gocuda_gather_a<T>(t, x, y);
	}
	return __gocuda_gather_r<T>(t, x, y);
}
template <class T>
__GOCUDA_DEV void tex2Dgather(T *out, cudaTextureObject_t t, float x, float y, int component = 0) {
	*out = tex2Dgather<T>(t, x, y, component);
}

/* Surfaces are read and written without regard to format: what counts is the size of T in bytes. */
template <int size> struct __gocuda_word;
template <> struct __gocuda_word<1> { typedef unsigned short type; };
template <> struct __gocuda_word<2> { typedef unsigned short type; };
template <> struct __gocuda_word<4> { typedef unsigned type; };
template <> struct __gocuda_word<8> { typedef unsigned long long type; };
template <> struct __gocuda_word<16> { typedef ulonglong2 type; };
template <int size> struct __gocuda_size {};

#define __GOCUDA_SU(name, n, b, r, geom, text, mode, params, operands)                                            \
	__GOCUDA_DEV typename __gocuda_word<n>::type __gocuda_get_##name##_##mode(__gocuda_size<n>,                   \
			cudaSurfaceObject_t s, __GOCUDA_ARGS params) {                                                        \
		typename __gocuda_word<n>::type v;                                                                        \
		__asm__ volatile("suld.b." geom "." b "." #mode " {%0}, [%1, {" text "}];"                                \
						 : "=" r(v) : "l"(s), __GOCUDA_ARGS operands : "memory");                                 \
		return v;                                                                                                 \
	}                                                                                                             \
	__GOCUDA_DEV void __gocuda_put_##name##_##mode(__gocuda_size<n>, cudaSurfaceObject_t s,                       \
			typename __gocuda_word<n>::type v, __GOCUDA_ARGS params) {                                            \
		__asm__ volatile("sust.b." geom "." b "." #mode " [%1, {" text "}], {%0};"                                \
						 ::r(v), "l"(s), __GOCUDA_ARGS operands : "memory");                                      \
	}
#define __GOCUDA_SU16(name, geom, text, text1, mode, params, operands)                                            \
	__GOCUDA_DEV ulonglong2 __gocuda_get_##name##_##mode(__gocuda_size<16>, cudaSurfaceObject_t s,                \
														 __GOCUDA_ARGS params) {                                  \
		ulonglong2 v;                                                                                             \
		__asm__ volatile("suld.b." geom ".v2.b64." #mode " {%0, %1}, [%2, {" text1 "}];"                          \
						 : "=l"(v.x), "=l"(v.y) : "l"(s), __GOCUDA_ARGS operands : "memory");                     \
		return v;                                                                                                 \
	}                                                                                                             \
	__GOCUDA_DEV void __gocuda_put_##name##_##mode(__gocuda_size<16>, cudaSurfaceObject_t s, ulonglong2 v,        \
												   __GOCUDA_ARGS params) {                                        \
		__asm__ volatile("sust.b." geom ".v2.b64." #mode " [%2, {" text1 "}], {%0, %1};"                          \
						 ::"l"(v.x), "l"(v.y), "l"(s), __GOCUDA_ARGS operands : "memory");                        \
	}
#define __GOCUDA_SUMODE(name, geom, text, text1, mode, params, operands)                  \
	__GOCUDA_SU(name, 1, "b8", "h", geom, text, mode, params, operands)                   \
	__GOCUDA_SU(name, 2, "b16", "h", geom, text, mode, params, operands)                  \
	__GOCUDA_SU(name, 4, "b32", "r", geom, text, mode, params, operands)                  \
	__GOCUDA_SU(name, 8, "b64", "l", geom, text, mode, params, operands)                  \
	__GOCUDA_SU16(name, geom, text, text1, mode, params, operands)
/* name, geometry, coordinates from %2 and from %3, parameters, their names, operands */
#define __GOCUDA_SURFACE(name, geom, text, text1, params, names, operands)                                        \
	__GOCUDA_SUMODE(name, geom, text, text1, trap, params, operands)                                              \
	__GOCUDA_SUMODE(name, geom, text, text1, clamp, params, operands)                                             \
	__GOCUDA_SUMODE(name, geom, text, text1, zero, params, operands)                                              \
	template <class T> __GOCUDA_DEV T name##read(cudaSurfaceObject_t s, __GOCUDA_ARGS params,                     \
												 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {           \
		__gocuda_size<(int)sizeof(T)> n;                                                                          \
		typename __gocuda_word<(int)sizeof(T)>::type w =                                                          \
			mode == cudaBoundaryModeZero    ? __gocuda_get_##name##_zero(n, s, __GOCUDA_ARGS names)               \
			: mode == cudaBoundaryModeClamp ? __gocuda_get_##name##_clamp(n, s, __GOCUDA_ARGS names)              \
											: __gocuda_get_##name##_trap(n, s, __GOCUDA_ARGS names);              \
		T v;                                                                                                      \
		__builtin_memcpy(&v, &w, sizeof v);                                                                       \
		return v;                                                                                                 \
	}                                                                                                             \
	template <class T> __GOCUDA_DEV void name##read(T *out, cudaSurfaceObject_t s, __GOCUDA_ARGS params,          \
													cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {        \
		*out = name##read<T>(s, __GOCUDA_ARGS names, mode);                                                       \
	}                                                                                                             \
	template <class T> __GOCUDA_DEV void name##write(T v, cudaSurfaceObject_t s, __GOCUDA_ARGS params,            \
													 cudaSurfaceBoundaryMode mode = cudaBoundaryModeTrap) {       \
		__gocuda_size<(int)sizeof(T)> n;                                                                          \
		typename __gocuda_word<(int)sizeof(T)>::type w = {};                                                      \
		__builtin_memcpy(&w, &v, sizeof v);                                                                       \
		if (mode == cudaBoundaryModeZero)                                                                         \
			__gocuda_put_##name##_zero(n, s, w, __GOCUDA_ARGS names);                                             \
		else if (mode == cudaBoundaryModeClamp)                                                                   \
			__gocuda_put_##name##_clamp(n, s, w, __GOCUDA_ARGS names);                                            \
		else                                                                                                      \
			__gocuda_put_##name##_trap(n, s, w, __GOCUDA_ARGS names);                                             \
	}
__GOCUDA_SURFACE(surf1D, "1d", "%2", "%3", (int x), (x), ("r"(x)))
__GOCUDA_SURFACE(surf2D, "2d", "%2, %3", "%3, %4", (int x, int y), (x, y), ("r"(x), "r"(y)))
__GOCUDA_SURFACE(surf3D, "3d", "%2, %3, %4, %4", "%3, %4, %5, %5", (int x, int y, int z), (x, y, z),
				 ("r"(x), "r"(y), "r"(z)))
__GOCUDA_SURFACE(surf1DLayered, "a1d", "%2, %3", "%3, %4", (int x, int layer), (x, layer), ("r"(layer), "r"(x)))
__GOCUDA_SURFACE(surf2DLayered, "a2d", "%2, %3, %4, %4", "%3, %4, %5, %5", (int x, int y, int layer), (x, y, layer),
				 ("r"(layer), "r"(x), "r"(y)))
/* A cube map is a layered surface of six faces: PTX manual, "Surface Instructions". */
__GOCUDA_SURFACE(surfCubemap, "a2d", "%2, %3, %4, %4", "%3, %4, %5, %5", (int x, int y, int face), (x, y, face),
				 ("r"(face), "r"(x), "r"(y)))
__GOCUDA_SURFACE(surfCubemapLayered, "a2d", "%2, %3, %4, %4", "%3, %4, %5, %5", (int x, int y, int layerFace),
				 (x, y, layerFace), ("r"(layerFace), "r"(x), "r"(y)))
#undef __GOCUDA_SURFACE
#undef __GOCUDA_SUMODE
#undef __GOCUDA_SU16
#undef __GOCUDA_SU

#undef __GOCUDA_DEV
#undef __GOCUDA_ARGS
#endif
