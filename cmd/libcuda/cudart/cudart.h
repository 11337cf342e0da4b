/* What the parts of the runtime library share. It declares exact symbols, of the version that CUDART_VERSION says. */
#ifndef GOCUDA_CUDART_H
#define GOCUDA_CUDART_H

#define GOCUDA_EXACT_SYMBOLS
#define GOCUDA_API __attribute__((visibility("default")))
#include "cuda_runtime_api.h"
#include "cuda_profiler_api.h"
#include "../front/core.h"

#pragma GCC visibility push(hidden)

struct gocuda_cudart_error {
	unsigned int code;
	const char *name, *text;
};
extern const struct gocuda_cudart_error gocuda_cudart_errors[];
extern const unsigned int gocuda_cudart_error_count;

cudaError_t gocuda_cudart_call(uint32_t fn, struct gocuda_frame *f);

/* The same for functions that only tell something: they end no answer that stands (core.c). */
cudaError_t gocuda_cudart_look(uint32_t fn, struct gocuda_frame *f);

/* The answer of functions that there is nothing behind. */
cudaError_t gocuda_cudart_unsupported(void);

#pragma GCC visibility pop

#endif
