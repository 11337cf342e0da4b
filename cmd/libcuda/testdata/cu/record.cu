/* Calls of the runtime API, with what they answer and do. Built with NVIDIA's compiler and runtime it makes the recording that the runtime library of this project is
 * compared with (h200.txt); built with clang and that library it makes the lines to compare. A case is an argument; without one, the names of all are printed.
 *
 *	case: call -> ERROR [effects]
 */
#include <cuda_runtime.h>
#include <cuda_profiler_api.h>

#include <initializer_list>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *current_case;
static sigjmp_buf again;
static void crashed(int) { siglongjmp(again, 1); }

/* C makes a call and writes its line; after a failure, what the thread's last error is then. */
#define C(call) \
	do { \
		if (sigsetjmp(again, 1) == 0) { \
			cudaError_t e_ = (call); \
			printf("%s: %s -> %s", current_case, #call, cudaGetErrorName(e_)); \
			if (e_ != cudaSuccess) \
				printf(" last %s", cudaGetErrorName(cudaGetLastError())); \
			printf("\n"); \
		} else { \
			printf("%s: %s -> CRASH\n", current_case, #call); \
			fflush(stdout); \
			if (!getenv("GOCUDA_RECORD")) \
				_exit(9); \
		} \
		fflush(stdout); \
	} while (0)
/* V writes a value. */
#define V(value) (printf("%s: %s = %lld\n", current_case, #value, (long long)(value)), fflush(stdout))
#define F(value) (printf("%s: %s = %g\n", current_case, #value, (double)(value)), fflush(stdout))
#define S(value) (printf("%s: %s = %s\n", current_case, #value, (value)), fflush(stdout))
/* P writes a pointer as null or not. */
#define P(value) (printf("%s: %s is %s\n", current_case, #value, (value) ? "set" : "null"), fflush(stdout))

__device__ int variable;
__device__ int table[4] = {1, 2, 3, 4};
__constant__ int constant[8] = {5, 6, 7, 8};
__global__ void nothing() {}
__global__ void store(int *p, int v) { *p = v; }
__global__ void ramp(int *p, int v, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		p[i] = v + i;
}
__global__ void spin(volatile int *stop)
{
	while (!*stop)
		;
}
__global__ void __launch_bounds__(128) bounded(int *p) { p[threadIdx.x] = 1; }
__global__ void with_shared(int *p)
{
	__shared__ int s[256];
	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	p[threadIdx.x] = s[255 - threadIdx.x];
}
__global__ void read_variable(int *p) { *p = variable + table[1] + constant[2]; }

enum { N = 1024, BYTES = N * 4 };
static int host[N], back[N];
static int *dev;
static void *pv;
static size_t sz, sz2;
static int n1, n2;
static unsigned int u1;
static unsigned long long id;

static void device(void)
{
	C(cudaGetDeviceCount(&n1));
	V(n1);
	C(cudaGetDevice(&n1));
	V(n1);
	C(cudaGetDevice(NULL));
	C(cudaGetDeviceCount(NULL));
	C(cudaSetDevice(0));
	C(cudaSetDevice(1));
	C(cudaSetDevice(-1));
	C(cudaSetDevice(1000));
	C(cudaGetDevice(&n1));
	V(n1);
	C(cudaPeekAtLastError());
	C(cudaGetDeviceFlags(&u1));
	V(u1);
	C(cudaGetDeviceFlags(NULL));
	for (unsigned int f : {0u, 1u, 2u, 3u, 4u, 5u, 7u, 8u, 9u, 16u, 24u, 32u, 128u, 256u}) {
		printf("%s: flags %u\n", current_case, f);
		C(cudaSetDeviceFlags(f));
		C(cudaGetDeviceFlags(&u1));
		V(u1);
	}
	C(cudaInitDevice(0, 0, 0));
	C(cudaInitDevice(0, cudaDeviceScheduleSpin, cudaInitDeviceFlagsAreValid));
	C(cudaInitDevice(0, 0, 2));
	C(cudaInitDevice(3, 0, 0));
	n1 = 0;
	C(cudaSetValidDevices(&n1, 1));
	C(cudaSetValidDevices(&n1, 0));
	C(cudaSetValidDevices(NULL, 1));
	C(cudaSetValidDevices(&n1, -1));
	n1 = 7;
	C(cudaSetValidDevices(&n1, 1));
	struct cudaDeviceProp p;
	memset(&p, 0, sizeof p);
	C(cudaChooseDevice(&n1, &p));
	V(n1);
	C(cudaChooseDevice(NULL, &p));
	C(cudaDeviceCanAccessPeer(&n1, 0, 0));
	V(n1);
	C(cudaDeviceCanAccessPeer(&n1, 0, 1));
	C(cudaDeviceEnablePeerAccess(0, 0));
	C(cudaDeviceEnablePeerAccess(1, 0));
	C(cudaDeviceDisablePeerAccess(0));
	C(cudaDeviceGetP2PAttribute(&n1, cudaDevP2PAttrAccessSupported, 0, 0));
	C(cudaDeviceGetP2PAttribute(&n1, cudaDevP2PAttrAccessSupported, 0, 1));
	char bus[32];
	C(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
	C(cudaDeviceGetByPCIBusId(&n1, bus));
	V(n1);
	C(cudaDeviceGetPCIBusId(bus, 2, 0));
	C(cudaDeviceGetPCIBusId(NULL, 20, 0));
	C(cudaDeviceGetPCIBusId(bus, 20, 4));
	C(cudaDeviceGetByPCIBusId(&n1, "0000:ff:1f.7"));
	C(cudaDeviceGetByPCIBusId(&n1, "nonsense"));
	C(cudaDriverGetVersion(&n1));
	V(n1);
	C(cudaDriverGetVersion(NULL));
	C(cudaRuntimeGetVersion(&n1));
	V(n1);
	C(cudaRuntimeGetVersion(NULL));
	S(cudaGetErrorName((cudaError_t)12345));
	S(cudaGetErrorString((cudaError_t)12345));
}

static void attributes(void)
{
	for (int a = 0; a <= 150; a++) {
		n1 = -1;
		cudaError_t e = cudaDeviceGetAttribute(&n1, (enum cudaDeviceAttr)a, 0);
		printf("%s: cudaDeviceGetAttribute(%d) -> %s %d\n", current_case, a, cudaGetErrorName(e), n1);
	}
	cudaGetLastError();
	C(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
	C(cudaDeviceGetAttribute(&n1, cudaDevAttrWarpSize, 1));
	C(cudaDeviceGetAttribute(&n1, (enum cudaDeviceAttr)5000, 0));
}

static void properties(void)
{
	struct cudaDeviceProp p;
	C(cudaGetDeviceProperties(&p, 0));
	C(cudaGetDeviceProperties(&p, 1));
	C(cudaGetDeviceProperties(&p, -1));
	V(p.sharedMemPerBlock), V(p.regsPerBlock), V(p.warpSize), V(p.memPitch), V(p.maxThreadsPerBlock);
	V(p.maxThreadsDim[0]), V(p.maxThreadsDim[1]), V(p.maxThreadsDim[2]), V(p.maxGridSize[0]), V(p.maxGridSize[1]), V(p.maxGridSize[2]);
	V(p.totalConstMem), V(p.major), V(p.minor), V(p.textureAlignment), V(p.texturePitchAlignment), V(p.multiProcessorCount), V(p.integrated);
	V(p.canMapHostMemory), V(p.maxTexture1D), V(p.maxTexture1DMipmap), V(p.maxTexture2D[0]), V(p.maxTexture2D[1]), V(p.maxTexture2DLinear[2]);
	V(p.maxTexture3D[2]), V(p.maxTexture3DAlt[0]), V(p.maxTextureCubemap), V(p.maxTexture1DLayered[1]), V(p.maxTexture2DLayered[2]);
	V(p.maxTextureCubemapLayered[1]), V(p.maxSurface1D), V(p.maxSurface2D[0]), V(p.maxSurface3D[0]), V(p.maxSurface1DLayered[1]);
	V(p.maxSurface2DLayered[2]), V(p.maxSurfaceCubemap), V(p.maxSurfaceCubemapLayered[1]), V(p.surfaceAlignment), V(p.concurrentKernels);
	V(p.ECCEnabled), V(p.tccDriver), V(p.asyncEngineCount), V(p.unifiedAddressing), V(p.memoryBusWidth), V(p.l2CacheSize);
	V(p.persistingL2CacheMaxSize), V(p.maxThreadsPerMultiProcessor), V(p.streamPrioritiesSupported), V(p.globalL1CacheSupported);
	V(p.localL1CacheSupported), V(p.sharedMemPerMultiprocessor), V(p.regsPerMultiprocessor), V(p.managedMemory), V(p.isMultiGpuBoard);
	V(p.multiGpuBoardGroupID), V(p.hostNativeAtomicSupported), V(p.pageableMemoryAccess), V(p.concurrentManagedAccess);
	V(p.computePreemptionSupported), V(p.canUseHostPointerForRegisteredMem), V(p.cooperativeLaunch), V(p.sharedMemPerBlockOptin);
	V(p.pageableMemoryAccessUsesHostPageTables), V(p.directManagedMemAccessFromHost), V(p.maxBlocksPerMultiProcessor);
	V(p.accessPolicyMaxWindowSize), V(p.reservedSharedMemPerBlock), V(p.hostRegisterSupported), V(p.sparseCudaArraySupported);
	V(p.hostRegisterReadOnlySupported), V(p.timelineSemaphoreInteropSupported), V(p.memoryPoolsSupported), V(p.memoryPoolSupportedHandleTypes);
	V(p.deferredMappingCudaArraySupported), V(p.ipcEventSupported), V(p.clusterLaunch), V(p.unifiedFunctionPointers);
}

static void limits(void)
{
	for (int l = 0; l < 9; l++) {
		printf("%s: limit %d\n", current_case, l);
		sz = 0;
		C(cudaDeviceGetLimit(&sz, (enum cudaLimit)l));
		V(sz);
	}
	C(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
	C(cudaDeviceSetLimit(cudaLimitStackSize, 2048));
	C(cudaDeviceGetLimit(&sz, cudaLimitStackSize));
	V(sz);
	C(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
	C(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 1 << 20));
	C(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
	C(cudaDeviceSetLimit((enum cudaLimit)77, 1));
	enum cudaFuncCache fc;
	enum cudaSharedMemConfig sc;
	C(cudaDeviceGetCacheConfig(&fc));
	V(fc);
	C(cudaDeviceGetCacheConfig(NULL));
	C(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
	C(cudaDeviceGetCacheConfig(&fc));
	V(fc);
	C(cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
	C(cudaDeviceGetSharedMemConfig(&sc));
	V(sc);
	C(cudaDeviceSetSharedMemConfig(cudaSharedMemBankSizeEightByte));
	C(cudaDeviceGetSharedMemConfig(&sc));
	V(sc);
	C(cudaDeviceSetSharedMemConfig((enum cudaSharedMemConfig)9));
	C(cudaDeviceGetStreamPriorityRange(&n1, &n2));
	V(n1), V(n2);
	C(cudaDeviceGetStreamPriorityRange(NULL, NULL));
	C(cudaCtxResetPersistingL2Cache());
	C(cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTargetCurrentDevice, cudaFlushGPUDirectRDMAWritesToOwner));
	C(cudaFuncSetSharedMemConfig((const void *)nothing, cudaSharedMemBankSizeFourByte));
	C(cudaFuncSetSharedMemConfig((const void *)nothing, (enum cudaSharedMemConfig)9));
	C(cudaFuncSetCacheConfig((const void *)nothing, cudaFuncCachePreferShared));
	C(cudaFuncSetCacheConfig((const void *)nothing, (enum cudaFuncCache)9));
	struct cudaChannelFormatDesc d = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
	C(cudaDeviceGetTexture1DLinearMaxWidth(&sz, &d, 0));
	V(sz);
	C(cudaDeviceGetTexture1DLinearMaxWidth(NULL, &d, 0));
}

static void pointer(const char *what, void *p)
{
	struct cudaPointerAttributes a;
	memset(&a, 0x55, sizeof a);
	cudaError_t e = cudaPointerGetAttributes(&a, p);
	printf("%s: cudaPointerGetAttributes(%s) -> %s", current_case, what, cudaGetErrorName(e));
	if (e == cudaSuccess)
		printf(" type %d device %d devicePointer %s hostPointer %s", (int)a.type, a.device, a.devicePointer == p ? "same" : a.devicePointer ? "other" : "null",
			a.hostPointer == p ? "same" : a.hostPointer ? "other" : "null");
	printf("\n");
	cudaGetLastError();
}

static void memory(void)
{
	C(cudaMalloc(&pv, 0));
	P(pv);
	C(cudaMalloc(NULL, 16));
	C(cudaMalloc(NULL, 0));
	C(cudaMalloc(&pv, (size_t)1 << 50));
	C(cudaMalloc(&pv, ~(size_t)0));
	C(cudaMalloc(&pv, 100));
	void *device = pv;
	pointer("device", pv);
	pointer("device + 50", (char *)pv + 50);
	pointer("host, pageable", host);
	pointer("NULL", NULL);
	C(cudaPointerGetAttributes(NULL, pv));
	C(cudaFree((char *)pv + 4));
	C(cudaFree(pv));
	C(cudaFree(pv));
	pointer("freed", device);
	C(cudaFree(NULL));
	C(cudaFree(host));
	C(cudaFree((void *)8));
	C(cudaMallocHost(&pv, 0));
	P(pv);
	C(cudaMallocHost((void **)NULL, 16));
	C(cudaMallocHost(&pv, 100));
	pointer("pinned", pv);
	C(cudaHostGetFlags(&u1, pv));
	V(u1);
	C(cudaHostGetFlags(NULL, pv));
	C(cudaHostGetFlags(&u1, host));
	void *mapped = NULL;
	C(cudaHostGetDevicePointer(&mapped, pv, 0));
	V(mapped == pv);
	C(cudaHostGetDevicePointer(&mapped, pv, 1));
	C(cudaHostGetDevicePointer((void **)NULL, pv, 0));
	C(cudaHostGetDevicePointer(&mapped, host, 0));
	C(cudaFree(pv));
	C(cudaFreeHost(pv));
	C(cudaFreeHost(pv));
	C(cudaFreeHost(NULL));
	C(cudaFreeHost(host));
	for (unsigned int f : {0u, 1u, 2u, 3u, 4u, 7u, 8u, 16u}) {
		printf("%s: flags %u\n", current_case, f);
		C(cudaHostAlloc(&pv, 64, f));
		C(cudaHostGetFlags(&u1, pv));
		V(u1);
	}
	C(cudaHostAlloc(&pv, 0, 0));
	C(cudaHostAlloc((void **)NULL, 64, 0));
	void *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	C(cudaHostRegister(page, 8192, 0));
	pointer("registered", page);
	C(cudaHostRegister(page, 8192, 0));
	C(cudaHostGetFlags(&u1, page));
	V(u1);
	C(cudaHostUnregister(page));
	C(cudaHostUnregister(page));
	C(cudaHostRegister(page, 100, cudaHostRegisterMapped | cudaHostRegisterPortable));
	C(cudaHostUnregister(page));
	C(cudaHostRegister(NULL, 100, 0));
	C(cudaHostRegister(page, 0, 0));
	C(cudaHostRegister(page, 100, 0x100));
	C(cudaHostUnregister(NULL));
	C(cudaMallocManaged(&pv, 0));
	C(cudaMallocManaged(&pv, 64, 0));
	C(cudaMallocManaged(&pv, 64, 3));
	C(cudaMallocManaged(&pv, 64, cudaMemAttachSingle));
	C(cudaMallocManaged((void **)NULL, 64));
	C(cudaMallocManaged(&pv, 64, cudaMemAttachHost));
	pointer("managed", pv);
	C(cudaFree(pv));
	C(cudaMallocPitch(&pv, &sz, 100, 10));
	V(sz);
	C(cudaFree(pv));
	C(cudaMallocPitch(&pv, &sz, 0, 10));
	V(sz);
	P(pv);
	C(cudaMallocPitch(&pv, &sz, 10, 0));
	C(cudaMallocPitch((void **)NULL, &sz, 10, 10));
	C(cudaMallocPitch(&pv, NULL, 10, 10));
	C(cudaMallocPitch(&pv, &sz, (size_t)1 << 40, (size_t)1 << 40));
	struct cudaPitchedPtr pp;
	C(cudaMalloc3D(&pp, make_cudaExtent(100, 4, 5)));
	V(pp.pitch), V(pp.xsize), V(pp.ysize);
	C(cudaMemset3D(pp, 1, make_cudaExtent(100, 4, 5)));
	C(cudaMemset3D(pp, 1, make_cudaExtent(50, 2, 5)));
	C(cudaMemset3D(pp, 1, make_cudaExtent(0, 2, 5)));
	C(cudaMemset3DAsync(pp, 2, make_cudaExtent(50, 2, 5), 0));
	C(cudaFree(pp.ptr));
	C(cudaMalloc3D(&pp, make_cudaExtent(0, 4, 5)));
	P(pp.ptr);
	C(cudaMalloc3D(NULL, make_cudaExtent(1, 4, 5)));
	C(cudaMemGetInfo(&sz, &sz2));
	V(sz <= sz2);
	C(cudaMemGetInfo(NULL, NULL));
	C(cudaMemGetInfo(&sz, NULL));
}

static void copies(void)
{
	int *a, *b, *m;
	C(cudaMalloc(&a, BYTES));
	C(cudaMalloc(&b, BYTES));
	C(cudaMallocManaged(&m, BYTES));
	for (int i = 0; i < N; i++)
		host[i] = i;
	for (int kind = 0; kind < 6; kind++) {
		enum cudaMemcpyKind k = (enum cudaMemcpyKind)kind;
		printf("%s: kind %d\n", current_case, kind);
		memset(back, 0, sizeof back);
		C(cudaMemcpy(back, host, 64, k));
		C(cudaMemcpy(a, host, 64, k));
		C(cudaMemcpy(back, a, 64, k));
		V(back[3]);
		C(cudaMemcpy(b, a, 64, k));
		C(cudaMemcpy(m, host, 64, k));
		C(cudaMemcpy(b, m, 64, k));
		C(cudaMemcpyAsync(b, a, 64, k, 0));
		C(cudaMemcpyAsync(a, host, 64, k, 0));
		C(cudaMemcpyAsync(back, host, 64, k, 0));
		C(cudaDeviceSynchronize());
		C(cudaMemcpy2D(b, 64, a, 64, 32, 4, k));
		C(cudaMemcpy2D(back, 64, host, 64, 32, 4, k));
		C(cudaMemcpyToSymbol(variable, host, 4, 0, k));
		C(cudaMemcpyFromSymbol(back, variable, 4, 0, k));
		C(cudaMemcpyToSymbolAsync(variable, host, 4, 0, k, 0));
		C(cudaMemcpyFromSymbolAsync(back, variable, 4, 0, k, 0));
	}
	C(cudaMemcpy(a, host, 0, cudaMemcpyHostToDevice));
	C(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
	C(cudaMemcpy(a, NULL, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy(NULL, host, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy(a, host, (size_t)1 << 40, cudaMemcpyDeviceToDevice));
	C(cudaMemcpy((void *)16, host, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy(back, (void *)16, 4, cudaMemcpyDeviceToHost));
	C(cudaMemcpy((char *)a + BYTES - 2, host, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(a, 16, host, 64, 32, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(a, 64, host, 16, 32, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(a, 16, host, 64, 32, 1, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(a, 64, host, 64, 0, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(a, 64, host, 64, 32, 0, cudaMemcpyHostToDevice));
	C(cudaMemcpy2D(NULL, 64, host, 64, 32, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DAsync(a, 64, host, 64, 32, 4, cudaMemcpyHostToDevice, 0));
	C(cudaMemcpy2DAsync(a, 64, host, 64, 32, 4, cudaMemcpyHostToDevice, (cudaStream_t)cudaStreamPerThread));
	C(cudaMemcpyPeer(b, 0, a, 0, 64));
	C(cudaMemcpyPeer(b, 0, a, 1, 64));
	C(cudaMemcpyPeer(b, -1, a, 0, 64));
	C(cudaMemcpyPeerAsync(b, 0, a, 0, 64, 0));
	C(cudaMemcpyPeer(b, 0, a, 0, 0));
	C(cudaMemset(a, 1, BYTES));
	C(cudaMemcpy(back, a, BYTES, cudaMemcpyDeviceToHost));
	V(back[N - 1]);
	C(cudaMemset(a, 1, 0));
	C(cudaMemset(NULL, 1, 0));
	C(cudaMemset(NULL, 1, 4));
	C(cudaMemset(a, 1, (size_t)1 << 40));
	C(cudaMemset(a, 0x1ff, 4));
	C(cudaMemset(host, 1, 4));
	C(cudaMemsetAsync(a, 2, BYTES, 0));
	C(cudaMemsetAsync(NULL, 2, 4, 0));
	C(cudaMemset2D(a, 64, 3, 32, 4));
	C(cudaMemset2D(a, 16, 3, 32, 4));
	C(cudaMemset2D(a, 64, 3, 0, 4));
	C(cudaMemset2D(NULL, 64, 3, 32, 4));
	C(cudaMemset2DAsync(a, 64, 3, 32, 4, 0));
	struct cudaMemcpy3DParms p;
	memset(&p, 0, sizeof p);
	C(cudaMemcpy3D(&p));
	C(cudaMemcpy3D(NULL));
	p.srcPtr = make_cudaPitchedPtr(host, 64, 64, 4);
	p.dstPtr = make_cudaPitchedPtr(a, 64, 64, 4);
	p.extent = make_cudaExtent(32, 2, 2);
	p.kind = cudaMemcpyHostToDevice;
	C(cudaMemcpy3D(&p));
	C(cudaMemcpy3DAsync(&p, 0));
	p.kind = cudaMemcpyDeviceToHost;
	C(cudaMemcpy3D(&p));
	p.kind = (enum cudaMemcpyKind)7;
	C(cudaMemcpy3D(&p));
	p.kind = cudaMemcpyDefault;
	C(cudaMemcpy3D(&p));
	p.extent = make_cudaExtent(0, 2, 2);
	C(cudaMemcpy3D(&p));
	p.extent = make_cudaExtent(128, 2, 2);
	C(cudaMemcpy3D(&p));
	struct cudaMemcpy3DPeerParms q;
	memset(&q, 0, sizeof q);
	C(cudaMemcpy3DPeer(&q));
	q.srcPtr = make_cudaPitchedPtr(a, 64, 64, 4);
	q.dstPtr = make_cudaPitchedPtr(b, 64, 64, 4);
	q.extent = make_cudaExtent(32, 2, 2);
	C(cudaMemcpy3DPeer(&q));
	C(cudaMemcpy3DPeerAsync(&q, 0));
	q.srcDevice = 3;
	C(cudaMemcpy3DPeer(&q));
}

static void symbols(void)
{
	C(cudaGetSymbolAddress(&pv, variable));
	P(pv);
	C(cudaGetSymbolSize(&sz, table));
	V(sz);
	C(cudaGetSymbolAddress(&pv, (const void *)host));
	C(cudaGetSymbolAddress(&pv, (const void *)NULL));
	C(cudaGetSymbolSize(&sz, (const void *)host));
	C(cudaMemcpyToSymbol(table, host, 16));
	C(cudaMemcpyToSymbol(table, host, 17));
	C(cudaMemcpyToSymbol(table, host, 4, 13));
	C(cudaMemcpyToSymbol(table, host, 4, 17));
	C(cudaMemcpyToSymbol(table, host, 0, 0));
	C(cudaMemcpyToSymbol((const void *)host, host, 4));
	C(cudaMemcpyToSymbol(table, NULL, 4));
	C(cudaMemcpyFromSymbol(back, constant, 16));
	V(back[2]);
	C(cudaMemcpyFromSymbol(back, constant, 64));
	C(cudaMalloc(&dev, 4));
	read_variable<<<1, 1>>>(dev);
	C(cudaGetLastError());
	C(cudaMemcpy(&n1, dev, 4, cudaMemcpyDefault));
	V(n1);
	cudaFunction_t f;
	cudaKernel_t k;
	C(cudaGetFuncBySymbol(&f, (const void *)nothing));
	P(f);
	C(cudaGetFuncBySymbol(&f, (const void *)host));
	C(cudaGetFuncBySymbol(&f, NULL));
	C(cudaGetKernel(&k, (const void *)nothing));
	P(k);
	C(cudaGetKernel(&k, (const void *)host));
	C(cudaLaunchKernel((const void *)k, dim3(1), dim3(1), NULL, 0, 0));
	const char *name = NULL;
	C(cudaFuncGetName(&name, (const void *)nothing));
	S(name);
	C(cudaFuncGetName(NULL, (const void *)nothing));
	C(cudaFuncGetName(&name, (const void *)host));
	C(cudaFuncGetParamInfo((const void *)ramp, 1, &sz, &sz2));
	V(sz), V(sz2);
	C(cudaFuncGetParamInfo((const void *)ramp, 3, &sz, &sz2));
	C(cudaFuncGetParamInfo((const void *)ramp, 0, NULL, NULL));
	C(cudaFuncGetParamInfo((const void *)ramp, 0, &sz, NULL));
	C(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000, 0));
	C(cudaKernelSetAttributeForDevice(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000, 3));
}

static void launches(void)
{
	C(cudaMalloc(&dev, BYTES));
	ramp<<<4, 256>>>(dev, 5, N);
	C(cudaGetLastError());
	C(cudaMemcpy(back, dev, BYTES, cudaMemcpyDeviceToHost));
	V(back[N - 1]);
	void *none[] = {NULL};
	void *args[] = {&dev, &n1, &n2};
	n1 = 3, n2 = N;
	C(cudaLaunchKernel((const void *)ramp, dim3(4), dim3(256), args, 0, 0));
	C(cudaLaunchKernel((const void *)host, dim3(4), dim3(256), args, 0, 0));
	C(cudaLaunchKernel((const void *)NULL, dim3(4), dim3(256), args, 0, 0));
	for (unsigned int x : {0u, 1u, 1024u, 1025u, 2048u, 65536u})
		for (int d = 0; d < 3; d++) {
			dim3 block(d == 0 ? x : 1, d == 1 ? x : 1, d == 2 ? x : 1);
			printf("%s: block %u %u %u\n", current_case, block.x, block.y, block.z);
			C(cudaLaunchKernel((const void *)nothing, dim3(1), block, none, 0, 0));
		}
	for (unsigned int x : {0u, 65535u, 65536u})
		for (int d = 0; d < 3; d++) {
			dim3 grid(d == 0 ? x : 1, d == 1 ? x : 1, d == 2 ? x : 1);
			printf("%s: grid %u %u %u\n", current_case, grid.x, grid.y, grid.z);
			C(cudaLaunchKernel((const void *)nothing, grid, dim3(1), none, 0, 0));
		}
	C(cudaLaunchKernel((const void *)nothing, dim3(0x80000000u), dim3(1), none, 0, 0));
	C(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1), none, 49152, 0));
	C(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1), none, 49153, 0));
	C(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1), none, (size_t)1 << 33, 0));
	C(cudaLaunchKernel((const void *)with_shared, dim3(1), dim3(256), args, 48 << 10, 0));
	C(cudaLaunchKernel((const void *)bounded, dim3(1), dim3(129), args, 0, 0));
	C(cudaLaunchKernel((const void *)bounded, dim3(1), dim3(1025), args, 0, 0));
	C(cudaLaunchKernel((const void *)nothing, dim3(1), dim3(1), NULL, 0, 0));
	nothing<<<1, 1, 100000>>>();
	C(cudaGetLastError());
	struct cudaFuncAttributes a;
	C(cudaFuncGetAttributes(&a, (const void *)with_shared));
	V(a.sharedSizeBytes), V(a.constSizeBytes), V(a.localSizeBytes), V(a.maxThreadsPerBlock), V(a.cacheModeCA);
	V(a.maxDynamicSharedSizeBytes), V(a.preferredShmemCarveout), V(a.clusterDimMustBeSet), V(a.requiredClusterWidth), V(a.nonPortableClusterSizeAllowed);
	C(cudaFuncGetAttributes(&a, (const void *)bounded));
	V(a.maxThreadsPerBlock);
	C(cudaFuncGetAttributes(NULL, (const void *)nothing));
	C(cudaFuncGetAttributes(&a, (const void *)host));
	C(cudaFuncGetAttributes(&a, (const void *)NULL));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
	C(cudaFuncGetAttributes(&a, (const void *)nothing));
	V(a.maxDynamicSharedSizeBytes);
	nothing<<<1, 1, 100000>>>();
	C(cudaGetLastError());
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
	C(cudaFuncSetAttribute((const void *)nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
	C(cudaFuncSetAttribute((const void *)nothing, (enum cudaFuncAttribute)1, 1));
	C(cudaFuncSetAttribute((const void *)nothing, (enum cudaFuncAttribute)99, 1));
	C(cudaFuncSetAttribute((const void *)host, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
	for (int b : {-1, 0, 1, 33, 128, 256, 1024, 1025}) {
		printf("%s: block %d\n", current_case, b);
		C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n1, (const void *)nothing, b, 0));
		V(n1);
		C(cudaOccupancyAvailableDynamicSMemPerBlock(&sz, (const void *)nothing, 1, b));
		V(sz);
	}
	C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n1, (const void *)nothing, 128, 1 << 20));
	C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, (const void *)nothing, 128, 0));
	C(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n1, (const void *)host, 128, 0));
	C(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n1, (const void *)nothing, 128, 0, cudaOccupancyDisableCachingOverride));
	C(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n1, (const void *)nothing, 128, 0, 7));
	cudaLaunchConfig_t c;
	memset(&c, 0, sizeof c);
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	c.gridDim = dim3(8), c.blockDim = dim3(64);
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	C(cudaLaunchKernelExC(&c, (const void *)host, none));
	cudaLaunchAttribute at[1];
	memset(at, 0, sizeof at);
	at[0].id = cudaLaunchAttributeClusterDimension;
	at[0].val.clusterDim.x = 2, at[0].val.clusterDim.y = 1, at[0].val.clusterDim.z = 1;
	c.attrs = at, c.numAttrs = 1;
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	C(cudaOccupancyMaxActiveClusters(&n1, (const void *)nothing, &c));
	C(cudaOccupancyMaxPotentialClusterSize(&n1, (const void *)nothing, &c));
	V(n1);
	at[0].val.clusterDim.x = 3;
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	at[0].val.clusterDim.x = 32;
	c.gridDim = dim3(64);
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	at[0].id = (cudaLaunchAttributeID)200;
	C(cudaLaunchKernelExC(&c, (const void *)nothing, none));
	C(cudaLaunchCooperativeKernel((const void *)nothing, dim3(4), dim3(64), none, 0, 0));
	C(cudaLaunchCooperativeKernel((const void *)nothing, dim3(1 << 20), dim3(64), none, 0, 0));
	C(cudaLaunchCooperativeKernel((const void *)nothing, dim3(0), dim3(64), none, 0, 0));
	C(cudaLaunchCooperativeKernel((const void *)host, dim3(1), dim3(64), none, 0, 0));
	C(cudaLaunchHostFunc(0, NULL, NULL));
	C(cudaDeviceSynchronize());
}

static void called(void *p) { ++*(int *)p; }
static void streamed(cudaStream_t, cudaError_t e, void *p) { *(int *)p = 100 + (int)e; }

static void streams(void)
{
	cudaStream_t s = NULL, t = NULL;
	cudaEvent_t e = NULL, f = NULL;
	C(cudaStreamCreate(&s));
	C(cudaStreamCreate(NULL));
	C(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
	C(cudaStreamGetFlags(t, &u1));
	V(u1);
	C(cudaStreamGetFlags(t, NULL));
	C(cudaStreamGetFlags(0, &u1));
	V(u1);
	C(cudaStreamCreateWithFlags(&t, 2));
	C(cudaStreamCreateWithPriority(&t, 0, -1));
	C(cudaStreamGetPriority(t, &n1));
	V(n1);
	C(cudaStreamCreateWithPriority(&t, 0, -1000));
	C(cudaStreamGetPriority(t, &n1));
	V(n1);
	C(cudaStreamCreateWithPriority(&t, 8, 0));
	C(cudaStreamGetPriority(0, &n1));
	V(n1);
	C(cudaStreamGetId(s, &id));
	C(cudaStreamGetId(0, &id));
	C(cudaStreamGetId(s, NULL));
	C(cudaStreamGetDevice(s, &n1));
	V(n1);
	C(cudaStreamGetDevice(0, &n1));
	C(cudaStreamQuery(s));
	C(cudaStreamQuery(0));
	C(cudaStreamQuery(cudaStreamLegacy));
	C(cudaStreamQuery(cudaStreamPerThread));
	C(cudaStreamSynchronize(0));
	C(cudaStreamSynchronize(cudaStreamPerThread));
	C(cudaStreamDestroy(0));
	C(cudaStreamDestroy(cudaStreamLegacy));
	C(cudaEventCreate(&e));
	C(cudaEventCreate((cudaEvent_t *)NULL));
	C(cudaEventQuery(e));
	C(cudaEventSynchronize(e));
	float ms = -1;
	C(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
	C(cudaEventElapsedTime(&ms, e, e));
	C(cudaEventRecord(e, s));
	C(cudaEventRecord(f, s));
	C(cudaEventSynchronize(f));
	C(cudaEventQuery(e));
	C(cudaEventElapsedTime(&ms, e, f));
	C(cudaEventElapsedTime(&ms, e, e));
	F(ms);
	C(cudaEventElapsedTime(NULL, e, e));
	C(cudaEventElapsedTime(&ms, e, NULL));
	C(cudaEventCreateWithFlags(&f, cudaEventInterprocess));
	C(cudaEventCreateWithFlags(&f, 64));
	C(cudaEventRecordWithFlags(e, s, 0));
	C(cudaEventRecordWithFlags(e, s, cudaEventRecordExternal));
	C(cudaEventRecordWithFlags(e, s, 8));
	C(cudaEventRecord(NULL, s));
	C(cudaEventQuery(NULL));
	C(cudaEventSynchronize(NULL));
	C(cudaEventDestroy(NULL));
	C(cudaStreamWaitEvent(s, e, 0));
	C(cudaStreamWaitEvent(s, e, 8));
	C(cudaStreamWaitEvent(s, NULL, 0));
	int count = 0;
	C(cudaLaunchHostFunc(s, called, &count));
	C(cudaStreamAddCallback(s, streamed, &n2, 0));
	C(cudaStreamAddCallback(s, streamed, &n2, 1));
	C(cudaStreamAddCallback(s, NULL, &n2, 0));
	C(cudaStreamSynchronize(s));
	V(count), V(n2);
	/* A stream that is busy: the answer is no failure to the thread. */
	volatile int *stop = NULL;
	C(cudaMallocHost((void **)&stop, 4));
	*stop = 0;
	spin<<<1, 1, 0, s>>>(stop);
	C(cudaGetLastError());
	cudaError_t busy = cudaStreamQuery(s);
	S(cudaGetErrorName(busy));
	S(cudaGetErrorName(cudaPeekAtLastError()));
	S(cudaGetErrorName(cudaGetLastError()));
	C(cudaEventRecord(e, s));
	busy = cudaEventQuery(e);
	S(cudaGetErrorName(busy));
	S(cudaGetErrorName(cudaGetLastError()));
	C(cudaEventElapsedTime(&ms, e, e));
	*stop = 1;
	C(cudaStreamSynchronize(s));
	C(cudaMallocManaged(&pv, 64));
	C(cudaStreamAttachMemAsync(s, pv));
	C(cudaStreamAttachMemAsync(s, pv, 0, cudaMemAttachGlobal));
	C(cudaStreamAttachMemAsync(s, host, 0, cudaMemAttachSingle));
	C(cudaStreamAttachMemAsync(s, NULL, 0, cudaMemAttachSingle));
	cudaStreamAttrValue av;
	memset(&av, 0, sizeof av);
	C(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &av));
	V(av.priority);
	C(cudaStreamSetAttribute(s, cudaStreamAttributePriority, &av));
	C(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &av));
	C(cudaStreamCopyAttributes(s, t));
	C(cudaStreamGetAttribute(s, (cudaStreamAttrID)99, &av));
	C(cudaStreamDestroy(s));
	C(cudaEventDestroy(e));
	cudaMemLocation l;
	l.type = cudaMemLocationTypeDevice, l.id = 0;
	C(cudaMemPrefetchAsync(pv, 64, l, 0, 0));
	l.id = 4;
	C(cudaMemPrefetchAsync(pv, 64, l, 0, 0));
	l.type = cudaMemLocationTypeHost, l.id = 0;
	C(cudaMemPrefetchAsync(pv, 64, l, 0, 0));
	C(cudaMemPrefetchAsync(pv, 64, l, 1, 0));
	C(cudaMemPrefetchAsync(host, 64, l, 0, 0));
	C(cudaMemPrefetchAsync(pv, 0, l, 0, 0));
	C(cudaMemAdvise(pv, 64, cudaMemAdviseSetReadMostly, l));
	C(cudaMemAdvise(pv, 64, (enum cudaMemoryAdvise)77, l));
	C(cudaMemAdvise(host, 64, cudaMemAdviseSetReadMostly, l));
	C(cudaMemRangeGetAttribute(&n1, 4, cudaMemRangeAttributeReadMostly, pv, 64));
	V(n1);
	C(cudaMemRangeGetAttribute(&n1, 3, cudaMemRangeAttributeReadMostly, pv, 64));
	C(cudaMemRangeGetAttribute(NULL, 4, cudaMemRangeAttributeReadMostly, pv, 64));
}

static void captures(void)
{
	cudaStream_t s, t;
	cudaGraph_t g = NULL;
	enum cudaStreamCaptureStatus status;
	C(cudaMalloc(&dev, BYTES));
	C(cudaStreamCreate(&s));
	C(cudaStreamCreate(&t));
	C(cudaStreamEndCapture(s, &g));
	C(cudaStreamBeginCapture(0, cudaStreamCaptureModeGlobal));
	C(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)9));
	C(cudaStreamIsCapturing(s, &status));
	V(status);
	C(cudaStreamIsCapturing(s, NULL));
	C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	C(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
	C(cudaStreamIsCapturing(s, &status));
	V(status);
	C(cudaStreamGetCaptureInfo(s, &status, &id));
	V(status);
	ramp<<<4, 256, 0, s>>>(dev, 1, N);
	C(cudaGetLastError());
	C(cudaMalloc(&pv, 64));
	C(cudaStreamIsCapturing(s, &status));
	V(status);
	C(cudaStreamSynchronize(s));
	C(cudaStreamIsCapturing(s, &status));
	V(status);
	C(cudaStreamEndCapture(s, &g));
	P(g);
	C(cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed));
	C(cudaMalloc(&pv, 64));
	C(cudaMemsetAsync(dev, 0, 64, s));
	C(cudaMemcpyAsync(back, dev, 64, cudaMemcpyDeviceToHost, s));
	C(cudaStreamQuery(s));
	C(cudaStreamEndCapture(s, &g));
	C(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
	ramp<<<4, 256, 0, s>>>(dev, 2, N);
	C(cudaMemcpyAsync(back, dev, BYTES, cudaMemcpyDeviceToHost, s));
	C(cudaStreamEndCapture(t, &g));
	C(cudaStreamEndCapture(s, &g));
	P(g);
	sz = 0;
	C(cudaGraphGetNodes(g, NULL, &sz));
	V(sz);
	cudaGraphExec_t x;
	C(cudaGraphInstantiate(&x, g, 0));
	C(cudaGraphInstantiate(NULL, g, 0));
	C(cudaGraphInstantiate(&x, NULL, 0));
	C(cudaGraphInstantiate(&x, g, 0x1000));
	C(cudaGraphInstantiateWithFlags(&x, g, cudaGraphInstantiateFlagAutoFreeOnLaunch));
	C(cudaGraphExecGetFlags(x, &id));
	V(id);
	C(cudaGraphLaunch(x, s));
	C(cudaGraphLaunch(x, 0));
	C(cudaGraphLaunch(NULL, s));
	C(cudaGraphUpload(x, s));
	C(cudaDeviceSynchronize());
	V(back[7]);
	C(cudaGraphExecDestroy(x));
	C(cudaGraphDestroy(g));
	C(cudaGraphDestroy(NULL));
	C(cudaGraphExecDestroy(NULL));
	enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
	C(cudaThreadExchangeStreamCaptureMode(&mode));
	V(mode);
	C(cudaStreamBeginCaptureToGraph(s, NULL, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
}

static void graphs(void)
{
	cudaGraph_t g = NULL, child = NULL, clone = NULL;
	cudaGraphExec_t x = NULL;
	cudaGraphNode_t a = NULL, b = NULL, c = NULL, d = NULL, e = NULL;
	enum cudaGraphNodeType type;
	C(cudaMalloc(&dev, BYTES));
	C(cudaGraphCreate(&g, 0));
	C(cudaGraphCreate(&g, 1));
	C(cudaGraphCreate(NULL, 0));
	C(cudaGraphCreate(&g, 0));
	int add = 10, n = N;
	void *args[] = {&dev, &add, &n};
	cudaKernelNodeParams k, k2;
	memset(&k, 0, sizeof k);
	C(cudaGraphAddKernelNode(&a, g, NULL, 0, &k));
	k.func = (void *)ramp, k.gridDim = dim3(4), k.blockDim = dim3(256), k.kernelParams = args;
	C(cudaGraphAddKernelNode(&a, g, NULL, 0, &k));
	C(cudaGraphAddKernelNode(NULL, g, NULL, 0, &k));
	C(cudaGraphAddKernelNode(&b, NULL, NULL, 0, &k));
	C(cudaGraphAddKernelNode(&b, g, NULL, 1, &k));
	C(cudaGraphAddKernelNode(&b, g, NULL, 0, NULL));
	k2 = k;
	k2.blockDim = dim3(2048);
	C(cudaGraphAddKernelNode(&b, g, NULL, 0, &k2));
	k2.blockDim = dim3(0);
	C(cudaGraphAddKernelNode(&b, g, NULL, 0, &k2));
	k2 = k;
	k2.func = (void *)host;
	C(cudaGraphAddKernelNode(&b, g, NULL, 0, &k2));
	C(cudaGraphKernelNodeGetParams(a, &k2));
	V(k2.func == k.func), V(k2.gridDim.x), V(k2.blockDim.x), V(k2.sharedMemBytes);
	C(cudaGraphKernelNodeGetParams(a, NULL));
	C(cudaGraphKernelNodeSetParams(a, &k));
	C(cudaGraphKernelNodeSetParams(NULL, &k));
	C(cudaGraphAddMemcpyNode1D(&b, g, &a, 1, back, dev, BYTES, cudaMemcpyDeviceToHost));
	C(cudaGraphAddMemcpyNode1D(&c, g, &a, 1, back, dev, BYTES, (enum cudaMemcpyKind)9));
	C(cudaGraphAddMemcpyNode1D(&c, g, &a, 1, NULL, dev, BYTES, cudaMemcpyDeviceToHost));
	struct cudaMemcpy3DParms p3;
	C(cudaGraphMemcpyNodeGetParams(b, &p3));
	V(p3.kind), V(p3.extent.width), V(p3.extent.height), V(p3.extent.depth);
	C(cudaGraphMemcpyNodeGetParams(a, &p3));
	C(cudaGraphMemcpyNodeSetParams1D(b, back, dev, 64, cudaMemcpyDeviceToHost));
	C(cudaGraphMemcpyNodeSetParams1D(b, back, dev, BYTES, cudaMemcpyDeviceToHost));
	C(cudaGraphAddMemcpyNodeToSymbol(&c, g, NULL, 0, table, host, 16, 0, cudaMemcpyHostToDevice));
	C(cudaGraphAddMemcpyNodeToSymbol(&d, g, NULL, 0, table, host, 32, 0, cudaMemcpyHostToDevice));
	C(cudaGraphAddMemcpyNodeFromSymbol(&d, g, &c, 1, host, table, 16, 0, cudaMemcpyDeviceToHost));
	cudaMemsetParams ms, ms2;
	memset(&ms, 0, sizeof ms);
	C(cudaGraphAddMemsetNode(&d, g, NULL, 0, &ms));
	ms.dst = dev, ms.value = 7, ms.elementSize = 4, ms.width = 4, ms.height = 1;
	C(cudaGraphAddMemsetNode(&d, g, NULL, 0, &ms));
	C(cudaGraphMemsetNodeGetParams(d, &ms2));
	V(ms2.value), V(ms2.width);
	ms.elementSize = 3;
	C(cudaGraphMemsetNodeSetParams(d, &ms));
	C(cudaGraphAddDependencies(g, &d, &a, NULL, 1));
	C(cudaGraphAddDependencies(g, &d, &a, NULL, 1));
	C(cudaGraphAddDependencies(g, &a, &a, NULL, 1));
	C(cudaGraphAddDependencies(g, &b, &d, NULL, 1));
	C(cudaGraphRemoveDependencies(g, &b, &d, NULL, 1));
	cudaHostNodeParams h = {called, &n1};
	n1 = 0;
	C(cudaGraphAddHostNode(&e, g, &b, 1, &h));
	C(cudaGraphHostNodeGetParams(e, &h));
	V(h.fn == called);
	C(cudaGraphAddEmptyNode(&c, g, NULL, 0));
	C(cudaGraphCreate(&child, 0));
	C(cudaGraphAddEmptyNode(&d, child, NULL, 0));
	C(cudaGraphAddChildGraphNode(&d, g, NULL, 0, child));
	C(cudaGraphChildGraphNodeGetGraph(d, &child));
	C(cudaGraphChildGraphNodeGetGraph(a, &child));
	cudaEvent_t ev;
	C(cudaEventCreate(&ev));
	C(cudaGraphAddEventRecordNode(&d, g, NULL, 0, ev));
	C(cudaGraphAddEventWaitNode(&d, g, &d, 1, ev));
	C(cudaGraphEventWaitNodeGetEvent(d, &ev));
	C(cudaGraphEventRecordNodeGetEvent(d, &ev));
	C(cudaGraphNodeGetType(a, &type));
	V(type);
	C(cudaGraphNodeGetType(e, &type));
	V(type);
	C(cudaGraphNodeGetType(NULL, &type));
	sz = 0;
	C(cudaGraphGetNodes(g, NULL, &sz));
	V(sz);
	C(cudaGraphGetRootNodes(g, NULL, &sz));
	V(sz);
	C(cudaGraphGetEdges(g, NULL, NULL, NULL, &sz));
	V(sz);
	C(cudaGraphNodeGetDependencies(a, NULL, NULL, &sz));
	V(sz);
	C(cudaGraphNodeGetDependentNodes(a, NULL, NULL, &sz));
	V(sz);
	C(cudaGraphClone(&clone, g));
	C(cudaGraphNodeFindInClone(&c, a, clone));
	C(cudaGraphNodeFindInClone(&c, a, g));
	C(cudaGraphInstantiate(&x, g, 0));
	C(cudaGraphLaunch(x, 0));
	C(cudaDeviceSynchronize());
	V(back[0]), V(back[100]), V(n1);
	add = 20;
	C(cudaGraphExecKernelNodeSetParams(x, a, &k));
	C(cudaGraphExecMemcpyNodeSetParams1D(x, b, back, dev, BYTES, cudaMemcpyDeviceToHost));
	C(cudaGraphExecMemcpyNodeSetParams1D(x, b, dev, back, BYTES, cudaMemcpyHostToDevice));
	C(cudaGraphExecHostNodeSetParams(x, e, &h));
	C(cudaGraphNodeSetEnabled(x, a, 0));
	C(cudaGraphNodeGetEnabled(x, a, &u1));
	V(u1);
	C(cudaGraphNodeSetEnabled(x, a, 1));
	C(cudaGraphNodeSetEnabled(x, e, 0));
	C(cudaGraphLaunch(x, 0));
	C(cudaDeviceSynchronize());
	V(back[100]);
	cudaGraphExecUpdateResultInfo info;
	C(cudaGraphExecUpdate(x, g, &info));
	V(info.result);
	C(cudaGraphExecUpdate(x, child, &info));
	V(info.result);
	C(cudaGraphDestroyNode(e));
	C(cudaGraphExecUpdate(x, g, &info));
	V(info.result);
	C(cudaGraphDebugDotPrint(g, "/dev/null", 0));
	struct cudaMemAllocNodeParams al;
	memset(&al, 0, sizeof al);
	al.poolProps.allocType = cudaMemAllocationTypePinned;
	al.poolProps.location.type = cudaMemLocationTypeDevice;
	al.bytesize = 1024;
	cudaGraph_t g2;
	C(cudaGraphCreate(&g2, 0));
	C(cudaGraphAddMemAllocNode(&a, g2, NULL, 0, &al));
	P(al.dptr);
	C(cudaGraphAddMemFreeNode(&b, g2, &a, 1, al.dptr));
	C(cudaGraphAddMemFreeNode(&b, g2, &a, 1, al.dptr));
	C(cudaGraphMemFreeNodeGetParams(b, &pv));
	V(pv == al.dptr);
	C(cudaGraphInstantiate(&x, g2, 0));
	C(cudaGraphLaunch(x, 0));
	C(cudaDeviceSynchronize());
	C(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &id));
	V(id);
	C(cudaDeviceGraphMemTrim(0));
	C(cudaDeviceGraphMemTrim(3));
	cudaGraphNodeParams np = {cudaGraphNodeTypeKernel};
	np.kernel.func = (void *)ramp, np.kernel.gridDim = dim3(4), np.kernel.blockDim = dim3(256), np.kernel.kernelParams = args;
	cudaGraph_t g3;
	C(cudaGraphCreate(&g3, 0));
	C(cudaGraphAddNode(&a, g3, NULL, NULL, 0, &np));
	C(cudaGraphNodeSetParams(a, &np));
	np.type = (enum cudaGraphNodeType)55;
	C(cudaGraphAddNode(&b, g3, NULL, NULL, 0, &np));
	cudaGraphConditionalHandle ch;
	C(cudaGraphConditionalHandleCreate(&ch, g3, 0, 0));
	C(cudaGraphConditionalHandleCreate(NULL, g3, 0, 0));
	cudaUserObject_t o;
	n2 = 0;
	C(cudaUserObjectCreate(&o, &n2, called, 1, cudaUserObjectNoDestructorSync));
	C(cudaUserObjectRetain(o));
	C(cudaGraphRetainUserObject(g3, o, 1, cudaGraphUserObjectMove));
	C(cudaUserObjectRelease(o));
	C(cudaGraphReleaseUserObject(g3, o));
	C(cudaUserObjectCreate(&o, &n2, called, 1, 0));
	C(cudaUserObjectCreate(NULL, &n2, called, 1, cudaUserObjectNoDestructorSync));
}

static void arrays(void)
{
	cudaArray_t a = NULL, b = NULL;
	cudaMipmappedArray_t m = NULL;
	cudaExtent ext;
	cudaChannelFormatDesc d = cudaCreateChannelDesc<float>(), got;
	C(cudaMallocArray(&a, &d, 64, 32));
	C(cudaMallocArray(&b, &d, 64));
	C(cudaMallocArray(NULL, &d, 64));
	C(cudaMallocArray(&b, NULL, 64));
	C(cudaMallocArray(&b, &d, 0));
	C(cudaMallocArray(&b, &d, 64, 32, 0x1000));
	C(cudaMallocArray(&b, &d, (size_t)1 << 40));
	for (int w : {4, 8, 16, 32, 64})
		for (int f = 0; f < 4; f++)
			for (int n = 1; n <= 4; n++) {
				d = cudaCreateChannelDesc(w, n > 1 ? w : 0, n > 2 ? w : 0, n > 3 ? w : 0, (enum cudaChannelFormatKind)f);
				cudaError_t e = cudaMallocArray(&b, &d, 16, 16);
				printf("%s: cudaMallocArray(%d bits, kind %d, %d channels) -> %s\n", current_case, w, f, n, cudaGetErrorName(e));
				if (e == cudaSuccess)
					cudaFreeArray(b);
			}
	cudaGetLastError();
	d = cudaCreateChannelDesc(8, 16, 0, 0, cudaChannelFormatKindUnsigned);
	C(cudaMallocArray(&b, &d, 16, 16));
	d = cudaCreateChannelDesc(0, 8, 0, 0, cudaChannelFormatKindUnsigned);
	C(cudaMallocArray(&b, &d, 16, 16));
	C(cudaArrayGetInfo(&got, &ext, &u1, a));
	V(got.x), V(got.y), V(got.f), V(ext.width), V(ext.height), V(ext.depth), V(u1);
	C(cudaArrayGetInfo(NULL, NULL, NULL, a));
	C(cudaArrayGetInfo(&got, &ext, &u1, NULL));
	C(cudaGetChannelDesc(&got, a));
	C(cudaGetChannelDesc(NULL, a));
	C(cudaGetChannelDesc(&got, NULL));
	for (int i = 0; i < N; i++)
		host[i] = i;
	C(cudaMemcpy2DToArray(a, 0, 0, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(a, 4, 1, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(a, 2, 1, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(a, 200, 1, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(a, 0, 30, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(NULL, 0, 0, host, 128, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DToArray(a, 0, 0, host, 128, 128, 4, cudaMemcpyDeviceToHost));
	C(cudaMemcpy2DToArray(a, 0, 0, host, 64, 128, 4, cudaMemcpyHostToDevice));
	C(cudaMemcpy2DFromArray(back, 128, a, 4, 1, 128, 4, cudaMemcpyDeviceToHost));
	V(back[33]);
	C(cudaMemcpy2DFromArray(back, 128, a, 0, 31, 128, 4, cudaMemcpyDeviceToHost));
	C(cudaMemcpy2DArrayToArray(a, 0, 8, a, 0, 0, 64, 4));
	C(cudaMemcpy2DToArrayAsync(a, 0, 0, host, 128, 128, 4, cudaMemcpyHostToDevice, 0));
	C(cudaMemcpy2DFromArrayAsync(back, 128, a, 0, 0, 128, 4, cudaMemcpyDeviceToHost, 0));
	C(cudaMemcpyToArray(a, 0, 0, host, 1024, cudaMemcpyHostToDevice));
	C(cudaMemcpyToArray(a, 16, 1, host, 1000, cudaMemcpyHostToDevice));
	C(cudaMemcpyFromArray(back, a, 16, 1, 1000, cudaMemcpyDeviceToHost));
	V(back[249]);
	C(cudaMemcpyToArray(a, 0, 0, host, 1 << 20, cudaMemcpyHostToDevice));
	C(cudaMemcpyArrayToArray(a, 0, 16, a, 0, 0, 512));
	d = cudaCreateChannelDesc<uchar4>();
	C(cudaMalloc3DArray(&b, &d, make_cudaExtent(8, 8, 8)));
	struct cudaMemcpy3DParms p;
	memset(&p, 0, sizeof p);
	p.srcPtr = make_cudaPitchedPtr(host, 32, 8, 8);
	p.dstArray = b;
	p.extent = make_cudaExtent(8, 8, 8);
	p.kind = cudaMemcpyHostToDevice;
	C(cudaMemcpy3D(&p));
	p.extent = make_cudaExtent(9, 8, 8);
	C(cudaMemcpy3D(&p));
	C(cudaFreeArray(b));
	C(cudaFreeArray(b));
	C(cudaFreeArray(NULL));
	C(cudaMalloc3DArray(&b, &d, make_cudaExtent(8, 8, 6), cudaArrayCubemap));
	C(cudaMalloc3DArray(&b, &d, make_cudaExtent(8, 8, 5), cudaArrayCubemap));
	C(cudaMalloc3DArray(&b, &d, make_cudaExtent(8, 8, 5), cudaArrayLayered));
	C(cudaMallocMipmappedArray(&m, &d, make_cudaExtent(16, 16, 0), 3));
	C(cudaGetMipmappedArrayLevel(&b, m, 1));
	C(cudaArrayGetInfo(&got, &ext, &u1, b));
	V(ext.width);
	C(cudaGetMipmappedArrayLevel(&b, m, 5));
	C(cudaFreeMipmappedArray(m));
	C(cudaFreeMipmappedArray(NULL));
	C(cudaMallocMipmappedArray(&m, &d, make_cudaExtent(16, 16, 0), 0));

	/* Textures and surfaces. */
	cudaTextureObject_t t = 0;
	cudaSurfaceObject_t su = 0;
	struct cudaResourceDesc r;
	struct cudaTextureDesc x, x2;
	memset(&r, 0, sizeof r);
	memset(&x, 0, sizeof x);
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.res.array.array = a;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaCreateTextureObject(NULL, &r, &x, NULL));
	C(cudaCreateTextureObject(&t, NULL, &x, NULL));
	C(cudaCreateTextureObject(&t, &r, NULL, NULL));
	x.addressMode[0] = cudaAddressModeClamp, x.filterMode = cudaFilterModeLinear, x.normalizedCoords = 1;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaGetTextureObjectTextureDesc(&x2, t));
	V(x2.addressMode[0]), V(x2.filterMode), V(x2.readMode), V(x2.normalizedCoords), V(x2.sRGB);
	struct cudaResourceDesc r2;
	C(cudaGetTextureObjectResourceDesc(&r2, t));
	V(r2.resType), V(r2.res.array.array == a);
	struct cudaResourceViewDesc v;
	C(cudaGetTextureObjectResourceViewDesc(&v, t));
	C(cudaGetTextureObjectTextureDesc(NULL, t));
	C(cudaDestroyTextureObject(t));
	C(cudaDestroyTextureObject(0));
	x.readMode = cudaReadModeNormalizedFloat;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaMalloc(&dev, BYTES));
	memset(&r, 0, sizeof r);
	memset(&x, 0, sizeof x);
	r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = dev, r.res.linear.desc = cudaCreateChannelDesc<int>(), r.res.linear.sizeInBytes = BYTES;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaGetTextureObjectTextureDesc(&x2, t));
	V(x2.readMode);
	C(cudaGetTextureObjectResourceDesc(&r2, t));
	V(r2.res.linear.desc.x), V(r2.res.linear.desc.f), V(r2.res.linear.sizeInBytes);
	x.filterMode = cudaFilterModeLinear;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	x.readMode = cudaReadModeNormalizedFloat;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	x.filterMode = cudaFilterModePoint;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.res.linear.desc = cudaCreateChannelDesc<uchar4>();
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaGetTextureObjectTextureDesc(&x2, t));
	V(x2.readMode);
	r.res.linear.devPtr = (char *)dev + 4;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.res.linear.devPtr = NULL;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.res.linear.devPtr = dev;
	r.res.linear.desc = cudaCreateChannelDesc(7, 0, 0, 0, cudaChannelFormatKindSigned);
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.resType = (enum cudaResourceType)9;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	memset(&r, 0, sizeof r);
	r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = dev, r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
	r.res.pitch2D.width = 16, r.res.pitch2D.height = 16, r.res.pitch2D.pitchInBytes = 64;
	memset(&x, 0, sizeof x);
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	r.res.pitch2D.pitchInBytes = 60;
	C(cudaCreateTextureObject(&t, &r, &x, NULL));
	C(cudaCreateSurfaceObject(&su, &r));
	memset(&r, 0, sizeof r);
	r.res.array.array = a;
	C(cudaCreateSurfaceObject(&su, &r));
	d = cudaCreateChannelDesc<float>();
	C(cudaMallocArray(&b, &d, 64, 32, cudaArraySurfaceLoadStore));
	r.res.array.array = b;
	C(cudaCreateSurfaceObject(&su, &r));
	C(cudaGetSurfaceObjectResourceDesc(&r2, su));
	V(r2.res.array.array == b);
	C(cudaDestroySurfaceObject(su));
	C(cudaDestroySurfaceObject(0));
	C(cudaCreateSurfaceObject(NULL, &r));
	C(cudaCreateSurfaceObject(&su, NULL));
}

static void pools(void)
{
	cudaMemPool_t p = NULL, q = NULL;
	cudaStream_t s;
	C(cudaStreamCreate(&s));
	C(cudaDeviceGetDefaultMemPool(&p, 0));
	C(cudaDeviceGetDefaultMemPool(&p, 1));
	C(cudaDeviceGetDefaultMemPool(NULL, 0));
	C(cudaDeviceGetMemPool(&q, 0));
	V(p == q);
	C(cudaMallocAsync(&pv, 1000, s));
	C(cudaMallocAsync((void **)NULL, 1000, s));
	void *zero = NULL;
	C(cudaMallocAsync(&zero, 0, s));
	P(zero);
	C(cudaFreeAsync(pv, s));
	C(cudaFreeAsync(NULL, s));
	C(cudaFreeAsync(host, s));
	C(cudaStreamSynchronize(s));
	C(cudaMallocAsync(&pv, (size_t)1 << 50, s));
	C(cudaMallocFromPoolAsync(&pv, 64, p, s));
	pointer("pool", pv);
	C(cudaFree(pv));
	C(cudaMallocFromPoolAsync(&pv, 64, NULL, s));
	id = 77;
	for (int a = 0; a < 10; a++) {
		printf("%s: attribute %d\n", current_case, a);
		id = 0;
		C(cudaMemPoolGetAttribute(p, (enum cudaMemPoolAttr)a, &id));
	}
	id = 1 << 20;
	C(cudaMemPoolSetAttribute(p, cudaMemPoolAttrReleaseThreshold, &id));
	C(cudaMemPoolGetAttribute(p, cudaMemPoolAttrReleaseThreshold, &id));
	V(id);
	C(cudaMemPoolSetAttribute(p, cudaMemPoolAttrUsedMemCurrent, &id));
	C(cudaMemPoolTrimTo(p, 0));
	C(cudaMemPoolTrimTo(NULL, 0));
	struct cudaMemPoolProps props;
	memset(&props, 0, sizeof props);
	C(cudaMemPoolCreate(&q, &props));
	props.allocType = cudaMemAllocationTypePinned;
	props.location.type = cudaMemLocationTypeDevice;
	C(cudaMemPoolCreate(&q, &props));
	C(cudaMemPoolCreate(NULL, &props));
	struct cudaMemAccessDesc ad;
	ad.location.type = cudaMemLocationTypeDevice, ad.location.id = 0, ad.flags = cudaMemAccessFlagsProtReadWrite;
	C(cudaMemPoolSetAccess(q, &ad, 1));
	enum cudaMemAccessFlags af;
	C(cudaMemPoolGetAccess(&af, q, &ad.location));
	V(af);
	C(cudaDeviceSetMemPool(0, q));
	C(cudaDeviceGetMemPool(&p, 0));
	V(p == q);
	C(cudaMallocAsync(&pv, 64, 0));
	C(cudaMemset(pv, 1, 64));
	C(cudaFree(pv));
	C(cudaMemPoolDestroy(q));
	C(cudaMemPoolDestroy(NULL));
	cudaIpcMemHandle_t mh;
	cudaIpcEventHandle_t eh;
	C(cudaMalloc(&pv, 64));
	C(cudaIpcGetMemHandle(&mh, pv));
	C(cudaIpcGetMemHandle(&mh, host));
	C(cudaIpcOpenMemHandle(&pv, mh, 0));
	C(cudaIpcCloseMemHandle(host));
	cudaEvent_t e;
	C(cudaEventCreate(&e));
	C(cudaIpcGetEventHandle(&eh, e));
	C(cudaEventCreateWithFlags(&e, cudaEventInterprocess | cudaEventDisableTiming));
	C(cudaIpcGetEventHandle(&eh, e));
}

static void *elsewhere(void *)
{
	V(cudaPeekAtLastError());
	C(cudaGetDevice(&n1));
	C(cudaMalloc((void **)NULL, 4));
	cudaMalloc((void **)NULL, 4);
	return NULL;
}

static void errors(void)
{
	cudaMalloc((void **)NULL, 4);
	V(cudaPeekAtLastError());
	V(cudaPeekAtLastError());
	V(cudaGetLastError());
	V(cudaGetLastError());
	cudaMalloc((void **)NULL, 4);
	cudaFree(NULL);
	V(cudaPeekAtLastError());
	cudaSetDevice(99);
	V(cudaGetLastError());
	cudaSetDevice(99);
	pthread_t t;
	pthread_create(&t, NULL, elsewhere, NULL);
	pthread_join(t, NULL);
	V(cudaGetLastError());
	nothing<<<0, 1>>>();
	nothing<<<1, 1>>>();
	V(cudaPeekAtLastError());
	V(cudaDeviceSynchronize());
	V(cudaGetLastError());
	typedef int get_current(void **);
	get_current *current = NULL;
	enum cudaDriverEntryPointQueryResult q;
	C(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", (void **)&current, 12000, cudaEnableDefault, &q));
	V(q);
	void *ctx = NULL;
	V(current(&ctx));
	P(ctx);
	C(cudaGetDriverEntryPointByVersion("cuNothing", &pv, 12000, cudaEnableDefault, &q));
	V(q);
	P(pv);
	C(cudaGetDriverEntryPointByVersion("cuNothing", &pv, 12000, cudaEnableDefault, NULL));
	C(cudaGetDriverEntryPointByVersion("cuMemAlloc", &pv, 1000, cudaEnableDefault, &q));
	V(q);
	C(cudaGetDriverEntryPointByVersion("cuMemAlloc", &pv, 12000, 77, &q));
	C(cudaProfilerStart());
	C(cudaProfilerStop());
}

static void library(void)
{
	static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 word = 7;\n.visible .entry k() { ret; }\n";
	cudaLibrary_t l = NULL;
	cudaKernel_t k = NULL;
	C(cudaLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryLoadData(&l, "nonsense", NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryLoadData(&l, NULL, NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryLoadFromFile(&l, "/nonexistent", NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0));
	C(cudaLibraryGetKernel(&k, l, "k"));
	C(cudaLibraryGetKernel(&k, l, "x"));
	C(cudaLibraryGetKernelCount(&u1, l));
	V(u1);
	C(cudaLibraryEnumerateKernels(&k, 1, l));
	C(cudaLaunchKernel((const void *)k, dim3(1), dim3(1), NULL, 0, 0));
	C(cudaDeviceSynchronize());
	C(cudaLibraryGetGlobal(&pv, &sz, l, "word"));
	V(sz);
	C(cudaMemcpy(&n1, pv, 4, cudaMemcpyDeviceToHost));
	V(n1);
	C(cudaLibraryGetGlobal(&pv, &sz, l, "none"));
	C(cudaLibraryGetManaged(&pv, &sz, l, "word"));
	C(cudaLibraryGetUnifiedFunction(&pv, l, "k"));
	C(cudaLibraryUnload(l));
	C(cudaLibraryUnload(NULL));
}

static void reset(void)
{
	C(cudaMalloc(&dev, BYTES));
	n1 = 99;
	C(cudaMemcpyToSymbol(variable, &n1, 4));
	C(cudaDeviceReset());
	C(cudaFree(dev));
	C(cudaGetDevice(&n1));
	C(cudaMemcpyFromSymbol(&n1, variable, 4));
	V(n1);
	C(cudaMalloc(&dev, BYTES));
	ramp<<<4, 256>>>(dev, 5, N);
	C(cudaDeviceSynchronize());
	C(cudaDeviceReset());
	C(cudaDeviceReset());
	C(cudaDeviceSynchronize());
}

static void fault(void)
{
	C(cudaMalloc(&dev, BYTES));
	store<<<1, 1>>>((int *)64, 1);
	C(cudaGetLastError());
	V(cudaDeviceSynchronize());
	V(cudaPeekAtLastError());
	V(cudaGetLastError());
	V(cudaGetLastError());
	C(cudaDeviceSynchronize());
	C(cudaMalloc(&pv, 4));
	C(cudaFree(dev));
	C(cudaMemcpy(back, dev, 4, cudaMemcpyDeviceToHost));
	C(cudaStreamQuery(0));
	C(cudaGetDevice(&n1));
	C(cudaSetDevice(0));
	C(cudaGetDeviceCount(&n1));
	nothing<<<1, 1>>>();
	V(cudaGetLastError());
	C(cudaMemGetInfo(&sz, &sz2));
	cudaEvent_t e;
	C(cudaEventCreate(&e));
	struct cudaFuncAttributes a;
	C(cudaFuncGetAttributes(&a, (const void *)nothing));
	C(cudaDeviceReset());
	C(cudaMalloc(&pv, 4));
}

static void misaligned(void)
{
	C(cudaMalloc(&dev, BYTES));
	store<<<1, 1>>>((int *)((char *)dev + 1), 1);
	V(cudaDeviceSynchronize());
	V(cudaGetLastError());
	C(cudaMalloc(&pv, 4));
}

__global__ void trap_() { asm volatile("trap;"); }
static void trapped(void)
{
	trap_<<<1, 1>>>();
	V(cudaDeviceSynchronize());
	V(cudaGetLastError());
	C(cudaFree(0));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {{"device", device}, {"attributes", attributes}, {"properties", properties}, {"limits", limits}, {"memory", memory}, {"copies", copies},
	{"symbols", symbols}, {"launches", launches}, {"streams", streams}, {"captures", captures}, {"graphs", graphs}, {"arrays", arrays}, {"pools", pools},
	{"errors", errors}, {"library", library}, {"reset", reset}, {"fault", fault}, {"misaligned", misaligned}, {"trapped", trapped}};

int main(int argc, char **argv)
{
	for (unsigned int i = 0; i < sizeof cases / sizeof *cases; i++) {
		if (argc < 2) {
			printf("%s\n", cases[i].name);
		} else if (strcmp(argv[1], cases[i].name) == 0) {
			current_case = cases[i].name;
			signal(SIGSEGV, crashed);
			alarm(60);
			cases[i].run();
		}
	}
	return 0;
}
