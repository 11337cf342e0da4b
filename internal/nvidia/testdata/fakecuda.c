/* A library with the names of the CUDA driver, for the tests of package nvidia: it records what arrives. It stands for a driver of CUDA 12.2. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef uint64_t word;
typedef int result;

enum { WORDS = 24 };

typedef struct {
	char name[64];
	word w[WORDS];
	double f[2];
	word cur;   /* context that was current */
	word calls; /* so far */
} record;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static record last;
static __thread void *contexts[64];
static __thread int depth;

static void *current(void) { return depth ? contexts[depth - 1] : NULL; }

static void begin(const char *name) {
	pthread_mutex_lock(&lock);
	word calls = last.calls;
	memset(&last, 0, sizeof last);
	last.calls = calls + 1;
	strncpy(last.name, name, sizeof last.name - 1);
	last.cur = (word)current();
}

static result end(void) {
	pthread_mutex_unlock(&lock);
	return 0;
}

void fake_read(record *out) {
	pthread_mutex_lock(&lock);
	*out = last;
	pthread_mutex_unlock(&lock);
}

/* ---- start, versions, symbols ---- */

result cuInit(unsigned flags) { return flags ? 1 : 0; }

result cuDriverGetVersion(int *v) { *v = 12020; return 0; }

result fake_all(word a0, word a1, word a2, word a3, word a4, word a5, word a6, word a7, word a8, word a9, word a10, word a11, word a12, word a13, word a14, word a15) {
	begin("all");
	word w[16] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15};
	memcpy(last.w, w, sizeof w);
	return end();
}

static char asked[64];
static word asked_version, asked_flags, asked_count;
static int generous; /* answer every question with fake_all */

void fake_generous(int on) { generous = on; }

void fake_asked(char *name, word *version, word *flags, word *count) {
	memcpy(name, asked, sizeof asked);
	*version = asked_version;
	*flags = asked_flags;
	*count = asked_count;
}

result cuCtxGetId(void *ctx, unsigned long long *id);

result cuGetProcAddress_v2(const char *name, void **pfn, int version, word flags, int *status) {
	memset(asked, 0, sizeof asked);
	strncpy(asked, name, sizeof asked - 1);
	asked_version = version;
	asked_flags = flags;
	asked_count++;
	int bracket = version == 4000 && (!strcmp(name, "cuCtxPushCurrent") || !strcmp(name, "cuCtxPopCurrent"));
	if (generous && !bracket) {
		*pfn = (void *)fake_all;
		*status = 0;
		return 0;
	}
	*pfn = NULL;
	*status = version > 12020 ? 2 : 1; /* VERSION_NOT_SUFFICIENT, SYMBOL_NOT_FOUND */
	return 0;
}

/* ---- contexts of the thread ---- */

result cuCtxPushCurrent_v2(void *ctx) {
	if (ctx == (void *)0xdead) return 709;
	contexts[depth++] = ctx;
	return 0;
}

result cuCtxPopCurrent_v2(void **ctx) {
	if (!depth) return 201;
	*ctx = contexts[--depth];
	return 0;
}

result cuCtxSetCurrent(void *ctx) {
	if (depth) depth--;
	if (ctx) contexts[depth++] = ctx;
	return 0;
}

result cuCtxGetCurrent(void **ctx) { *ctx = current(); return 0; }

/* The identity of a context is its address; it must be the current one. */
result cuCtxGetId(void *ctx, unsigned long long *id) {
	*id = (word)current();
	return ctx == current() ? 0 : 201;
}

/* ---- floats and structs by value, many arguments ---- */

result cuParamSetf(void *f, int offset, float v) {
	begin("cuParamSetf");
	last.w[0] = (word)f; last.w[1] = (word)(int64_t)offset; last.f[0] = v;
	return end();
}

result cuTexRefSetMipmapLevelBias(void *t, float bias) {
	begin("cuTexRefSetMipmapLevelBias");
	last.w[0] = (word)t; last.f[0] = bias;
	return end();
}

