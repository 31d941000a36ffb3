/* Waiting for all work of a context without a synchronise, which would end a capture. */
#ifndef GMOD_LIB_CONTEXT_WAIT_H
#define GMOD_LIB_CONTEXT_WAIT_H

#include "lib/context/context.h"

/* A buffer of GMOD_DEVICE_ALIGNMENT bytes that comes with the context's first need of it and stays; 0: none. */
uint64_t gmod_context_tiny(struct gmod_context *c);

/*
 * Wait for all work of the current context as a native free does, and for captures as harmless: a tiny buffer is freed
 * in relaxed capture mode (measured: beside a 50 ms kernel that takes 50 ms). c: the context's entry, NULL without one.
 * True when that work is done; false is counted as degraded.
 */
bool gmod_context_wait(struct gmod_context *c);

#endif
