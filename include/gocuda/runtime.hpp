/* The runtime API's C++ routines: CUDA Runtime API, "C++ API Routines": the functions of the C API with a type in the
   place of void, for kernels and symbols as they stand in the program. */
#ifndef __GOCUDA_RUNTIME_HPP__
#define __GOCUDA_RUNTIME_HPP__

#include "cuda_runtime_api.h"

#define __GOCUDA_API static inline __host__

/* memory */
template <class T> __GOCUDA_API cudaError_t cudaMalloc(T **p, size_t size) { return ::cudaMalloc((void **)(void *)p, size); }
template <class T> __GOCUDA_API cudaError_t cudaMallocHost(T **p, size_t size, unsigned flags = 0) {
	return ::cudaHostAlloc((void **)(void *)p, size, flags);
}
__GOCUDA_API cudaError_t cudaMallocHost(void **p, size_t size, unsigned flags) { return ::cudaHostAlloc(p, size, flags); }
template <class T> __GOCUDA_API cudaError_t cudaHostAlloc(T **p, size_t size, unsigned flags) {
	return ::cudaHostAlloc((void **)(void *)p, size, flags);
}
template <class T> __GOCUDA_API cudaError_t cudaHostGetDevicePointer(T **device, void *host, unsigned flags) {
	return ::cudaHostGetDevicePointer((void **)(void *)device, host, flags);
}
template <class T>
__GOCUDA_API cudaError_t cudaMallocManaged(T **p, size_t size, unsigned flags = cudaMemAttachGlobal) {
	return ::cudaMallocManaged((void **)(void *)p, size, flags);
}
template <class T>
__GOCUDA_API cudaError_t cudaMallocPitch(T **p, size_t *pitch, size_t width, size_t height) {
	return ::cudaMallocPitch((void **)(void *)p, pitch, width, height);
}
template <class T> __GOCUDA_API cudaError_t cudaMallocAsync(T **p, size_t size, cudaStream_t stream) {
	return ::cudaMallocAsync((void **)(void *)p, size, stream);
}
template <class T>
__GOCUDA_API cudaError_t cudaMallocFromPoolAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
	return ::cudaMallocFromPoolAsync((void **)(void *)p, size, pool, stream);
}
__GOCUDA_API cudaError_t cudaMallocAsync(void **p, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
	return ::cudaMallocFromPoolAsync(p, size, pool, stream);
}
template <class T>
__GOCUDA_API cudaError_t cudaMallocAsync(T **p, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
	return ::cudaMallocFromPoolAsync((void **)(void *)p, size, pool, stream);
}
template <class T>
__GOCUDA_API cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T *p, size_t length = 0,
												  unsigned flags = cudaMemAttachSingle) {
	return ::cudaStreamAttachMemAsync(stream, (void *)p, length, flags);
}

/* symbols */
template <class T>
__GOCUDA_API cudaError_t cudaMemcpyToSymbol(const T &symbol, const void *src, size_t count, size_t offset = 0,
											cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
	return ::cudaMemcpyToSymbol((const void *)&symbol, src, count, offset, kind);
}
template <class T>
__GOCUDA_API cudaError_t cudaMemcpyToSymbolAsync(const T &symbol, const void *src, size_t count, size_t offset = 0,
												 cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = 0) {
	return ::cudaMemcpyToSymbolAsync((const void *)&symbol, src, count, offset, kind, stream);
}
template <class T>
__GOCUDA_API cudaError_t cudaMemcpyFromSymbol(void *dst, const T &symbol, size_t count, size_t offset = 0,
											  cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
	return ::cudaMemcpyFromSymbol(dst, (const void *)&symbol, count, offset, kind);
}
template <class T>
__GOCUDA_API cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const T &symbol, size_t count, size_t offset = 0,
												   cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = 0) {
	return ::cudaMemcpyFromSymbolAsync(dst, (const void *)&symbol, count, offset, kind, stream);
}
template <class T> __GOCUDA_API cudaError_t cudaGetSymbolAddress(void **p, const T &symbol) {
	return ::cudaGetSymbolAddress(p, (const void *)&symbol);
}
template <class T> __GOCUDA_API cudaError_t cudaGetSymbolSize(size_t *size, const T &symbol) {
	return ::cudaGetSymbolSize(size, (const void *)&symbol);
}
template <class T>
__GOCUDA_API cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
		const cudaGraphNode_t *deps, size_t n, const T &symbol, const void *src, size_t count, size_t offset,
		cudaMemcpyKind kind) {
	return ::cudaGraphAddMemcpyNodeToSymbol(node, graph, deps, n, (const void *)&symbol, src, count, offset, kind);
}
template <class T>
__GOCUDA_API cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
		const cudaGraphNode_t *deps, size_t n, void *dst, const T &symbol, size_t count, size_t offset,
		cudaMemcpyKind kind) {
	return ::cudaGraphAddMemcpyNodeFromSymbol(node, graph, deps, n, dst, (const void *)&symbol, count, offset, kind);
}