result cuTexRefSetMipmapLevelClamp(void *t, float lo, float hi) {
	begin("cuTexRefSetMipmapLevelClamp");
	last.w[0] = (word)t; last.f[0] = lo; last.f[1] = hi;
	return end();
}

typedef struct { char reserved[64]; } handle64;
typedef struct { word frame[3]; word pitch[3]; unsigned u[4]; } frame64; /* CUeglFrame: class MEMORY for its size as well */
typedef struct { int type; int id; } location;

result cuIpcOpenEventHandle(word *e, handle64 h) {
	begin("cuIpcOpenEventHandle");
	memcpy(last.w, &h, 64); last.w[8] = (word)e;
	*e = 0xe1;
	memset(&h, 0, sizeof h);
	return end();
}

result cuIpcOpenMemHandle(word *p, handle64 h, unsigned flags) {
	begin("cuIpcOpenMemHandle");
	memcpy(last.w, &h, 64); last.w[8] = (word)p; last.w[9] = flags;
	*p = 0xe2;
	memset(&h, 0, sizeof h);
	return end();
}

result cuIpcOpenMemHandle_v2(word *p, handle64 h, unsigned flags) {
	result r = cuIpcOpenMemHandle(p, h, flags);
	strcpy(last.name, "cuIpcOpenMemHandle_v2");
	return r;
}

result cuEGLStreamProducerPresentFrame(void **conn, frame64 f, void **stream) {
	begin("cuEGLStreamProducerPresentFrame");
	memcpy(last.w, &f, 64); last.w[8] = (word)conn; last.w[9] = (word)stream;
	memset(&f, 0, sizeof f);
	return end();
}

result cuMemAdvise_v2(word p, size_t n, int advice, location l) {
	begin("cuMemAdvise_v2");
	last.w[0] = p; last.w[1] = n; last.w[2] = advice; last.w[3] = (word)(int64_t)l.type; last.w[4] = (word)(int64_t)l.id;
	return end();
}

result cuMemPrefetchAsync_v2(word p, size_t n, location l, unsigned flags, void *s) {
	begin("cuMemPrefetchAsync_v2");
	last.w[0] = p; last.w[1] = n; last.w[2] = (word)(int64_t)l.type; last.w[3] = (word)(int64_t)l.id; last.w[4] = flags; last.w[5] = (word)s;
	return end();
}

result cuMemPrefetchAsync_v2_ptsz(word p, size_t n, location l, unsigned flags, void *s) {
	result r = cuMemPrefetchAsync_v2(p, n, l, flags, s);
	strcpy(last.name, "cuMemPrefetchAsync_v2_ptsz");
	return r;
}

result cuTensorMapEncodeIm2colWide(void *map, int type, unsigned rank, void *addr, const word *dim, const word *strides, int lower, int upper, unsigned channels, unsigned pixels,
	const unsigned *elem, int interleave, int mode, int swizzle, int l2, int oob) {
	begin("cuTensorMapEncodeIm2colWide");
	word w[16] = {(word)map, type, rank, (word)addr, (word)dim, (word)strides, (word)(int64_t)lower, (word)(int64_t)upper, channels, pixels, (word)elem, interleave, mode, swizzle, l2, oob};
	memcpy(last.w, w, sizeof w);
	return end();
}

/* ---- calls for measuring ---- */

result cuMemFree_v2(word p) { return p ? 0 : 1; }
result cuMemAlloc_v2(word *p, size_t n) { *p = n; return n ? 0 : 1; }
result cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **params, void **extra) {
	return f && gx && gy && gz && bx && by && bz && !shared && !s && params && !extra ? 0 : 1;
}

/* ---- callbacks ---- */

typedef void (*host_fn)(void *);
typedef void (*stream_fn)(void *, result, void *);
typedef size_t (*size_fn)(int);
typedef void (*async_fn)(void *, void *, void *);
typedef void (*logs_fn)(void *, int, char *, size_t);

static pthread_t threads[64];
static int running;

typedef struct { host_fn host; stream_fn stream; void *data; } job;
static job jobs[64];

