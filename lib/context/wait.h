/* Waiting for all work of a context without a synchronise, which would end a capture. */
#ifndef GMOD_LIB_CONTEXT_WAIT_H
#define GMOD_LIB_CONTEXT_WAIT_H

#include "lib/context/context.h"

/*
 * One of the context's own buffers of GMOD_EXPORT_PAGE bytes, which comes with the first need of it and stays; 0:
 * none. The driver takes 2 MiB from the device for the first, and while it has them the next tiny buffer comes and goes
 * in 2 us; without, the device memory does too, in 107 us (measured on an H200, driver 580).
 */
uint64_t gmod_context_buffer(struct gmod_context *c, struct gmod_tiny *tiny);

/*
 * Wait for all work of the current context as a native free does, and for captures as harmless: a tiny buffer is freed
 * in relaxed capture mode (measured: beside a 50 ms kernel that takes 50 ms). c: the context's entry, NULL without one.
 * True when that work is done; false is counted as degraded.
 */
bool gmod_context_wait(struct gmod_context *c);

/*
 * What a native free of memory of the current context would answer: it waits for all work, and says the error of a
 * context that is broken or gone. For memory whose real free does neither. c: as above, and not NULL.
 */
CUresult gmod_context_answer_of_free(struct gmod_context *c);

#endif