/* launches */
template <class T>
__GOCUDA_API cudaError_t cudaLaunchKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
										  cudaStream_t stream = 0) {
	return ::cudaLaunchKernel((const void *)kernel, grid, block, args, shared, stream);
}
template <class T>
__GOCUDA_API cudaError_t cudaLaunchCooperativeKernel(T *kernel, dim3 grid, dim3 block, void **args, size_t shared = 0,
													 cudaStream_t stream = 0) {
	return ::cudaLaunchCooperativeKernel((const void *)kernel, grid, block, args, shared, stream);
}
#if __cplusplus >= 201103L
template <class... P, class... A>
__GOCUDA_API cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t *config, void (*kernel)(P...), A &&...args) {
	return [&](P... converted) {
		void *p[sizeof...(P) + 1] = {(void *)&converted...};
		return ::cudaLaunchKernelExC(config, (const void *)kernel, p);
	}((A &&)args...);
}
#endif
template <class T> __GOCUDA_API cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, T *kernel, void **args) {
	return ::cudaLaunchKernelExC(config, (const void *)kernel, args);
}

/* functions */
template <class T> __GOCUDA_API cudaError_t cudaFuncSetCacheConfig(T *kernel, cudaFuncCache config) {
	return ::cudaFuncSetCacheConfig((const void *)kernel, config);
}
template <class T> __GOCUDA_API cudaError_t cudaFuncSetSharedMemConfig(T *kernel, cudaSharedMemConfig config) {
	return ::cudaFuncSetSharedMemConfig((const void *)kernel, config);
}
template <class T> __GOCUDA_API cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, T *kernel) {
	return ::cudaFuncGetAttributes(attributes, (const void *)kernel);
}
template <class T> __GOCUDA_API cudaError_t cudaFuncSetAttribute(T *kernel, cudaFuncAttribute attribute, int value) {
	return ::cudaFuncSetAttribute((const void *)kernel, attribute, value);
}
template <class T> __GOCUDA_API cudaError_t cudaFuncGetName(const char **name, T *kernel) {
	return ::cudaFuncGetName(name, (const void *)kernel);
}
template <class T> __GOCUDA_API cudaError_t cudaGetFuncBySymbol(cudaFunction_t *f, T *kernel) {
	return ::cudaGetFuncBySymbol(f, (const void *)kernel);
}
template <class T> __GOCUDA_API cudaError_t cudaGetKernel(cudaKernel_t *k, T *kernel) {
	return ::cudaGetKernel(k, (const void *)kernel);
}

/* occupancy */
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, T kernel, int threads,
																	   size_t shared) {
	return ::cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, (const void *)kernel, threads, shared);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, T kernel, int threads,
																				size_t shared, unsigned flags) {
	return ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, (const void *)kernel, threads, shared, flags);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *shared, T *kernel, int blocks, int threads) {
	return ::cudaOccupancyAvailableDynamicSMemPerBlock(shared, (const void *)kernel, blocks, threads);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, T *kernel, const cudaLaunchConfig_t *config) {
	return ::cudaOccupancyMaxPotentialClusterSize(size, (const void *)kernel, config);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxActiveClusters(int *n, T *kernel, const cudaLaunchConfig_t *config) {
	return ::cudaOccupancyMaxActiveClusters(n, (const void *)kernel, config);
}

/* The block size with the most resident threads: the largest multiple of a warp among those that share the maximum. */
template <class F, class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(int *grid, int *block, T kernel,
		F sharedOf, int limit = 0, unsigned flags = 0) {
	if (!grid || !block || !(const void *)kernel) return cudaErrorInvalidValue;
	int device, perSM, threadsOfSM, warp;
	cudaFuncAttributes a;
	cudaError_t e;
	if ((e = ::cudaGetDevice(&device)) != cudaSuccess ||
		(e = ::cudaDeviceGetAttribute(&perSM, cudaDevAttrMultiProcessorCount, device)) != cudaSuccess ||
		(e = ::cudaDeviceGetAttribute(&threadsOfSM, cudaDevAttrMaxThreadsPerMultiProcessor, device)) != cudaSuccess ||
		(e = ::cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, device)) != cudaSuccess ||
		(e = ::cudaFuncGetAttributes(&a, (const void *)kernel)) != cudaSuccess)
		return e;
	int most = a.maxThreadsPerBlock;
	if (limit > 0 && limit < most) most = limit;
	int best = 0, bestBlock = 0, bestBlocks = 0;
	for (int size = (most + warp - 1) / warp * warp; size > 0; size -= warp) {
		int threads = size < most ? size : most, blocks;
		e = ::cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, (const void *)kernel, threads,
																	 sharedOf(threads), flags);
		if (e != cudaSuccess) return e;
		if (blocks * threads > best) best = blocks * threads, bestBlock = threads, bestBlocks = blocks;
		if (best == threadsOfSM) break;
	}
	*block = bestBlock;
	*grid = bestBlocks * perSM;
	return cudaSuccess;
}
struct __gocuda_shared_of {
	size_t n;
	__host__ __device__ size_t operator()(int) const { return n; }
};
template <class F, class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxPotentialBlockSizeVariableSMem(int *grid, int *block, T kernel, F sharedOf,
																		int limit = 0) {
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, sharedOf, limit, 0);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, T kernel, size_t shared = 0,
																	 int limit = 0, unsigned flags = 0) {
	__gocuda_shared_of f = {shared};
	return cudaOccupancyMaxPotentialBlockSizeVariableSMemWithFlags(grid, block, kernel, f, limit, flags);
}
template <class T>
__GOCUDA_API cudaError_t cudaOccupancyMaxPotentialBlockSize(int *grid, int *block, T kernel, size_t shared = 0,
															int limit = 0) {
	return cudaOccupancyMaxPotentialBlockSizeWithFlags(grid, block, kernel, shared, limit, 0);
}