static void *run(void *arg) {
	job *j = arg;
	if (j->host) j->host(j->data);
	else j->stream((void *)0x51, 700, j->data);
	return NULL;
}

static result start(host_fn h, stream_fn s, void *data) {
	if (running == 64) return 2;
	jobs[running] = (job){h, s, data};
	pthread_create(&threads[running], NULL, run, &jobs[running]);
	running++;
	return 0;
}

void fake_wait(void) {
	while (running) pthread_join(threads[--running], NULL);
}

/* One graph, 0x9999, that can be captured into. */
static int capturing;
static host_fn node_fn[8];
static void *node_data[8];
static int nodes;
static host_fn object_fn;
static void *object_data;
static int retained;

void fake_capture(int on) { capturing = on; }
void fake_graph_launch(void) {
	for (int i = 0; i < nodes; i++) start(node_fn[i], NULL, node_data[i]);
	fake_wait();
}
void fake_graph_destroy(void) {
	nodes = 0;
	if (retained) start(object_fn, NULL, object_data);
	fake_wait();
	retained = 0;
}

result cuStreamIsCapturing(void *s, int *status) { *status = capturing; return 0; }
result cuStreamGetCaptureInfo_v2(void *s, int *status, word *id, word *graph, const word **deps, size_t *n) {
	*status = capturing; *id = 1; *graph = 0x9999;
	return deps || n ? 1 : 0;
}
result cuGraphRetainUserObject(word graph, word object, unsigned count, unsigned flags) {
	retained = graph == 0x9999 && object == 0x77 && count == 1 && flags == 1;
	return retained ? 0 : 1;
}
result cuUserObjectCreate(word *object, void *ptr, host_fn destroy, unsigned count, unsigned flags) {
	if (flags != 1) return 1;
	*object = 0x77;
	object_fn = destroy; object_data = ptr;
	return 0;
}
result cuUserObjectRelease(word object, unsigned count) {
	if (object != 0x77 || count != 1) return 1;
	start(object_fn, NULL, object_data);
	fake_wait();
	return 0;
}

result cuLaunchHostFunc(void *stream, host_fn fn, void *data) {
	if (!fn) return 1;
	if (stream == (void *)0xbad) return 400;
	if (capturing) { node_fn[nodes] = fn; node_data[nodes++] = data; return 0; }
	return start(fn, NULL, data);
}
result cuStreamAddCallback(void *stream, stream_fn fn, void *data, unsigned flags) {
	if (!fn || flags) return 1;
	return start(NULL, fn, data);
}

static async_fn async; static void *async_data;
result cuDeviceRegisterAsyncNotification(int dev, async_fn fn, void *data, word *handle) { async = fn; async_data = data; *handle = 0xa5; return dev ? 101 : 0; }
result cuDeviceUnregisterAsyncNotification(int dev, word handle) { return handle == 0xa5 ? 0 : 400; }
void fake_notify(void) { word info = 42; async(&info, async_data, (void *)0xa5); }

static logs_fn logs; static void *logs_data;
result cuLogsRegisterCallback(logs_fn fn, void *data, word *handle) { logs = fn; logs_data = data; *handle = 0x106; return 0; }
result cuLogsUnregisterCallback(word handle) { return handle == 0x106 ? 0 : 400; }
void fake_log(void) { logs(logs_data, 1, "hello, no terminator needed", 5); }

result cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *f, size_fn size, size_t shared, int limit, unsigned flags) {
	size_t sum = 0;
	for (int b = limit; b > 0; b /= 2) sum += size ? size(b) : shared;
	*grid = (int)sum;
	*block = limit + (int)flags;
	return f ? 0 : 400;
}
result cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, size_fn size, size_t shared, int limit) {
	return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, size, shared, limit, 0);
}

/* Functions to pass as C addresses. */
static word c_seen;
void fake_c_host(void *data) { c_seen = (word)data; }
size_t fake_c_size(int b) { return (size_t)b * 3; }
word fake_c_seen(void) { return c_seen; }
