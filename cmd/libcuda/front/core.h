/* What core.c has for a front, and a front for core.c. */
#ifndef GOCUDA_CORE_H
#define GOCUDA_CORE_H

#include "front.h"

#pragma GCC visibility push(hidden)

struct gocuda_thread {
	uint64_t cur; /* the current context, a copy of the core's */
	int started;  /* the core knows that this is not an earlier thread of the same number */
	int callback; /* how many callbacks deep */
};
extern __thread struct gocuda_thread gocuda_self __attribute__((tls_model("initial-exec")));

extern int gocuda_ready; /* cuInit has succeeded */
int gocuda_loaded(void);

/* r, or why the core could not start. */
CUresult gocuda_why(CUresult r);

/* The front's: its name in messages, and the driver that the core is to use in place of the software device, or NULL. */
extern const char gocuda_library[];
extern const char *gocuda_driver;

#pragma GCC visibility pop

#endif
