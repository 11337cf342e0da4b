/* Address spaces: CUDA C++ Programming Guide. clang's intrinsics header uses these. */
#ifndef __GOCUDA_ADDRESS_H__
#define __GOCUDA_ADDRESS_H__

#define __GOCUDA_DEV static __device__ __inline__ __attribute__((always_inline))

/* "Address Space Predicate Functions" and "Address Space Conversion Functions". */
__GOCUDA_DEV unsigned __isGlobal(const void *p) { return __nvvm_isspacep_global(p); }
__GOCUDA_DEV unsigned __isShared(const void *p) { return __nvvm_isspacep_shared(p); }
__GOCUDA_DEV unsigned __isGridConstant(const void *p) {
	unsigned r;
	__asm__("{\n\t.reg .pred p;\n\tisspacep.param p, %1;\n\tselp.u32 %0, 1, 0, p;\n\t}" : "=r"(r) : "l"(p));
	return r;
}
__GOCUDA_DEV unsigned __isConstant(const void *p) { return __nvvm_isspacep_const(p); }
__GOCUDA_DEV unsigned __isLocal(const void *p) { return __nvvm_isspacep_local(p); }
__GOCUDA_DEV size_t __cvta_generic_to_global(const void *p) {
	return (size_t)(__attribute__((address_space(1))) const void *)p;
}
__GOCUDA_DEV size_t __cvta_generic_to_shared(const void *p) {
	return (size_t)(__attribute__((address_space(3))) const void *)p;
}
__GOCUDA_DEV size_t __cvta_generic_to_constant(const void *p) {
	return (size_t)(__attribute__((address_space(4))) const void *)p;
}
__GOCUDA_DEV size_t __cvta_generic_to_local(const void *p) {
	return (size_t)(__attribute__((address_space(5))) const void *)p;
}
__GOCUDA_DEV void *__cvta_global_to_generic(size_t a) {
	return (void *)(__attribute__((address_space(1))) void *)a;
}
__GOCUDA_DEV void *__cvta_shared_to_generic(size_t a) {
	return (void *)(__attribute__((address_space(3))) void *)a;
}
__GOCUDA_DEV void *__cvta_constant_to_generic(size_t a) {
	return (void *)(__attribute__((address_space(4))) void *)a;
}
__GOCUDA_DEV void *__cvta_local_to_generic(size_t a) {
	return (void *)(__attribute__((address_space(5))) void *)a;
}

#undef __GOCUDA_DEV
#endif
