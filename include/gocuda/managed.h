/* __managed__ variables on the host. clang knows them for HIP alone: there each name is a pointer that the runtime sets,
   and every use of the variable goes through it, as CUDA has it. gocuda cc compiles the host code of such files as HIP;
   what clang calls there stands here, by what CUDA's runtime has for it. */
#ifndef __GOCUDA_MANAGED_H__
#define __GOCUDA_MANAGED_H__

#define __GOCUDA_HIP __attribute__((weak, visibility("hidden")))

extern "C" {
void **__cudaRegisterFatBinary(void *);
void __cudaRegisterFunction(void **, const char *, char *, const char *, int, void *, void *, dim3 *, dim3 *, int *);
void __cudaRegisterVar(void **, char *, char *, const char *, int, size_t, int, int);
void __cudaRegisterManagedVar(void **, void **, char *, const char *, int, size_t, int, int);
char __cudaInitModule(void **);
void __cudaUnregisterFatBinary(void **);
unsigned __cudaPushCallConfiguration(dim3, dim3, size_t, void *);
unsigned __cudaPopCallConfiguration(dim3 *, dim3 *, size_t *, void *);

struct __gocuda_wrapper {
	int magic, version;
	const void *data;
	void *more;
};
__GOCUDA_HIP void **__hipRegisterFatBinary(const struct __gocuda_wrapper *hip) {
	struct __gocuda_wrapper *w = (struct __gocuda_wrapper *)malloc(sizeof *w);
	if (!w) abort();
	w->magic = 0x466243b1, w->version = 1, w->data = hip->data, w->more = 0;
	return __cudaRegisterFatBinary(w);
}
__GOCUDA_HIP int __hipRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit,
									   void *tid, void *bid, dim3 *block, dim3 *grid, int *size) {
	__cudaRegisterFunction(handle, host, device, name, limit, tid, bid, block, grid, size);
	return 0;
}
__GOCUDA_HIP void __hipRegisterVar(void **handle, char *host, char *device, const char *name, int external, size_t size,
								   int constant, int global) {
	__cudaRegisterVar(handle, host, device, name, external, size, constant, global);
}
/* The variable lies in the program until its module is loaded, so that a program without a device can use it. */
__GOCUDA_HIP void __hipRegisterManagedVar(void **handle, void **host, char *initial, const char *name, size_t size,
										  unsigned) {
	*host = initial;
	__cudaRegisterManagedVar(handle, host, (char *)name, name, 0, size, 0, 0);
	__cudaInitModule(handle);
}
__GOCUDA_HIP void __hipUnregisterFatBinary(void **handle) { __cudaUnregisterFatBinary(handle); }
__GOCUDA_HIP unsigned __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, void *stream = 0) {
	return __cudaPushCallConfiguration(grid, block, shared, stream);
}
__GOCUDA_HIP unsigned __hipPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
	return __cudaPopCallConfiguration(grid, block, shared, stream);
}
__GOCUDA_HIP cudaError_t hipLaunchKernel(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
										 cudaStream_t stream) {
	return cudaLaunchKernel(f, grid, block, args, shared, stream);
}
/* Its name with streams per thread, where the call above is cudaLaunchKernel_ptsz. */
__GOCUDA_HIP cudaError_t hipLaunchKernel_spt(const void *f, dim3 grid, dim3 block, void **args, size_t shared,
											 cudaStream_t stream) {
	return cudaLaunchKernel(f, grid, block, args, shared, stream);
}
}

#undef __GOCUDA_HIP
#endif
