/*
 * Mapped memory of small buffers that waits for the next ones (lib/buffers/backend_small.c), by where its reservation
 * begins.
 *
 * It is in one place at a time: with a record, or cached; both ways are single exchanges, so a signal handler that
 * jumps away loses one at the most.
 */
#ifndef GMOD_LIB_SMALL_CACHE_H
#define GMOD_LIB_SMALL_CACHE_H

#include "lib/context/context.h"

enum { GMOD_SMALL_CACHE = 256 }; /* for a context; as option small_mapped allows at most */

unsigned gmod_small_cached(const struct gmod_context *c);
/* 0: there is none. */
uint64_t gmod_small_take(const struct gmod_context *c);
/* false: there is no room. The context is not about to go: who puts something in is inside of it. */
bool gmod_small_put(const struct gmod_context *c, uint64_t raw);

#endif
