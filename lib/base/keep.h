/*
 * Bytes that are kept once, however often they come back, and for ever: names, lists of names, stacks. They lie in
 * memory that is bounded: after 64 MiB, what is new finds no room. Takes no lock; may be called from any hook.
 */
#ifndef GMOD_LIB_BASE_KEEP_H
#define GMOD_LIB_BASE_KEEP_H

#include <stddef.h>
#include <stdint.h>

/* The same bytes are the same pointer. A zero follows them. */
struct gmod_kept {
	struct gmod_kept *next;
	uint64_t hash;
	size_t size;
	char bytes[] __attribute__((aligned(8)));
};

/* NULL: there is no room. */
const struct gmod_kept *gmod_keep(const void *bytes, size_t size);

/* Bytes that are taken so far. */
size_t gmod_keep_used(void);

/* Zeroed memory of the same kind. */
void *gmod_keep_room(size_t size);

#endif