/* events and graphs */
__GOCUDA_API cudaError_t cudaEventCreate(cudaEvent_t *event, unsigned flags) {
	return ::cudaEventCreateWithFlags(event, flags);
}
/* CUDA 11's form: what went wrong is in the return value, the log stays empty. */
__GOCUDA_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph, cudaGraphNode_t *node, char *log,
											  size_t size) {
	if (node) *node = 0;
	if (log && size) *log = 0;
	return ::cudaGraphInstantiate(exec, graph, 0);
}
#if CUDART_VERSION >= 12000
__GOCUDA_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t *node,
											 cudaGraphExecUpdateResult *result) {
	cudaGraphExecUpdateResultInfo info;
	__builtin_memset(&info, 0, sizeof info);
	cudaError_t e = ::cudaGraphExecUpdate(exec, graph, &info);
	if (node) *node = info.errorNode;
	if (result) *result = info.result;
	return e;
}
#endif

/* What CUDA 13 has no longer. */
#if CUDART_VERSION >= 13000
__GOCUDA_API cudaError_t cudaThreadExit() { return ::cudaDeviceReset(); }
__GOCUDA_API cudaError_t cudaThreadSynchronize() { return ::cudaDeviceSynchronize(); }
__GOCUDA_API cudaError_t cudaThreadSetLimit(cudaLimit limit, size_t value) { return ::cudaDeviceSetLimit(limit, value); }
__GOCUDA_API cudaError_t cudaThreadGetLimit(size_t *value, cudaLimit limit) { return ::cudaDeviceGetLimit(value, limit); }
__GOCUDA_API cudaError_t cudaThreadGetCacheConfig(cudaFuncCache *config) { return ::cudaDeviceGetCacheConfig(config); }
__GOCUDA_API cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return ::cudaDeviceSetCacheConfig(config); }

__GOCUDA_API cudaError_t __gocuda_device_properties(cudaDeviceProp *p, int device) {
	cudaError_t e = ::cudaGetDeviceProperties(p, device);
	if (e != cudaSuccess) return e;
	p->cooperativeMultiDeviceLaunch = p->cooperativeLaunch; /* the attribute has gone too */
	const struct {
		int *value;
		cudaDeviceAttr attribute;
	} gone[] = {
		{&p->clockRate, cudaDevAttrClockRate},
		{&p->deviceOverlap, cudaDevAttrGpuOverlap},
		{&p->kernelExecTimeoutEnabled, cudaDevAttrKernelExecTimeout},
		{&p->computeMode, cudaDevAttrComputeMode},
		{&p->maxTexture1DLinear, cudaDevAttrMaxTexture1DLinearWidth},
		{&p->memoryClockRate, cudaDevAttrMemoryClockRate},
		{&p->singleToDoublePrecisionPerfRatio, cudaDevAttrSingleToDoublePrecisionPerfRatio},
	};
	for (unsigned i = 0; i < sizeof gone / sizeof *gone && e == cudaSuccess; i++)
		e = ::cudaDeviceGetAttribute(gone[i].value, gone[i].attribute, device);
	return e;
}
#define cudaGetDeviceProperties(...) __gocuda_device_properties(__VA_ARGS__)
#endif

#undef __GOCUDA_API
#endif
