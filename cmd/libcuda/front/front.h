/* What the front library and the core share, and what the parts of the front share.
 *
 * The front (libcuda.so.1) is C alone: it exports the driver API and keeps what belongs to an OS thread. The core (libgocuda.so, beside it) is the software device
 * in Go. The front opens the core when a call first needs it, so that a program which only looks for the driver, or forks before it uses
 * it, has no Go runtime in it. */
#ifndef GOCUDA_FRONT_H
#define GOCUDA_FRONT_H

#include "zz_generated_cuda.h"
#include <string.h>

/* A call: the context that is current on the thread, and the arguments, each in a word. Floats are their bits, structs by value the address of the
 * caller's copy. The core writes cur where the call is one of the thread's stack of contexts. */
struct gocuda_frame {
	uint64_t cur;
	uint64_t a[16];
	uint64_t stands; /* what became of GOCUDA_ASK: 1 or 0 */
};

/* A function's number in the table is in the low bits of the first argument of gocuda_call, above it: */
#define GOCUDA_PER_THREAD 0x10000U /* the form with per-thread default stream (_ptds, _ptsz) */
#define GOCUDA_STACK 0x20000U      /* works on the thread's stack of contexts */
#define GOCUDA_THREAD 0x40000U     /* looks at the thread itself: cur is 0 */
#define GOCUDA_LOADS 0x100000U     /* loads code or makes a context */
#define GOCUDA_NEW_THREAD 0x80000U /* the thread's first call */
#define GOCUDA_ASK 0x200000U       /* would the same call succeed again, and change nothing, until something else happens? */

#define GOCUDA_RUNTIME 0x400000U   /* a function of the runtime API, with its own numbers; a[15] is the thread's state, a[14] the version's */

struct gocuda_symbol {
	const char *name;
	void (*address)(void);
};

/* What the core gets from the front. */
struct gocuda_front {
	const struct gocuda_symbol *symbols; /* sorted by name */
	uint64_t symbol_count;
	/* Calls a C function with up to four words on a thread of the core, marked as being in a callback. */
	uint64_t (*callback)(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
	const char *driver; /* the path of NVIDIA's driver library, which the core is then to use, or NULL */
};

/* What the runtime library knows of a thread; cudart.Thread is the same. */
struct gocuda_cudart_thread {
	uint64_t cur;
	uint32_t last; /* what cudaGetLastError gives */
	int32_t device;
	uint32_t resets, reserved;
};

/* Numbers of calls with GOCUDA_RUNTIME that are no functions of the API, above those that are. */
enum {
	GOCUDA_REGISTER_BINARY = 0xff00, /* image: a[0] becomes the handle */
	GOCUDA_REGISTER_FUNCTION,        /* handle, address on the host, name */
	GOCUDA_REGISTER_VAR,             /* handle, address on the host, name, size, where the host keeps the address of a managed one */
	GOCUDA_UNREGISTER_BINARY,        /* handle */
	GOCUDA_INIT_MODULE,              /* handle */
	GOCUDA_PROPERTIES_LEGACY,        /* record, device */
};

/* The core's exports. gocuda_start is called once. */
typedef uint32_t gocuda_start_fn(struct gocuda_front *front);
typedef uint32_t gocuda_call_fn(uint32_t fn, struct gocuda_frame *frame);

#ifndef GOCUDA_CORE

#pragma GCC visibility push(hidden)

struct gocuda_version {
	int min; /* CUDA version, 1000 * major + 10 * minor */
	int per_thread;
	void (*address)(void);
};

struct gocuda_entry {
	const char *base;
	const struct gocuda_version *versions; /* by min */
	unsigned int count;
};

struct gocuda_result {
	unsigned int code;
	int since; /* first CUDA version known to have it; 0: the recorded one has */
	const char *name, *text;
};

extern const struct gocuda_symbol gocuda_symbols[];
extern const unsigned int gocuda_symbol_count;
extern const struct gocuda_entry gocuda_entries[];
extern const unsigned int gocuda_entry_count;
extern const struct gocuda_result gocuda_results[];
extern const unsigned int gocuda_result_count;

CUresult gocuda_call(uint32_t fn, struct gocuda_frame *f);

/* gocuda_call for functions that only tell something: they end no answer that stands (front.c). */
CUresult gocuda_look(uint32_t fn, struct gocuda_frame *f);

/* gocuda_call for functions that programs call again and again where nothing has happened since (front.c, Answers that stand). words is the number of arguments. */
enum gocuda_slot { GOCUDA_SLOT_CONTEXT, GOCUDA_SLOT_STREAM, GOCUDA_SLOT_QUERY, GOCUDA_SLOT_EVENT, GOCUDA_SLOTS };
CUresult gocuda_wait(uint32_t fn, struct gocuda_frame *f, enum gocuda_slot slot, int words);

/* What the runtime library gets from the front of the driver, by cuGetExportTable with this identifier. */
#ifndef GOCUDA_DOOR_ID
#define GOCUDA_DOOR_ID {0x67, 0x6f, 0x63, 0x75, 0x64, 0x61, 0x20, 0x64, 0x6f, 0x6f, 0x72, 0x20, 0x31, 0x37, 0x00, 0x01}
#endif
struct gocuda_door {
	size_t size;
	CUresult (*call)(uint32_t fn, struct gocuda_frame *f);
	CUresult (*look)(uint32_t fn, struct gocuda_frame *f);
	CUresult (*why)(CUresult r);
};

#pragma GCC visibility pop

#define W(x) ((uint64_t)(uintptr_t)(x))

static inline uint64_t gocuda_float(float x)
{
	uint32_t bits;
	memcpy(&bits, &x, sizeof bits);
	return bits;
}

#endif
#endif
